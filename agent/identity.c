#include "agent/identity.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/disk.h"
#include "common/err.h"
#include "common/json.h"
#include "common/xalloc.h"

#define FORMAT "identity/v1"

static char *
path_of(const char *state_dir)
{
	return xasprintf("%s/identity.json", state_dir);
}

bool
identity_exists(const char *state_dir)
{
	char *path = path_of(state_dir);
	bool there = access(path, F_OK) == 0 || errno != ENOENT;

	free(path);
	return there;
}

/* Copies a text member that must be there and fit. */
static int
need_text(const json_t *o, const char *name, char *ret_text, size_t size, struct err *e)
{
	const char *text;

	if (json_need_text(o, "", name, &text, e) != 0)
		return -1;
	if (strlen(text) >= size)
		return err_set(e, ERR_INVALID, "%s is longer than %zu characters", name,
			size - 1);
	snprintf(ret_text, size, "%s", text);
	return 0;
}

static int
need_key(
	const json_t *o, const char *name, uint8_t ret_key[SEAL_KEY_BYTES], struct err *e)
{
	const char *text;

	if (json_need_text(o, "", name, &text, e) != 0)
		return -1;
	if (seal_unbase64(text, ret_key, SEAL_KEY_BYTES, e) != 0)
		return err_ctx(e, "%s", name);
	return 0;
}

static int
from_json(const json_t *o, struct identity *ret_id, struct err *e)
{
	static const char *const names[] = {"ssdlab", "node", "name", "controller", "pin",
		"secret", "data_port", "controller_key", "public_key", "secret_key",
		NULL};
	char format[32];
	int64_t port;

	memset(ret_id, 0, sizeof(*ret_id));
	if (json_only(o, "", names, e) != 0 ||
		need_text(o, "ssdlab", format, sizeof(format), e) != 0)
		return -1;
	if (strcmp(format, FORMAT) != 0)
		return err_set(e, ERR_INVALID, "format %s is not known here", format);
	if (json_need_u64(o, "", "node", &ret_id->node, e) != 0 ||
		need_text(o, "name", ret_id->name, sizeof(ret_id->name), e) != 0 ||
		need_text(o, "controller", ret_id->url, sizeof(ret_id->url), e) != 0 ||
		need_text(o, "pin", ret_id->pin, sizeof(ret_id->pin), e) != 0 ||
		need_text(o, "secret", ret_id->secret, sizeof(ret_id->secret), e) != 0 ||
		json_need_int(o, "", "data_port", 1, 65535, &port, e) != 0)
		return -1;
	ret_id->data_port = (uint16_t)port;
	if (need_key(o, "controller_key", ret_id->controller_key, e) != 0 ||
		need_key(o, "public_key", ret_id->keys.public_key, e) != 0 ||
		need_key(o, "secret_key", ret_id->keys.secret_key, e) != 0)
		return -1;
	return 0;
}

/* The file holds the node's secrets: what others can read is no secret any more. */
static int
check_mode(const char *path, struct err *e)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return err_errno(e, ERR_IO, errno, "stat %s", path);
	if ((st.st_mode & 077) == 0)
		return 0;
	err_set(e, ERR_UNSAFE, "%s has mode %03o: others than its owner may use it", path,
		(unsigned)(st.st_mode & 0777));
	return err_fix(
		e, "chmod 600 %s, and join again if somebody may have read it", path);
}

int
identity_load(const char *state_dir, struct identity *ret_id, struct err *e)
{
	char *path = path_of(state_dir);
	json_t *doc = NULL;
	int rc = -1;

	if (access(path, F_OK) != 0 && errno == ENOENT) {
		err_set(e, ERR_NOTFOUND,
			"this node has not joined a controller yet (no %s)", path);
		err_fix(e, "run: ssdlab node enroll NAME on the controller, then "
			   "ssdlab-agent join here");
		goto out;
	}
	if (check_mode(path, e) != 0 || json_read_file(path, &doc, e) != 0)
		goto out;
	if (!json_is_object(doc)) {
		err_set(e, ERR_INVALID, "%s holds no object", path);
		goto out;
	}
	rc = from_json(doc, ret_id, e);
	if (rc != 0)
		err_ctx(e, "%s", path);
out:
	json_decref(doc);
	free(path);
	return rc;
}

static void
put_key(json_t *o, const char *name, const uint8_t key[SEAL_KEY_BYTES])
{
	char text[SEAL_KEY_BYTES * 4 / 3 + 4];

	seal_base64(key, SEAL_KEY_BYTES, text);
	json_put(o, name, json_text(text));
	seal_wipe(text, sizeof(text));
}

int
identity_save(const char *state_dir, const struct identity *id, struct err *e)
{
	char *path;
	json_t *o;
	int rc;

	if (identity_exists(state_dir))
		return err_set(
			e, ERR_STATE, "%s/identity.json is there already", state_dir);
	o = json_object();
	json_put(o, "ssdlab", json_string(FORMAT));
	json_put(o, "node", json_u64(id->node));
	json_put(o, "name", json_text(id->name));
	json_put(o, "controller", json_text(id->url));
	json_put(o, "pin", json_text(id->pin));
	json_put(o, "secret", json_text(id->secret));
	json_put(o, "data_port", json_integer(id->data_port));
	put_key(o, "controller_key", id->controller_key);
	put_key(o, "public_key", id->keys.public_key);
	put_key(o, "secret_key", id->keys.secret_key);
	path = path_of(state_dir);
	rc = disk_write_json(path, o, 0600, e);
	free(path);
	json_decref(o);
	return rc;
}
