/*
 * campaign - the campaign document: which suite on which drives, how often; read and
 * check.
 *
 * The JSON form is schema/campaign.schema.json. Pure: no I/O, no clock; whether the suite
 * and the drives exist is for the controller to say.
 */
#ifndef COMMON_CAMPAIGN_H
#define COMMON_CAMPAIGN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/suite.h"
#include "common/workload.h"

struct err;

#define CAMPAIGN_NAME_MAX 101
#define CAMPAIGN_DRIVES_MAX 1024
#define CAMPAIGN_ERRORS_MAX 1000000000

/*
 * One drive by identity; model and wwn are "", capacity_bytes is 0 unless the document
 * gives them.
 */
struct campaign_drive {
	char serial[64];
	char model[64];
	char wwn[80];
	uint64_t capacity_bytes;
};

struct campaign_doc {
	char name[CAMPAIGN_NAME_MAX];
	char suite_name[SUITE_NAME_MAX];
	uint32_t suite_version;
	struct campaign_drive *drives; /* owned */
	size_t n_drives;	       /* 1..CAMPAIGN_DRIVES_MAX */
	uint32_t repeats;	       /* 1..100 */
	uint32_t priority;	       /* 0..100, higher first */
	uint32_t retries;	       /* 0..5, of runs that failed(infra) */
	uint32_t max_errors;	       /* 0..CAMPAIGN_ERRORS_MAX, failed I/Os of
					  a point that its run outlives */
	bool together; /* the runs of a repeat start at one instant, or not at all */
	bool apart;    /* a node has one run of the campaign at a time */
	bool reuse;    /* a purge or fill that the ledger proves needless is skipped */
	char purpose[500];		    /* "" when not given */
	char owner[64];			    /* "" when not given */
	json_t *labels;			    /* object of texts, owned */
	char (*workloads)[WORKLOAD_ID_MAX]; /* owned; n_workloads == 0: all of the suite
					     */
	size_t n_workloads;
};

/*
 * campaign_parse reads and checks a campaign document and fills in the defaults. *ret_c
 * is owned (campaign_fini), also after an error. ERR_INVALID with pointer.
 */
int campaign_parse(const json_t *doc, struct campaign_doc *ret_c, struct err *e);

/* campaign_to_json writes the document with every default explicit. New reference. */
json_t *campaign_to_json(const struct campaign_doc *c);

/* campaign_fini frees what c owns; {0} allowed. */
void campaign_fini(struct campaign_doc *c);

/*
 * campaign_labels_check checks that o is an object of at most 32 short texts by plain
 * names, as nodes, drives and campaigns carry. ERR_INVALID below the pointer at.
 */
int campaign_labels_check(const json_t *o, const char *at, struct err *e);

#endif
