/*
 * What the system tests cannot do in a shell. One command per call, answers on stdout:
 *
 *   drive PATH [SERIAL]  identity as in a run program, then its key; with another serial
 *   reasons PATH KEEP    why the guard would not have it written to; KEEP is its
 *                        keep_path
 *   hold PATH            keeps it open exclusively until standard input ends
 *   map PATH             keeps it mapped, shared and with no descriptor, just so
 *   ring PATH            keeps it registered with io_uring, just so
 *   spool DIR            each record: number, kind, JSON
 *   steps SUITE PATH     the steps of a suite for that drive, then its region's length
 *   ask DIR JSON         sends a message to the runner's socket and prints the answer
 */
#include <fcntl.h>
#include <inttypes.h>
#include <linux/io_uring.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/drive.h"
#include "common/err.h"
#include "common/guard.h"
#include "common/json.h"
#include "common/program.h"
#include "common/spool.h"
#include "common/str.h"
#include "common/suite.h"

static int
say(const struct err *e)
{
	fprintf(stderr, "helper: %s\n", e->text);
	return 1;
}

static int
say_errno(const char *what)
{
	fprintf(stderr, "helper: ");
	perror(what);
	return 1;
}

static int
print_drive(const char *path, const char *serial)
{
	struct drive_id id;
	struct err e = {0};
	struct str text = {0};
	char key[96];
	json_t *doc;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return say_errno(path);
	if (drive_identify(fd, path, &id, &e) != 0)
		return say(&e);
	if (serial != NULL)
		snprintf(id.serial, sizeof(id.serial), "%s", serial);
	drive_key(&id, key);
	doc = drive_to_json(&id);
	json_write(doc, &text);
	printf("%s\n%s\n", str_text(&text), key);
	json_decref(doc);
	str_fini(&text);
	close(fd);
	return 0;
}

static int
print_reasons(const char *path, const char *keep_path)
{
	struct str reasons = {0};
	struct err e = {0};
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return say_errno(path);
	if (guard_check(fd, GUARD_CLAIM, keep_path, &reasons, &e) != 0)
		return say(&e);
	printf("%s\n", str_text(&reasons));
	str_fini(&reasons);
	close(fd);
	return 0;
}

static int
held(void)
{
	char c;

	printf("held\n");
	fflush(stdout);
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	return 0;
}

static int
hold(const char *path)
{
	int fd = open(path, O_RDONLY | O_EXCL | O_CLOEXEC);

	return fd < 0 ? say_errno(path) : held();
}

static int
map(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		return say_errno(path);
	close(fd);
	return held();
}

static int
ring(const char *path)
{
	struct io_uring_params p = {0};
	int fd = open(path, O_RDWR | O_CLOEXEC);
	int r = (int)syscall(SYS_io_uring_setup, 2, &p);

	if (fd < 0 || r < 0 ||
		syscall(SYS_io_uring_register, r, IORING_REGISTER_FILES, &fd, 1) != 0)
		return say_errno(path);
	close(fd);
	return held();
}

static json_t *
sample_doc(const struct spool_record *rec, struct err *e)
{
	static struct sample s;
	json_t *o;

	if (sample_decode(&s, rec->payload, rec->len, e) != 0)
		return NULL;
	o = json_object();
	json_put(o, "point", json_integer(s.point));
	json_put(o, "second", json_integer(s.second));
	json_put(o, "flags", json_integer(s.flags));
	json_put(o, "ops", json_u64(s.ops[DIR_READ] + s.ops[DIR_WRITE]));
	return o;
}

static json_t *
point_doc(const struct spool_record *rec, struct err *e)
{
	static struct point_record p;

	return point_decode(&p, rec->payload, rec->len, e) == 0 ? p.meta : NULL;
}

