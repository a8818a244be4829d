#include "runner/smartctl.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/json.h"
#include "common/str.h"

#define NOT_INSTALLED "smartctl is not installed (package smartmontools)"
#define DRIVE_FD 3
#define WAIT_NS (30 * NS_PER_S)
#define HURRY_NS (3 * NS_PER_S)
#define LOOK_MS 100

/* Bits of its exit status (smartctl(8)): the command line, or the open, failed. Others
 * tell of the drive, and come with everything else. */
#define EXIT_FAILED 0x03

/* What a child of posix_spawn(3) ends with that could not execute its program, where that
 * was not found out before. */
#define EXIT_NOT_EXECUTED 127

static int
start(const char *program, int fd, bool ata, int out, pid_t *ret_pid)
{
	char *argv[] = {(char *)(uintptr_t) "smartctl", (char *)(uintptr_t) "-j",
		(char *)(uintptr_t) "-i", (char *)(uintptr_t) "-H",
		(char *)(uintptr_t) "-A", (char *)(uintptr_t) "-l",
		(char *)(uintptr_t) "error", (char *)(uintptr_t) "-d",
		(char *)(uintptr_t)(ata ? "sat" : "scsi"),
		(char *)(uintptr_t) "/dev/fd/3", NULL};
	posix_spawn_file_actions_t fa;
	int rc;

	posix_spawn_file_actions_init(&fa);
	rc = posix_spawn_file_actions_addopen(
		&fa, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(&fa, out, STDOUT_FILENO);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(&fa, fd, DRIVE_FD);
	if (rc == 0)
		rc = posix_spawn_file_actions_addclosefrom_np(&fa, DRIVE_FD + 1);
	if (rc == 0)
		rc = posix_spawnp(ret_pid, program, &fa, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	return rc;
}

/* Reads to the end of the output; false when it takes too long or too much. */
static bool
read_all(int in, const atomic_bool *hurry, struct str *out)
{
	bool hurried = hurry == NULL;
	int64_t until = clock_mono() + WAIT_NS;
	char part[4096];

	for (;;) {
		struct pollfd p = {.fd = in, .events = POLLIN};
		int64_t now = clock_mono();
		int64_t left;
		ssize_t n;

		if (!hurried && atomic_load(hurry)) {
			hurried = true;
			if (until > now + HURRY_NS)
				until = now + HURRY_NS;
		}
		left = until - now;
		if (left <= 0 || out->len > JSON_MAX_BYTES)
			return false;
		left = left / NS_PER_MS + 1;
		if (poll(&p, 1, left < LOOK_MS ? (int)left : LOOK_MS) <= 0)
			continue;
		n = read(in, part, sizeof(part));
		if (n == 0)
			return true;
		if (n > 0)
			str_add(out, part, (size_t)n);
		else if (errno != EINTR)
			return false;
	}
}

/* Collects the process, and ends it first when it is not to go on. */
static int
collect(pid_t pid, bool finished)
{
	int status = 0;

	if (!finished)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The first thing that it has to say about itself. */
static const char *
message_of(const json_t *printed)
{
	const json_t *list = json_object_get(
		json_object_get(printed, "smartctl"), "messages");
	const char *text = json_text_of(json_array_get(list, 0), "string");

	return text[0] != '\0' ? text : "it does not say why";
}

static int
understand(const struct str *text, int code, json_t **ret_doc, struct err *e)
{
	json_t *printed = NULL;
	int rc = 0;

	if (code == EXIT_NOT_EXECUTED && text->len == 0)
		return err_set(e, ERR_NOTFOUND, NOT_INSTALLED);
	if (json_parse(str_text(text), text->len, &printed, e) != 0)
		return err_ctx(e, "what smartctl prints");
	if (code < 0 || (code & EXIT_FAILED) != 0)
		rc = err_set(e, ERR_IO, "smartctl: %.200s", message_of(printed));
	else
		*ret_doc = smartctl_pick(printed);
	json_decref(printed);
	return rc;
}

int
smartctl_read(const char *program, int fd, bool ata, const atomic_bool *hurry,
	json_t **ret_doc, struct err *e)
{
	struct str text = {0};
	int ends[2], rc, code;
	bool finished;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return err_errno(e, ERR_IO, errno, "a pipe from smartctl");
	rc = start(program, fd, ata, ends[1], &pid);
	close(ends[1]);
	if (rc != 0) {
		close(ends[0]);
		return rc == ENOENT ? err_set(e, ERR_NOTFOUND, NOT_INSTALLED)
				    : err_errno(e, ERR_IO, rc, "start smartctl");
	}
	finished = read_all(ends[0], hurry, &text);
	close(ends[0]);
	code = collect(pid, finished);
	if (!finished)
		rc = err_set(e, ERR_IO, "smartctl did not answer in time");
	else
		rc = understand(&text, code, ret_doc, e);
	str_fini(&text);
	return rc;
}

/* Copies the member at a path of at most three names, if it is there. */
static void
copy(json_t *to, const char *name, const json_t *from, const char *a, const char *b,
	const char *c)
{
	const json_t *v = json_object_get(from, a);

	if (b != NULL)
		v = json_object_get(v, b);
	if (c != NULL)
		v = json_object_get(v, c);
	if (json_is_integer(v) && json_integer_value(v) >= 0)
		json_put(to, name, json_u64((uint64_t)json_integer_value(v)));
	else if (json_is_boolean(v))
		json_put(to, name, json_boolean(json_is_true(v)));
}

/* Raw values by number and name: "5 Reallocated_Sector_Ct". */
static void
pick_attributes(json_t *o, const json_t *printed)
{
	const json_t *table = json_object_get(
		json_object_get(printed, "ata_smart_attributes"), "table");
	json_t *all = json_object();
	json_t *row;
	size_t i;

	json_array_foreach ((json_t *)(uintptr_t)table, i, row) {
		json_t *id = json_object_get(row, "id");
		char name[80];

		if (!json_is_integer(id))
			continue;
		snprintf(name, sizeof(name), "%d %.60s", (int)json_integer_value(id),
			json_text_of(row, "name"));
		copy(all, name, row, "raw", "value", NULL);
		/* Reported_Uncorrect of ATA drives is what NVMe calls media errors. */
		if (json_integer_value(id) == 187)
			copy(o, "media_errors", row, "raw", "value", NULL);
	}
	if (json_object_size(all) > 0)
		json_put(o, "attributes", json_incref(all));
	json_decref(all);
}

/* SCSI counts what it could not correct by kind of command. */
static void
pick_scsi_errors(json_t *o, const json_t *printed)
{
	static const char *const kinds[] = {"read", "write", "verify"};
	const json_t *log = json_object_get(printed, "scsi_error_counter_log");
	json_int_t sum = 0;

	if (!json_is_object(log))
		return;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		json_t *n = json_object_get(
			json_object_get(log, kinds[i]), "total_uncorrected_errors");

		if (json_is_integer(n) && json_integer_value(n) > 0)
			sum += json_integer_value(n);
	}
	json_put(o, "media_errors", json_u64((uint64_t)sum));
}

json_t *
smartctl_pick(const json_t *printed)
{
	json_t *o = json_object();
	const json_t *version = json_object_get(
		json_object_get(printed, "smartctl"), "version");

	json_put(o, "version",
		json_sprintf("%d.%d", (int)json_integer_value(json_array_get(version, 0)),
			(int)json_integer_value(json_array_get(version, 1))));
	copy(o, "passed", printed, "smart_status", "passed", NULL);
	copy(o, "temperature_c", printed, "temperature", "current", NULL);
	copy(o, "power_on_hours", printed, "power_on_time", "hours", NULL);
	copy(o, "power_cycles", printed, "power_cycle_count", NULL, NULL);
	copy(o, "percentage_used", printed, "scsi_percentage_used_endurance_indicator",
		NULL, NULL);
	copy(o, "grown_defects", printed, "scsi_grown_defect_list", NULL, NULL);
	copy(o, "error_log_entries", printed, "ata_smart_error_log", "summary", "count");
	pick_attributes(o, printed);
	pick_scsi_errors(o, printed);
	return o;
}
