#include "controller/boot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "controller/address.h"
#include "controller/controller.h"
#include "controller/keyfile.h"

static bool
is_any(const char *address)
{
	return strcmp(address, "0.0.0.0") == 0 || strcmp(address, "::") == 0;
}

static bool
is_url(const char *text)
{
	size_t n = strncmp(text, "https://", 8) == 0  ? 8
		   : strncmp(text, "http://", 7) == 0 ? 7
						      : 0;

	return n > 0 && text[n] != '\0' && strpbrk(text + n, "/?#\" ") == NULL;
}

static int
check_options(struct boot *b, struct err *e)
{
	const struct controller_options *o = b->options;

	b->open_reads = strcmp(o->read_access, "open") == 0;
	if (!b->open_reads && strcmp(o->read_access, "token") != 0)
		return err_set(e, ERR_INVALID,
			"read_access: \"%.40s\" is neither open nor token",
			o->read_access);
	if (!o->tls && !address_is_loopback(o->http_address)) {
		err_set(e, ERR_INVALID,
			"http_address %.60s is reached by other machines, and tls is off",
			o->http_address);
		return err_fix(e, "set tls = yes, or http_address = 127.0.0.1");
	}
	if (!o->tls && (o->tls_cert[0] != '\0' || o->tls_key[0] != '\0'))
		return err_set(
			e, ERR_INVALID, "tls_cert and tls_key are set, and tls is off");
	if (o->late_after >= o->lost_after)
		return err_set(e, ERR_INVALID, "late_after must be below lost_after");
	if (o->public_url[0] != '\0' && !is_url(o->public_url)) {
		err_set(e, ERR_INVALID, "public_url: \"%.100s\" is not a URL of a host",
			o->public_url);
		return err_fix(e, "write it like https://lab.example.net:7443");
	}
	return 0;
}

static int
open_state(const char *dir, struct err *e)
{
	struct stat st;

	if (mkdir(dir, 0700) != 0 && errno != EEXIST)
		return err_errno(e, ERR_IO, errno, "make the state directory %s", dir);
	if (stat(dir, &st) != 0)
		return err_errno(e, ERR_IO, errno, "state directory %s", dir);
	if (!S_ISDIR(st.st_mode))
		return err_set(e, ERR_IO, "state directory %s is no directory", dir);
	if (access(dir, W_OK | X_OK) != 0)
		return err_errno(
			e, ERR_IO, errno, "write to the state directory %s", dir);
	return 0;
}

/* The host of a URL, without brackets and port, or "". */
static void
host_of(const char *url, char *buf, size_t size)
{
	const char *host = strstr(url, "://");
	size_t n;

	buf[0] = '\0';
	if (host == NULL)
		return;
	host += 3;
	if (*host == '[')
		n = strcspn(++host, "]");
	else
		n = strcspn(host, ":/");
	snprintf(buf, size, "%.*s", (int)n, host);
}

static void
add_name(struct tls_config *c, const char *name)
{
	size_t n = 0;

	if (name[0] == '\0')
		return;
	for (; c->names[n] != NULL; n++)
		if (strcmp(c->names[n], name) == 0)
			return;
	if (n < TLS_NAMES_MAX)
		c->names[n] = name;
}

static int
load_tls(struct boot *b, struct err *e)
{
	const struct controller_options *o = b->options;
	char *dir = xasprintf("%s/tls", o->state_dir);
	char *pin_path = xasprintf("%s/pin", dir);
	struct tls_config c = {
		.cert_file = o->tls_cert, .key_file = o->tls_key, .dir = dir};
	char host[256] = "";
	char public[256];
	char line[80];
	int rc;

	gethostname(host, sizeof(host) - 1);
	host_of(o->public_url, public, sizeof(public));
	add_name(&c, "localhost");
	add_name(&c, "127.0.0.1");
	add_name(&c, "::1");
	add_name(&c, host);
	add_name(&c, public);
	if (!is_any(o->http_address))
		add_name(&c, o->http_address);
	mkdir(dir, 0700);
	rc = tls_load(&b->tls, &c, e);
	if (rc == 0) {
		snprintf(line, sizeof(line), "%s\n", b->tls.pin);
		rc = keyfile_keep(pin_path, 0600, line, e);
	}
	free(pin_path);
	free(dir);
	return rc;
}

/*
 * A database that is gone is no first start: an empty one in its place would hide all
 * results, and would know no node. The keys are made after the database, so that they are
 * evidence of it; they are looked for first, as another controller may be making both.
 */
