#include "cli/ref.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/client.h"
#include "cli/human.h"
#include "cli/show.h"
#include "common/err.h"
#include "common/json.h"
#include "common/str.h"

#define NAMES_MAX 64 /* of nodes, to suggest from */
#define NEWEST 5     /* campaigns that are told when there is none of a name */

static bool
is_number(const char *text)
{
	size_t n = strspn(text, "0123456789");

	return n > 0 && n <= 18 && text[n] == '\0' && text[0] != '0';
}

bool
ref_is_id(const char *text, char letter)
{
	return text[0] == letter && is_number(text + 1);
}

/* What an id with that letter names, with its article. */
static const char *
kind_of(char letter)
{
	switch (letter) {
	case 'c':
		return "a campaign";
	case 'x':
		return "a foreign result";
	case 'r':
		return "a run";
	case 'n':
		return "a node";
	case 'd':
		return "a drive";
	default:
		abort();
	}
}

int
ref_id(const char *text, char letter, struct ref *ret_ref, struct err *e)
{
	if (ref_is_id(text, letter)) {
		snprintf(ret_ref->id, sizeof(ret_ref->id), "%s", text);
		return 0;
	}
	if (is_number(text)) {
		snprintf(ret_ref->id, sizeof(ret_ref->id), "%c%s", letter, text);
		return 0;
	}
	err_set(e, ERR_INVALID, "\"%.60s\" is not %s", text, kind_of(letter));
	return err_fix(e, "write %c12 or 12", letter);
}

int
ref_arg(const char *command, const char *text, char letter, struct ref *ret_ref,
	struct err *e)
{
	const char *kind = kind_of(letter);

	if (ref_id(text, letter, ret_ref, NULL) == 0)
		return 0;
	err_set(e, ERR_INVALID, "%s takes %s, for example %c12", command, kind, letter);
	if (ref_is_id(text, 'd') && letter == 'r')
		return err_fix(e, "%s is a drive; ssdlab run ls --drive %s", text, text);
	if (ref_is_id(text, 'c') && letter == 'r')
		return err_fix(
			e, "%s is a campaign; ssdlab run ls --campaign %s", text, text);
	return err_fix(
		e, "ssdlab %s ls lists them", letter == 'x' ? "foreign" : kind + 2);
}

static void
take_id(const json_t *item, struct ref *ret_ref)
{
	snprintf(ret_ref->id, sizeof(ret_ref->id), "%s", json_text_of(item, "id"));
}

int
ref_node(struct client *c, const char *text, struct ref *ret_ref, struct err *e)
{
	const char *names[NAMES_MAX + 1];
	size_t n = 0;
	json_t *doc, *item;
	size_t i;
	int rc = -1;

	if (ref_is_id(text, 'n'))
		return ref_id(text, 'n', ret_ref, e);
	if (client_list(c, "/api/v1/nodes", SIZE_MAX, &doc, e) != 0)
		return -1;
	json_array_foreach (json_object_get(doc, "items"), i, item) {
		if (n < NAMES_MAX)
			names[n++] = json_text_of(item, "name");
		if (strcmp(json_text_of(item, "name"), text) != 0)
			continue;
		take_id(item, ret_ref);
		rc = 0;
	}
	names[n] = NULL;
	if (rc != 0 && is_number(text)) {
		rc = ref_id(text, 'n', ret_ref, e);
	} else if (rc != 0) {
		err_set(e, ERR_NOTFOUND, "there is no node \"%.60s\"", text);
		if (n > 0)
			err_suggest(e, text, names);
		else
			err_fix(e, "ssdlab node enroll NAME makes one");
	}
	json_decref(doc);
	return rc;
}

/* "c3 demo, c2 other" or, of one name, "c3 (running), c1 (done)". */
static void
list_campaigns(const json_t *items, bool named, struct str *out)
{
	json_t *item;
	size_t i;

	json_array_foreach (items, i, item)
		str_printf(out, "%s%s %s%.60s%s", i > 0 ? ", " : "",
			json_text_of(item, "id"), named ? "" : "(",
			json_text_of(item, named ? "name" : "state"), named ? "" : ")");
}

