#include "common/document.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/json.h"

static int
read_all(int fd, const char *name, size_t max_bytes, struct str *out, struct err *e)
{
	char buf[16384];
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0) {
		str_add(out, buf, (size_t)n);
		if (out->len > max_bytes)
			return err_set(e, ERR_LIMIT, "%s has more than %zu bytes", name,
				max_bytes);
	}
	if (n == 0)
		return 0;
	if (errno != EAGAIN)
		return err_errno(e, ERR_IO, errno, "read %s", name);
	/* Of /proc, or a stdin that its owner has made so. */
	return err_set(e, ERR_INVALID, "%s does not end: more may come later", name);
}

/* The descriptor of a file that ends, or -1: reading a FIFO, a terminal or a device may
 * wait for ever. */
static int
open_regular(const char *path, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return err_errno(e, errno == ENOENT ? ERR_NOTFOUND : ERR_IO, errno,
			"open %s", path);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	err_set(e, ERR_INVALID, "%s is not a regular file", path);
	return err_fix(e, "name a file, or - to read stdin");
}

int
document_text(const char *path, size_t max_bytes, struct str *ret_text, struct err *e)
{
	int fd;
	int rc;

	if (strcmp(path, "-") == 0)
		return read_all(STDIN_FILENO, "stdin", max_bytes, ret_text, e);
	fd = open_regular(path, e);
	if (fd < 0)
		return -1;
	rc = read_all(fd, path, max_bytes, ret_text, e);
	close(fd);
	return rc;
}

static bool
is_json(const char *path, const struct document *d)
{
	size_t n = strlen(path);
	const char *text = str_text(&d->text);

	if (strcmp(path, "-") == 0)
		return text[strspn(text, " \t\r\n")] == '{';
	return n > 5 && strcmp(path + n - 5, ".json") == 0;
}

/* "line 7, column 1: ..." becomes "FILE:7:1: ...", as document_place has it. */
static int
name_place(const struct document *d, struct err *e)
{
	size_t line, column;
	int n = 0;

	if (sscanf(e->text, "line %zu, column %zu: %n", &line, &column, &n) != 2 ||
		n == 0)
		return err_ctx(e, "%s", d->name);
	memmove(e->text, e->text + n, strlen(e->text + n) + 1);
	return err_ctx(e, "%s:%zu:%zu", d->name, line, column);
}

int
document_read(const char *path, const struct yaml_member *members, struct document *ret_d,
	struct err *e)
{
	struct document *d = ret_d;
	int rc;

	*d = (struct document){.name = strcmp(path, "-") == 0 ? "stdin" : path};
	if (document_text(path, JSON_MAX_BYTES, &d->text, e) != 0)
		return -1;
	if (is_json(path, d))
		rc = json_parse(str_text(&d->text), d->text.len, &d->doc, e);
	else
		rc = yaml_to_json(str_text(&d->text), d->text.len, members, &d->doc, e);
	return rc == 0 ? 0 : name_place(d, e);
}

/* "... at /drives/0" at the end of the sentence becomes "... in line 4". */
static void
name_line(const struct document *d, struct err *e)
{
	char *at = strstr(e->text, " at /");
	char pointer[sizeof(e->text)];
	size_t line, column;

	if (at == NULL || strchr(at + 4, ' ') != NULL)
		return;
	snprintf(pointer, sizeof(pointer), "%s", at + 4);
	if (yaml_find(str_text(&d->text), d->text.len, pointer, &line, &column) == 0)
		snprintf(at, sizeof(e->text) - (size_t)(at - e->text), " in line %zu",
			line);
}

int
document_place(const struct document *d, struct err *e)
{
	size_t line, column;

	name_line(d, e);
	if (e->pointer[0] != '/' || yaml_find(str_text(&d->text), d->text.len, e->pointer,
					    &line, &column) != 0)
		return err_ctx(e, "%s", d->name);
	return err_ctx(e, "%s:%zu:%zu", d->name, line, column);
}

void
document_fini(struct document *d)
{
	str_fini(&d->text);
	json_decref(d->doc);
	d->doc = NULL;
}
