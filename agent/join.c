#include "agent/join.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/disk.h"
#include "agent/host.h"
#include "agent/identity.h"
#include "agent/link.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/json.h"
#include "common/log.h"
#include "common/parse.h"
#include "common/seal.h"
#include "common/xalloc.h"
#include "config.h"

#define TOKEN_MAX 1024
#define ENROLL_WAIT_NS (30 * NS_PER_S)

static int
bad_token(struct err *e, const char *what)
{
	err_set(e, ERR_INVALID, "this is not a join token: %s", what);
	return err_fix(e,
		"run: ssdlab node enroll NAME, and give the whole line it prints "
		"to ssdlab-agent join");
}

static int
hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes %XX; "+" stays, base64 has it. false when it does not fit or is malformed. */
static bool
unescape(const char *from, size_t n, char *to, size_t size)
{
	size_t len = 0;

	for (size_t i = 0; i < n; i++) {
		char c = from[i];

		if (c == '%') {
			int high = i + 2 < n ? hex(from[i + 1]) : -1;
			int low = high >= 0 ? hex(from[i + 2]) : -1;

			if (low < 0)
				return false;
			c = (char)(high * 16 + low);
			i += 2;
		}
		if (len + 1 >= size || (unsigned char)c <= 0x20 || c == 0x7f)
			return false;
		to[len++] = c;
	}
	to[len] = '\0';
	return true;
}

/* Reads one name=value of the query. Names that are not known are for later versions. */
static bool
read_pair(const char *at, size_t n, struct join_token *t)
{
	const char *equals = memchr(at, '=', n);
	size_t k, left;

	if (equals == NULL)
		return false;
	k = (size_t)(equals - at);
	left = n - k - 1;
	if (k == 4 && memcmp(at, "name", 4) == 0)
		return unescape(equals + 1, left, t->name, sizeof(t->name));
	if (k == 5 && memcmp(at, "token", 5) == 0)
		return unescape(equals + 1, left, t->token, sizeof(t->token));
	if (k == 3 && memcmp(at, "pin", 3) == 0)
		return unescape(equals + 1, left, t->pin, sizeof(t->pin));
	return true;
}

static int
read_query(const char *at, size_t n, struct join_token *t, struct err *e)
{
	const char *end = at + n;

	while (at < end) {
		const char *amp = memchr(at, '&', (size_t)(end - at));
		const char *stop = amp != NULL ? amp : end;

		if (!read_pair(at, (size_t)(stop - at), t))
			return bad_token(e, "a part of it is malformed or too long");
		at = stop + 1;
	}
	if (t->name[0] == '\0')
		return bad_token(e, "it has no name");
	if (t->token[0] == '\0')
		return bad_token(e, "it has no token");
	if (t->pin[0] != '\0' &&
		(strncmp(t->pin, "sha256//", 8) != 0 || strlen(t->pin) != 8 + 44))
		return bad_token(e, "its pin is not sha256// and 44 characters");
	return 0;
}

/* Reads scheme and authority; *ret_rest is what follows them. */
static int
read_base(const char *text, size_t n, struct join_token *t, const char **ret_rest,
	struct err *e)
{
	size_t scheme = 0, host;

	if (strncmp(text, "https://", 8) == 0)
		scheme = 8;
	else if (strncmp(text, "http://", 7) == 0)
		scheme = 7;
	else
		return bad_token(e, "it does not begin with https://");
	host = strcspn(text + scheme, "/?#");
	if (host == 0 || scheme + host > n || scheme + host >= sizeof(t->url))
		return bad_token(e, "it has no host, or one that is too long");
	if (memchr(text + scheme, '@', host) != NULL)
		return bad_token(e, "it has a user name");
	memcpy(t->url, text, scheme + host);
	t->url[scheme + host] = '\0';
	*ret_rest = text + scheme + host;
	return 0;
}

