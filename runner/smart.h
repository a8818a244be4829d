/*
 * smart - what an NVMe drive says of its own health: the log page of SMART and health
 * information (NVM Express Base 2.0, 5.16.1.3), through the verified descriptor.
 *
 * Decoding is pure and trusts no byte. Reading sends one command and waits for it.
 */
#ifndef RUNNER_SMART_H
#define RUNNER_SMART_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct err;

#define SMART_LOG_BYTES 512

/* What tells of throttling. */
struct smart_heat {
	int temperature_c;    /* composite */
	int warning_c;	      /* WCTEMP of the controller; 0: it names none */
	uint64_t transitions; /* into thermal management states 1 and 2 */
	uint64_t seconds;     /* in them, and above the warning and critical limits */
};

/*
 * smart_decode makes the document of a log page: each field under its name in schema/
 * wire.md, "Health", counters as decimal strings. New reference.
 */
json_t *smart_decode(const uint8_t log[SMART_LOG_BYTES]);

/* smart_decode_heat takes what tells of heat; warning_c is left 0. */
void smart_decode_heat(const uint8_t log[SMART_LOG_BYTES], struct smart_heat *ret_h);

/* smart_read reads and decodes the log page of the drive open as fd. ERR_IO. */
int smart_read(int fd, json_t **ret_doc, struct err *e);

/* smart_read_heat is that for heat, with the warning temperature; false when it cannot be
 * read. */
bool smart_read_heat(int fd, struct smart_heat *ret_h);

/*
 * smart_format tells the format of the namespace (NVM Command Set 1.0, 4.1.5.1): bytes
 * of a block and of its metadata, whether these are in line with the data, protection.
 * New reference, null when it cannot be read.
 */
json_t *smart_format(int fd);

/* smart_decode_format is that for the NVME_IDENTIFY_BYTES of Identify Namespace. Pure. */
json_t *smart_decode_format(const uint8_t *data);

#endif
