/*
 * ref - what people call a thing, turned into its id.
 *
 * "r12" and "12" are ids; a node or a campaign may be called by its name, a drive by its
 * serial.
 */
#ifndef CLI_REF_H
#define CLI_REF_H

#include <jansson.h>
#include <stdbool.h>

struct client;
struct err;

struct ref {
	char id[24]; /* "r12" */
};

/* ref_is_id says whether text is the letter and a number. */
bool ref_is_id(const char *text, char letter);

/* ref_id reads "r12" or "12" for letter 'r'. ERR_INVALID. */
int ref_id(const char *text, char letter, struct ref *ret_ref, struct err *e);

/*
 * ref_arg is ref_id for the argument of a command ("curve"), whose error says what the
 * command takes.
 */
int ref_arg(const char *command, const char *text, char letter, struct ref *ret_ref,
	struct err *e);

/*
 * ref_campaign finds a campaign by id or by a name that only one has. ERR_NOTFOUND with
 * the newest there are, ERR_INVALID with the ids of those that share the name.
 */
int ref_campaign(struct client *c, const char *text, struct ref *ret_ref, struct err *e);

/* ref_node finds a node by id or name. ERR_NOTFOUND with the names there are. */
int ref_node(struct client *c, const char *text, struct ref *ret_ref, struct err *e);

/*
 * ref_drive finds a drive by serial or id; ERR_NOTFOUND, ERR_INVALID when drives share
 * the serial.
 */
int ref_drive(struct client *c, const char *text, struct ref *ret_ref, struct err *e);

#endif