/* Nobody may listen in or step between, or the drives obey somebody else. */
static int
check_safe(const struct join_token *t, bool has_ca, struct err *e)
{
	bool tls = strncmp(t->url, "https", 5) == 0;

	if (!tls && !link_is_loopback(t->url)) {
		err_set(e, ERR_UNSAFE, "%s is not encrypted and not on this machine",
			t->url);
		return err_fix(e, "give the controller a TLS certificate (its options "
				  "tls_cert and tls_key) and enroll again");
	}
	if (tls && t->pin[0] == '\0' && !has_ca) {
		err_set(e, ERR_UNSAFE, "the token has no pin to know the controller by");
		return err_fix(e, "set ca_file to the CA that signed its certificate");
	}
	return 0;
}

int
join_parse(const char *text, bool has_ca, struct join_token *ret_t, struct err *e)
{
	const char *rest = "";
	size_t n;

	memset(ret_t, 0, sizeof(*ret_t));
	while (isspace((unsigned char)*text))
		text++;
	n = strlen(text);
	while (n > 0 && isspace((unsigned char)text[n - 1]))
		n--;
	if (n == 0)
		return bad_token(e, "it is empty");
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)text[i] <= 0x20 || (unsigned char)text[i] >= 0x7f)
			return bad_token(e, "it has blanks or more than one line");
	if (read_base(text, n, ret_t, &rest, e) != 0)
		return -1;
	if (strncmp(rest, "/join?", 6) != 0)
		return bad_token(e, "/join? does not follow the host");
	if (read_query(rest + 6, n - (size_t)(rest + 6 - text), ret_t, e) != 0)
		return -1;
	return check_safe(ret_t, has_ca, e);
}

static int
read_token(int fd, char *text, size_t size, struct err *e)
{
	size_t len = 0;
	ssize_t n;

	if (isatty(fd))
		fprintf(stderr, "Paste the join token (one line), then Enter:\n");
	do {
		n = read(fd, text + len, size - 1 - len);
		if (n < 0 && errno != EINTR)
			return err_errno(e, ERR_IO, errno, "read the join token");
		len += n > 0 ? (size_t)n : 0;
		text[len] = '\0';
	} while (n != 0 && len < size - 1 && strchr(text, '\n') == NULL);
	if (len == size - 1)
		return bad_token(e, "it is too long");
	return 0;
}

static json_t *
enrolment(const struct join_token *t, const struct seal_pair *keys)
{
	char key[SEAL_KEY_BYTES * 4 / 3 + 4], text[128];
	json_t *o = json_object();

	seal_base64(keys->public_key, SEAL_KEY_BYTES, key);
	json_put(o, "name", json_text(t->name));
	json_put(o, "token", json_text(t->token));
	host_name(text, sizeof(text));
	json_put(o, "hostname", json_text(text));
	host_machine_id(text, sizeof(text));
	json_put(o, "machine_id", json_text(text));
	host_boot_id(text, sizeof(text));
	json_put(o, "boot_id", json_text(text));
	json_put(o, "version", json_text(PACKAGE_VERSION));
	json_put(o, "protocol", json_pack("[i, i]", 1, 1));
	json_put(o, "public_key", json_text(key));
	return o;
}

static int
read_enrolled(const json_t *doc, struct identity *id, struct err *e)
{
	const char *secret, *key;
	int64_t port;

	if (json_need_u64(doc, "", "node", &id->node, e) != 0 ||
		json_need_text(doc, "", "secret", &secret, e) != 0 ||
		json_need_text(doc, "", "public_key", &key, e) != 0 ||
		json_need_int(doc, "", "data_port", 1, 65535, &port, e) != 0 ||
		seal_unbase64(key, id->controller_key, SEAL_KEY_BYTES, e) != 0)
		return err_ctx(e, "answer of controller %s", id->url);
	if (strlen(secret) >= sizeof(id->secret))
		return err_set(e, ERR_INVALID, "the secret of controller %s is too long",
			id->url);
	snprintf(id->secret, sizeof(id->secret), "%s", secret);
	id->data_port = (uint16_t)port;
	return 0;
}

