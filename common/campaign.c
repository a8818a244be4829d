#include "common/campaign.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "common/parse.h"
#include "common/str.h"
#include "common/xalloc.h"

#define REPEATS_MAX 100
#define RETRIES_MAX 5
#define ERRORS_USUAL 50
#define PRIORITY_MAX 100
#define PRIORITY_USUAL 50
#define LABELS_MAX 32
#define LABEL_MAX 100

/* Text that may stand on one line of a table: 1 to max bytes, no control characters. */
static int
plain_text(const json_t *o, const char *at, const char *name, size_t max,
	const char **ret_text, struct err *e)
{
	size_t n;

	if (json_need_text(o, at, name, ret_text, e) != 0)
		return -1;
	n = strlen(*ret_text);
	if (str_is_plain(*ret_text) && n >= 1 && n <= max)
		return 0;
	err_set(e, ERR_INVALID,
		"\"%s\" must be a text of 1 to %zu bytes without control characters",
		name, max);
	return err_at(e, "%s/%s", at, name);
}

static int
copy_text(const json_t *o, const char *at, const char *name, char *buf, size_t size,
	struct err *e)
{
	const char *text;

	if (plain_text(o, at, name, size - 1, &text, e) != 0)
		return -1;
	snprintf(buf, size, "%s", text);
	return 0;
}

int
campaign_labels_check(const json_t *o, const char *at, struct err *e)
{
	const char *key;
	json_t *value;

	if (!json_is_object(o)) {
		err_set(e, ERR_INVALID, "labels are an object of texts");
		err_at(e, "%s", at);
		return err_fix(e, "write {\"name\": \"text\"}");
	}
	if (json_object_size(o) > LABELS_MAX) {
		err_set(e, ERR_INVALID, "at most %d labels are kept", LABELS_MAX);
		return err_at(e, "%s", at);
	}
	json_object_foreach ((json_t *)(uintptr_t)o, key, value) {
		const char *text;
		size_t n = strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789_.-");

		if (n == 0 || n > 63 || key[n] != '\0') {
			err_set(e, ERR_INVALID,
				"the name of a label has 1 to 63 of the characters a-z, "
				"0-9, "
				"_, . and -");
			return err_at(e, "%s/%.64s", at, key);
		}
		if (plain_text(o, at, key, LABEL_MAX, &text, e) != 0)
			return -1;
	}
	return 0;
}

static int
read_head(const json_t *doc, struct campaign_doc *c, struct err *e)
{
	const char *kind, *suite;

	if (json_need_text(doc, "", "ssdlab", &kind, e) != 0)
		return err_fix(e, "start the document with \"ssdlab\": \"campaign/v1\"");
	if (strcmp(kind, "campaign/v1") != 0) {
		err_set(e, ERR_INVALID, "\"ssdlab\" must be \"campaign/v1\"");
		err_at(e, "/ssdlab");
		return err_fix(e, "write campaign/v1, the only version that this "
				  "controller reads");
	}
	if (copy_text(doc, "", "name", c->name, sizeof(c->name), e) != 0 ||
		json_need_text(doc, "", "suite", &suite, e) != 0)
		return -1;
	if (suite_parse_ref(suite, c->suite_name, &c->suite_version, e) != 0)
		return err_at(e, "/suite");
	if (json_has(doc, "owner") &&
		copy_text(doc, "", "owner", c->owner, sizeof(c->owner), e) != 0)
		return -1;
	if (json_has(doc, "purpose"))
		return copy_text(doc, "", "purpose", c->purpose, sizeof(c->purpose), e);
	return 0;
}

static int
read_preparation(const json_t *doc, struct campaign_doc *c, struct err *e)
{
	const char *text = "repeat";

	if (json_has(doc, "preparation") &&
		json_need_text(doc, "", "preparation", &text, e) != 0)
		return -1;
	c->reuse = strcmp(text, "reuse") == 0;
	if (c->reuse || strcmp(text, "repeat") == 0)
		return 0;
	err_set(e, ERR_INVALID, "\"preparation\" must be \"repeat\" or \"reuse\"");
	return err_at(e, "/preparation");
}

static int
read_numbers(const json_t *doc, struct campaign_doc *c, struct err *e)
{
	int64_t repeats = 1;
	int64_t priority = PRIORITY_USUAL;
	int64_t retries = 1;
	int64_t max_errors = ERRORS_USUAL;

	if (json_has(doc, "repeats") &&
		json_need_int(doc, "", "repeats", 1, REPEATS_MAX, &repeats, e) != 0)
		return -1;
	if (json_has(doc, "priority") &&
		json_need_int(doc, "", "priority", 0, PRIORITY_MAX, &priority, e) != 0)
		return -1;
	if (json_has(doc, "retries") &&
		json_need_int(doc, "", "retries", 0, RETRIES_MAX, &retries, e) != 0)
		return -1;
	if (json_has(doc, "max_errors") &&
		json_need_int(doc, "", "max_errors", 0, CAMPAIGN_ERRORS_MAX, &max_errors,
			e) != 0)
		return -1;
	c->repeats = (uint32_t)repeats;
	c->priority = (uint32_t)priority;
	c->retries = (uint32_t)retries;
	c->max_errors = (uint32_t)max_errors;
	return 0;
}

