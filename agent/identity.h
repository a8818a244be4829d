/*
 * identity - who this node is to its controller: STATE/identity.json, written once by
 * `ssdlab-agent join`, mode 0600.
 *
 * Holds secrets; whoever has the file is the node. Knows nothing of the network.
 */
#ifndef AGENT_IDENTITY_H
#define AGENT_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/seal.h"

struct err;

struct identity {
	uint64_t node;	    /* number of the node: 3 for n3 */
	char name[64];	    /* as the controller knows it */
	char url[256];	    /* of the controller, "https://host:7443", no slash behind */
	char pin[80];	    /* "sha256//..." of the controller's public key, or "" */
	char secret[128];   /* bearer token of this node */
	uint16_t data_port; /* TCP port of the controller's data plane */
	uint8_t controller_key[SEAL_KEY_BYTES]; /* its static public key */
	struct seal_pair keys;			/* our static pair */
};

/*
 * identity_load reads the identity below state_dir. Errors: ERR_NOTFOUND when the node
 * has not joined (fix says how), ERR_INVALID, ERR_IO, ERR_UNSAFE when others than the
 * owner may read the file.
 */
int identity_load(const char *state_dir, struct identity *ret_id, struct err *e);

/* identity_save writes the identity durably, mode 0600. ERR_STATE when one is there
 * already: a node that has joined is not overwritten. Errors: ERR_FULL, ERR_IO. */
int identity_save(const char *state_dir, const struct identity *id, struct err *e);

/* identity_exists says whether state_dir holds an identity, readable or not. */
bool identity_exists(const char *state_dir);

#endif