static int
enrol(const struct join_token *t, const char *ca_file, struct identity *ret_id,
	struct err *e)
{
	struct link_peer peer = {
		.url = t->url, .pin = t->pin, .ca_file = ca_file, .bearer = ""};
	json_t *body, *answer = NULL;
	int rc;

	memset(ret_id, 0, sizeof(*ret_id));
	snprintf(ret_id->name, sizeof(ret_id->name), "%s", t->name);
	snprintf(ret_id->url, sizeof(ret_id->url), "%s", t->url);
	snprintf(ret_id->pin, sizeof(ret_id->pin), "%s", t->pin);
	seal_pair_new(&ret_id->keys);
	body = enrolment(t, &ret_id->keys);
	rc = link_post(&peer, "/api/v1/agents/enroll", body, ENROLL_WAIT_NS, &answer, e);
	if (rc == 0)
		rc = read_enrolled(answer, ret_id, e);
	json_decref(body);
	json_decref(answer);
	return rc;
}

/* A token is used up by enrolling: whatever can fail is tried before. */
static int
check_state_dir(const char *state_dir, struct err *e)
{
	if (disk_make_dir(state_dir, e) != 0)
		return -1;
	if (identity_exists(state_dir)) {
		err_set(e, ERR_STATE, "this node has joined already (%s/identity.json)",
			state_dir);
		return err_fix(e, "stop ssdlab-agent and move that file away to join "
				  "another controller");
	}
	if (access(state_dir, W_OK | X_OK) != 0) {
		err_errno(e, ERR_IO, errno, "state directory %s", state_dir);
		return err_fix(
			e, "run as root, or set state_dir to a directory of yours");
	}
	return 0;
}

/* More than an identity takes, under the name from which it is renamed. */
#define RESERVED_BYTES 4096

static char *
reserved_path(const char *state_dir)
{
	return xasprintf("%s/identity.json.new", state_dir);
}

/* Space for what enrolling gives, on the disk and not only promised. */
static int
reserve(const char *state_dir, struct err *e)
{
	static const char blank[RESERVED_BYTES];
	char *path = reserved_path(state_dir);
	int rc = disk_write(path, blank, sizeof(blank), 0600, e);

	if (rc != 0)
		err_fix(e, "make room there and join again: the token was not used");
	free(path);
	return rc;
}

static void
give_back(const char *state_dir)
{
	char *path = reserved_path(state_dir);

	unlink(path);
	free(path);
}

/* Another controller counts its own epochs. The fences stay: they protect the drives. */
static int
forget_epoch(const char *state_dir, struct err *e)
{
	char *path = xasprintf("%s/epoch", state_dir);
	int rc = 0;

	if (unlink(path) != 0 && errno != ENOENT)
		rc = err_errno(e, ERR_IO, errno, "delete %s", path);
	free(path);
	return rc;
}

int
join_run(int fd, const char *state_dir, const char *ca_file, struct err *e)
{
	char text[TOKEN_MAX];
	struct join_token t;
	struct identity id;
	int rc;

	if (check_state_dir(state_dir, e) != 0 ||
		read_token(fd, text, sizeof(text), e) != 0 ||
		join_parse(text, ca_file[0] != '\0', &t, e) != 0 ||
		reserve(state_dir, e) != 0)
		return -1;
	rc = enrol(&t, ca_file, &id, e);
	if (rc == 0)
		rc = forget_epoch(state_dir, e);
	if (rc == 0)
		rc = identity_save(state_dir, &id, e);
	if (rc == 0)
		log_info("join.done", "node=n%" PRIu64 " name=%s controller=%s", id.node,
			log_q(id.name), id.url);
	else
		give_back(state_dir);
	seal_wipe(&id, sizeof(id));
	seal_wipe(text, sizeof(text));
	seal_wipe(&t, sizeof(t));
	return rc;
}