static int
read_start(const json_t *doc, struct campaign_doc *c, struct err *e)
{
	if ((json_has(doc, "together") &&
		    json_need_bool(doc, "", "together", &c->together, e) != 0) ||
		(json_has(doc, "apart") &&
			json_need_bool(doc, "", "apart", &c->apart, e) != 0))
		return -1;
	if (!c->together || !c->apart)
		return 0;
	err_set(e, ERR_INVALID, "runs start together or go apart, not both");
	err_at(e, "/apart");
	return err_fix(e, "leave one of \"together\" and \"apart\" out");
}

/* What tells drives with the same serial apart that differ in nothing else. */
static int
read_capacity(const json_t *item, const char *at, uint64_t *ret_bytes, struct err *e)
{
	const char *text;

	if (json_need_text(item, at, "capacity", &text, e) != 0)
		return err_fix(
			e, "write it with its unit, for example \"480103981056B\"");
	if (parse_size(text, ret_bytes, e) != 0)
		return err_at(e, "%s/capacity", at);
	if (*ret_bytes > 0)
		return 0;
	err_set(e, ERR_INVALID, "no drive has a capacity of 0");
	return err_at(e, "%s/capacity", at);
}

static int
read_drive(const json_t *item, size_t i, struct campaign_drive *d, struct err *e)
{
	static const char *const names[] = {"serial", "model", "wwn", "capacity", NULL};
	char at[40];

	snprintf(at, sizeof(at), "/drives/%zu", i);
	if (json_is_string(item)) {
		err_set(e, ERR_INVALID, "a drive is an object with its serial");
		err_at(e, "%s", at);
		return err_fix(
			e, "write {\"serial\": \"%.64s\"}", json_string_value(item));
	}
	if (json_only(item, at, names, e) != 0 ||
		copy_text(item, at, "serial", d->serial, sizeof(d->serial), e) != 0)
		return err_fix(e, "name drives by serial: ssdlab drive ls");
	if (json_has(item, "model") &&
		copy_text(item, at, "model", d->model, sizeof(d->model), e) != 0)
		return -1;
	if (json_has(item, "wwn") &&
		copy_text(item, at, "wwn", d->wwn, sizeof(d->wwn), e) != 0)
		return -1;
	if (json_has(item, "capacity"))
		return read_capacity(item, at, &d->capacity_bytes, e);
	return 0;
}

static int
check_repeated(const struct campaign_doc *c, size_t i, struct err *e)
{
	for (size_t k = 0; k < i; k++) {
		if (memcmp(&c->drives[k], &c->drives[i], sizeof(c->drives[i])) != 0)
			continue;
		err_set(e, ERR_INVALID, "drive %s is already in the list at /drives/%zu",
			c->drives[i].serial, k);
		err_at(e, "/drives/%zu", i);
		return err_fix(
			e, "to run a suite several times on a drive use \"repeats\"");
	}
	return 0;
}

static int
read_drives(const json_t *doc, struct campaign_doc *c, struct err *e)
{
	json_t *list, *item;
	size_t i;

	if (json_need_array(doc, "", "drives", &list, e) != 0)
		return -1;
	if (json_array_size(list) < 1 || json_array_size(list) > CAMPAIGN_DRIVES_MAX) {
		err_set(e, ERR_INVALID, "a campaign has 1 to %d drives",
			CAMPAIGN_DRIVES_MAX);
		return err_at(e, "/drives");
	}
	c->n_drives = json_array_size(list);
	c->drives = xcalloc(c->n_drives, sizeof(*c->drives));
	json_array_foreach (list, i, item) {
		if (read_drive(item, i, &c->drives[i], e) != 0 ||
			check_repeated(c, i, e) != 0)
			return -1;
	}
	return 0;
}

static int
check_workload_repeated(const struct campaign_doc *c, size_t i, struct err *e)
{
	for (size_t k = 0; k < i; k++) {
		if (strcmp(c->workloads[k], c->workloads[i]) != 0)
			continue;
		err_set(e, ERR_INVALID,
			"workload %s is already in the list at /workloads/%zu",
			c->workloads[i], k);
		err_at(e, "/workloads/%zu", i);
		return err_fix(
			e, "leave it out; to run it several times use \"repeats\"");
	}
	return 0;
}