static int
no_campaign(struct client *c, const char *text, struct err *e)
{
	struct str list = {0};
	json_t *doc;

	if (client_list(c, "/api/v1/campaigns", NEWEST, &doc, e) != 0)
		return -1;
	list_campaigns(json_object_get(doc, "items"), true, &list);
	err_set(e, ERR_NOTFOUND, "there is no campaign \"%.60s\"", text);
	if (list.len == 0)
		err_fix(e, "ssdlab campaign submit FILE makes one");
	else
		err_fix(e, "%s %.300s; ssdlab campaign ls",
			json_has(doc, "next_cursor") ? "the newest are" : "there are",
			str_text(&list));
	json_decref(doc);
	str_fini(&list);
	return -1;
}

int
ref_campaign(struct client *c, const char *text, struct ref *ret_ref, struct err *e)
{
	struct str path = {0};
	struct str list = {0};
	const json_t *items;
	json_t *doc;
	int rc = -1;

	if (ref_id(text, 'c', ret_ref, NULL) == 0)
		return 0;
	str_puts(&path, "/api/v1/campaigns");
	client_query(&path, "name", text);
	if (client_list(c, str_text(&path), SIZE_MAX, &doc, e) != 0)
		goto out;
	items = json_object_get(doc, "items");
	if (json_array_size(items) == 1) {
		take_id(json_array_get(items, 0), ret_ref);
		rc = 0;
	} else if (json_array_size(items) == 0) {
		rc = no_campaign(c, text, e);
	} else {
		list_campaigns(items, false, &list);
		err_set(e, ERR_INVALID, "%zu campaigns are called \"%.60s\"",
			json_array_size(items), text);
		err_fix(e, "use an id: %.300s", str_text(&list));
	}
	json_decref(doc);
out:
	str_fini(&path);
	str_fini(&list);
	return rc;
}

static int
several(const char *text, const json_t *items, struct err *e)
{
	struct str ids = {0};
	json_t *item;
	size_t i;

	json_array_foreach (items, i, item) {
		double bytes = 0;

		json_number(json_object_get(item, "capacity_bytes"), &bytes);
		str_printf(&ids, "%s%s (", i > 0 ? ", " : "", json_text_of(item, "id"));
		human_bytes(bytes, &ids);
		str_puts(&ids, ", ");
		show_drive_state(item, &ids);
		str_puts(&ids, ")");
	}
	err_set(e, ERR_INVALID, "%zu drives have the serial \"%.60s\"",
		json_array_size(items), text);
	err_fix(e, "use an id: %.200s", str_text(&ids));
	str_fini(&ids);
	return -1;
}

int
ref_drive(struct client *c, const char *text, struct ref *ret_ref, struct err *e)
{
	struct str path = {0};
	json_t *doc;
	const json_t *items;
	int rc = -1;

	if (ref_is_id(text, 'd'))
		return ref_id(text, 'd', ret_ref, e);
	str_puts(&path, "/api/v1/drives");
	client_query(&path, "serial", text);
	if (client_list(c, str_text(&path), SIZE_MAX, &doc, e) != 0)
		goto out;
	items = json_object_get(doc, "items");
	if (json_array_size(items) > 1) {
		several(text, items, e);
	} else if (json_array_size(items) == 1) {
		take_id(json_array_get(items, 0), ret_ref);
		rc = 0;
	} else if (is_number(text)) {
		rc = ref_id(text, 'd', ret_ref, e);
	} else {
		err_set(e, ERR_NOTFOUND, "there is no drive \"%.60s\"", text);
		err_fix(e, "ssdlab drive ls lists ids and serials");
	}
	json_decref(doc);
out:
	str_fini(&path);
	return rc;
}