static int
print_record(const struct spool_record *rec, struct err *e)
{
	static const char *const kinds[] = {
		"?", "event", "sample", "point", "result", "gap"};
	struct str text = {0};
	json_t *doc = NULL;

	if (rec->kind == RECORD_SAMPLE)
		doc = sample_doc(rec, e);
	else if (rec->kind == RECORD_POINT)
		doc = point_doc(rec, e);
	else if (json_parse((const char *)rec->payload, rec->len, &doc, e) != 0)
		doc = NULL;
	if (doc == NULL)
		return -1;
	json_write(doc, &text);
	printf("%" PRIu64 " %s %s\n", rec->seq,
		kinds[rec->kind <= RECORD_GAP ? rec->kind : 0], str_text(&text));
	json_decref(doc);
	str_fini(&text);
	return 0;
}

static int
print_spool(const char *dir)
{
	struct spool_reader *r = NULL;
	struct spool_record rec;
	struct err e = {0};
	int rc;

	if (spool_reader_open(&r, dir, 1, &e) != 0)
		return say(&e);
	while ((rc = spool_reader_next(r, &rec, &e)) == 1)
		if (print_record(&rec, &e) != 0)
			break;
	spool_reader_close(r);
	return rc == 0 ? 0 : say(&e);
}

/* The steps of a suite for a drive, and the length of its region. */
static int
print_steps(const char *suite_path, const char *drive_path)
{
	static struct suite s;
	struct program p = {0};
	struct suite_drive d;
	struct drive_id id;
	struct err e = {0};
	struct str text = {0};
	json_t *doc = NULL;
	json_t *whole;
	int fd = open(drive_path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return say_errno(drive_path);
	if (drive_identify(fd, drive_path, &id, &e) != 0)
		return say(&e);
	d = suite_drive_of(&id);
	if (json_read_file(suite_path, &doc, &e) != 0 || suite_parse(doc, &s, &e) != 0 ||
		suite_fits(&s, &d, &e) != 0)
		return say(&e);
	suite_compile(&s, &d, &p);
	whole = program_to_json(&p);
	json_write(json_object_get(whole, "steps"), &text);
	printf("%s\n%" PRIu64 "\n", str_text(&text), p.region_length);
	json_decref(whole);
	json_decref(doc);
	program_fini(&p);
	suite_fini(&s);
	str_fini(&text);
	close(fd);
	return 0;
}

static int
ask(const char *dir, const char *message)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	char buf[4096];
	ssize_t n;
	int d = open(dir, O_PATH | O_CLOEXEC);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(sa.sun_path, sizeof(sa.sun_path), "/proc/self/fd/%d/socket", d);
	if (d < 0 || fd < 0 || connect(fd, (struct sockaddr *)&sa, sizeof(sa)) != 0 ||
		send(fd, message, strlen(message), 0) < 0)
		return say_errno(dir);
	n = recv(fd, buf, sizeof(buf), 0);
	if (n <= 0)
		return say_errno("answer");
	printf("%.*s\n", (int)n, buf);
	close(fd);
	close(d);
	return 0;
}

int
main(int argc, char **argv)
{
	const char *verb = argc > 2 ? argv[1] : "";

	if (strcmp(verb, "drive") == 0)
		return print_drive(argv[2], argc > 3 ? argv[3] : NULL);
	if (strcmp(verb, "reasons") == 0 && argc > 3)
		return print_reasons(argv[2], argv[3]);
	if (strcmp(verb, "hold") == 0)
		return hold(argv[2]);
	if (strcmp(verb, "map") == 0)
		return map(argv[2]);
	if (strcmp(verb, "ring") == 0)
		return ring(argv[2]);
	if (strcmp(verb, "spool") == 0)
		return print_spool(argv[2]);
	if (strcmp(verb, "steps") == 0 && argc > 3)
		return print_steps(argv[2], argv[3]);
	if (strcmp(verb, "ask") == 0 && argc > 3)
		return ask(argv[2], argv[3]);
	fprintf(stderr,
		"usage: helper drive|reasons|hold|map|ring|spool|steps|ask ...\n");
	return 2;
}