static int
read_workloads(const json_t *doc, struct campaign_doc *c, struct err *e)
{
	json_t *list, *item;
	size_t i;

	if (!json_has(doc, "workloads"))
		return 0;
	if (json_need_array(doc, "", "workloads", &list, e) != 0)
		return -1;
	if (json_array_size(list) < 1 || json_array_size(list) > SUITE_WORKLOADS_MAX) {
		err_set(e, ERR_INVALID, "\"workloads\" lists 1 to %d ids",
			SUITE_WORKLOADS_MAX);
		err_at(e, "/workloads");
		return err_fix(e, "leave \"workloads\" out to run all of the suite");
	}
	c->n_workloads = json_array_size(list);
	c->workloads = xcalloc(c->n_workloads, sizeof(*c->workloads));
	json_array_foreach (list, i, item) {
		const char *id = json_string_value(item);

		if (id == NULL || strlen(id) >= WORKLOAD_ID_MAX) {
			err_set(e, ERR_INVALID, "the id of a workload is wanted here");
			err_at(e, "/workloads/%zu", i);
			return err_fix(e, "ssdlab suite show %s@%u lists them",
				c->suite_name, (unsigned)c->suite_version);
		}
		snprintf(c->workloads[i], sizeof(c->workloads[i]), "%s", id);
		if (check_workload_repeated(c, i, e) != 0)
			return -1;
	}
	return 0;
}

int
campaign_parse(const json_t *doc, struct campaign_doc *ret_c, struct err *e)
{
	static const char *const names[] = {"ssdlab", "name", "suite", "drives",
		"repeats", "priority", "labels", "owner", "purpose", "retries",
		"max_errors", "workloads", "together", "apart", "preparation", NULL};

	memset(ret_c, 0, sizeof(*ret_c));
	if (json_no_null(doc, "", e) != 0)
		return -1;
	if (json_only(doc, "", names, e) != 0 || read_head(doc, ret_c, e) != 0 ||
		read_numbers(doc, ret_c, e) != 0 || read_start(doc, ret_c, e) != 0 ||
		read_preparation(doc, ret_c, e) != 0 || read_drives(doc, ret_c, e) != 0 ||
		read_workloads(doc, ret_c, e) != 0)
		return -1;
	if (!json_has(doc, "labels")) {
		ret_c->labels = json_object();
		return 0;
	}
	ret_c->labels = json_incref(json_object_get(doc, "labels"));
	return campaign_labels_check(ret_c->labels, "/labels", e);
}

static json_t *
choice_to_json(const struct campaign_drive *d)
{
	json_t *o = json_object();
	char size[32];

	json_put(o, "serial", json_string(d->serial));
	if (d->model[0] != '\0')
		json_put(o, "model", json_string(d->model));
	if (d->wwn[0] != '\0')
		json_put(o, "wwn", json_string(d->wwn));
	if (d->capacity_bytes > 0)
		json_put(o, "capacity",
			json_string(format_size(d->capacity_bytes, size, sizeof(size))));
	return o;
}

json_t *
campaign_to_json(const struct campaign_doc *c)
{
	json_t *doc = json_object();
	json_t *drives = json_array();
	json_t *workloads = json_array();

	json_put(doc, "ssdlab", json_string("campaign/v1"));
	json_put(doc, "name", json_string(c->name));
	json_put(doc, "suite",
		json_sprintf("%s@%u", c->suite_name, (unsigned)c->suite_version));
	for (size_t i = 0; i < c->n_drives; i++)
		json_array_append_new(drives, choice_to_json(&c->drives[i]));
	json_put(doc, "drives", drives);
	json_put(doc, "repeats", json_integer(c->repeats));
	json_put(doc, "priority", json_integer(c->priority));
	json_put(doc, "retries", json_integer(c->retries));
	json_put(doc, "max_errors", json_integer(c->max_errors));
	json_put(doc, "preparation", json_string(c->reuse ? "reuse" : "repeat"));
	if (c->together)
		json_put(doc, "together", json_true());
	if (c->apart)
		json_put(doc, "apart", json_true());
	json_put(doc, "labels", json_incref(c->labels));
	if (c->owner[0] != '\0')
		json_put(doc, "owner", json_string(c->owner));
	if (c->purpose[0] != '\0')
		json_put(doc, "purpose", json_string(c->purpose));
	for (size_t i = 0; i < c->n_workloads; i++)
		json_array_append_new(workloads, json_string(c->workloads[i]));
	if (c->n_workloads > 0)
		json_put(doc, "workloads", workloads);
	else
		json_decref(workloads);
	return doc;
}

void
campaign_fini(struct campaign_doc *c)
{
	free(c->drives);
	free(c->workloads);
	json_decref(c->labels);
	memset(c, 0, sizeof(*c));
}
