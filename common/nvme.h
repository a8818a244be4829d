/*
 * nvme - the admin commands of NVMe that we need, through the descriptor of the
 * namespace that was verified: nothing is looked up by name.
 *
 * Numbers of commands, fields and bits are those of the NVM Express Base Specification,
 * revision 2.0, and for the format of a namespace of the NVM Command Set Specification,
 * revision 1.0. Each call waits for its command, at most 10 s but for a format and the
 * begin of a sanitize. Any thread.
 */
#ifndef COMMON_NVME_H
#define COMMON_NVME_H

#include <stdbool.h>
#include <stdint.h>

struct err;

/* Answers of Identify and lists of namespaces have this length. */
#define NVME_IDENTIFY_BYTES 4096
/* The log page "Sanitize Status" (5.16.1). */
#define NVME_SANITIZE_LOG_BYTES 512

/* What a namespace and its controller say of erasing it. */
struct nvme_offer {
	uint32_t nsid;		 /* of the namespace, never 0 nor the one for all */
	bool formats;		 /* Format NVM is there (OACS) */
	bool format_reaches_all; /* a format or its erase is one of all namespaces (FNA)
				  */
	uint32_t format_dword;	 /* CDW10 of a format that changes nothing but the data */
	bool sanitize_block;	 /* sanitize by block erase (SANICAP) */
	bool sanitize_crypto;	 /* sanitize by a new key */
	uint32_t others;	 /* namespaces of the subsystem beside this one */
	bool others_known;	 /* false: a controller not asked may have more of them */
};

enum nvme_sanitize { NVME_SANITIZE_BLOCK = 2, NVME_SANITIZE_CRYPTO = 4 }; /* SANACT */

enum nvme_sanitize_end {
	NVME_SANITIZE_NONE, /* never done, or not said */
	NVME_SANITIZE_DONE,
	NVME_SANITIZE_RUNS,
	NVME_SANITIZE_FAILED
};

/* nvme_read_controller and nvme_read_namespace take the fields of Identify Controller
 * (5.17.2.1) and Identify Namespace (NVM 4.1.5.1) out of NVME_IDENTIFY_BYTES. Pure. */
void nvme_read_controller(const uint8_t *data, struct nvme_offer *o);
void nvme_read_namespace(const uint8_t *data, struct nvme_offer *o);

/* nvme_count_others returns how many entries of a list of namespaces (of
 * NVME_IDENTIFY_BYTES, ended by 0) are not nsid. Pure. */
uint32_t nvme_count_others(const uint8_t *list, uint32_t nsid);

/* nvme_read_sanitize takes the end of the last sanitize, and how much of one that runs is
 * done, 0..1, out of NVME_SANITIZE_LOG_BYTES. Pure. */
enum nvme_sanitize_end nvme_read_sanitize(const uint8_t *log, double *ret_part);

/* nvme_identify_controller and nvme_identify_namespace read NVME_IDENTIFY_BYTES of the
 * drive open as fd into data. ERR_IO. */
int nvme_identify_controller(int fd, uint8_t *data, struct err *e);
int nvme_identify_namespace(int fd, uint8_t *data, struct err *e);

/* nvme_log reads the first len bytes, a multiple of 4, of a log page of the controller;
 * len at most NVME_IDENTIFY_BYTES. ERR_IO. */
int nvme_log(int fd, uint8_t id, uint8_t *log, uint32_t len, struct err *e);

/* nvme_look asks the drive open as fd for its offer. ERR_IO. */
int nvme_look(int fd, struct nvme_offer *ret_o, struct err *e);

/*
 * nvme_format formats the one namespace of o, with its user data erased, and waits until
 * that is done; minutes are usual. ERR_IO with the status of the drive.
 */
int nvme_format(int fd, const struct nvme_offer *o, struct err *e);

/* nvme_sanitize begins a sanitize of the whole subsystem; nvme_sanitize_state tells how
 * it goes. ERR_IO. */
int nvme_sanitize(int fd, enum nvme_sanitize how, struct err *e);
int nvme_sanitize_state(
	int fd, enum nvme_sanitize_end *ret_end, double *ret_part, struct err *e);

/*
 * nvme_check_sanitize looks whether a sanitize runs in a drive of which nothing is known:
 * it goes on whoever began it, over resets and power cuts, and the drive does no I/O
 * until it has ended. ERR_STATE while one runs, ERR_IO when the drive does not say.
 */
int nvme_check_sanitize(int fd, struct err *e);

#endif