static int
check_database(const struct boot *b, struct err *e)
{
	char *keys = xasprintf("%s/seal.key", b->options->state_dir);
	bool started = access(keys, F_OK) == 0;
	struct stat st = {0};

	free(keys);
	if (stat(b->db_path, &st) != 0 && errno != ENOENT)
		return err_errno(e, ERR_IO, errno, "database %s", b->db_path);
	if (!started || st.st_size > 0)
		return 0;
	err_set(e, ERR_STORE,
		"the database %s is missing or empty, but this is not a first start: "
		"its keys are there",
		b->db_path);
	return err_fix(e, "restore ssdlab.db from a backup, or move the state directory "
			  "away to begin an empty lab");
}

int
boot_prepare(struct boot *ret_b, const struct controller_options *o, struct err *e)
{
	const char *data = o->data_address[0] != '\0' ? o->data_address : o->http_address;
	bool six = strchr(data, ':') != NULL;

	*ret_b = (struct boot){.options = o};
	if (check_options(ret_b, e) != 0 || open_state(o->state_dir, e) != 0)
		return -1;
	ret_b->db_path = xasprintf("%s/ssdlab.db", o->state_dir);
	ret_b->data_url = xasprintf("tcp://%s%s%s:%u", six ? "[" : "",
		strcmp(data, "localhost") == 0 ? "127.0.0.1" : data, six ? "]" : "",
		(unsigned)o->data_port);
	return check_database(ret_b, e);
}

int
boot_load_keys(struct boot *b, struct err *e)
{
	char *keys = xasprintf("%s/seal.key", b->options->state_dir);
	int rc = keyfile_pair(keys, &b->keys, e);

	free(keys);
	if (rc == 0 && b->options->tls)
		rc = load_tls(b, e);
	return rc;
}

void
boot_fini(struct boot *b)
{
	tls_fini(&b->tls);
	seal_wipe(&b->keys, sizeof(b->keys));
	free(b->data_url);
	free(b->db_path);
	*b = (struct boot){0};
}

char *
boot_public_url(const struct boot *b, uint16_t port)
{
	const struct controller_options *o = b->options;
	const char *name = o->http_address;
	char host[256] = "";
	char url[320];

	if (o->public_url[0] != '\0')
		return xstrdup(o->public_url);
	if (is_any(name) && gethostname(host, sizeof(host) - 1) == 0)
		name = host;
	return xstrdup(address_url(o->tls, name, port, url, sizeof(url)));
}

int
boot_read_token(const struct boot *b, char ret_token[SEAL_TOKEN_CHARS + 1], struct err *e)
{
	char *path = xasprintf("%s/admin.token", b->options->state_dir);
	struct err why = {0};
	struct str text = {0};
	int rc = keyfile_read(path, &text, &why);

	if (rc != 0 && why.class == ERR_NOTFOUND) {
		rc = 0;
	} else if (rc != 0) {
		*e = why;
	} else if (strcspn(str_text(&text), "\n") != SEAL_TOKEN_CHARS) {
		rc = err_set(e, ERR_INVALID, "%s does not hold a token", path);
		err_fix(e, "move it away; a start without it makes another one");
	} else {
		memcpy(ret_token, str_text(&text), SEAL_TOKEN_CHARS);
		ret_token[SEAL_TOKEN_CHARS] = '\0';
		rc = 1;
	}
	if (text.data != NULL)
		seal_wipe(text.data, text.len);
	str_fini(&text);
	free(path);
	return rc;
}

int
boot_write_token(const struct boot *b, const char *token, struct err *e)
{
	char *path = xasprintf("%s/admin.token", b->options->state_dir);
	char line[SEAL_TOKEN_CHARS + 2];
	int rc;

	snprintf(line, sizeof(line), "%s\n", token);
	rc = keyfile_write(path, 0600, line, e);
	seal_wipe(line, sizeof(line));
	free(path);
	return rc;
}

int
boot_write_client(const struct boot *b, uint16_t port, struct err *e)
{
	const struct controller_options *o = b->options;
	const char *host = o->http_address;
	char *path = xasprintf("%s/client.conf", o->state_dir);
	char *dir = realpath(o->state_dir, NULL);
	struct str text = {0};
	char url[320];
	int rc;

	if (strcmp(host, "0.0.0.0") == 0)
		host = "127.0.0.1";
	else if (strcmp(host, "::") == 0)
		host = "::1";
	str_puts(&text, "# Written at each start of ssdlab-controller. Use it with\n"
			"# SSDLAB_CONFIG=THIS_FILE ssdlab status\n");
	str_printf(&text, "server = %s\n",
		address_url(o->tls, host, port, url, sizeof(url)));
	str_printf(
		&text, "token_file = %s/admin.token\n", dir != NULL ? dir : o->state_dir);
	if (o->tls)
		str_printf(&text, "pin = %s\n", b->tls.pin);
	rc = keyfile_keep(path, 0600, str_text(&text), e);
	str_fini(&text);
	free(dir);
	free(path);
	return rc;
}
