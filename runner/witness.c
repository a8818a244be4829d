#include "runner/witness.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/crc32c.h"
#include "common/err.h"
#include "common/str.h"
#include "common/sysfs.h"
#include "common/xalloc.h"
#include "runner/purge.h"
#include "runner/readback.h"

/* Fields of /sys/block/NAME/stat, from 0 (Documentation/block/stat.rst of Linux). */
#define STAT_WRITTEN 6
#define STAT_DISCARDED 13

#define SEED 1

/* The word at the nth place of a line, 0 when it is not there. */
static uint64_t
nth_number(const char *line, int n)
{
	char *end;

	for (;; n--) {
		uint64_t x = strtoull(line, &end, 10);

		if (end == line)
			return 0;
		if (n == 0)
			return x;
		line = end;
	}
}

static bool
add_counters(const char *dir, uint64_t *written, uint64_t *discarded)
{
	char line[256];

	/* what is not counted stays as it was, whatever is written */
	if (sysfs_read(dir, "queue/iostats", line, sizeof(line)) &&
		strcmp(line, "0") == 0)
		return false;
	if (!sysfs_read(dir, "stat", line, sizeof(line)))
		return false;
	*written += nth_number(line, STAT_WRITTEN);
	*discarded += nth_number(line, STAT_DISCARDED);
	return true;
}

/* The paths of an NVMe drive that shows as one device for all of them. */
struct paths {
	unsigned long subsystem, namespace; /* of nvme1n2: 1 and 2 */
	uint64_t written, discarded;
	unsigned n;
};

/* The number behind a word at *pos, which goes behind it; false when it is not so. */
static bool
take_number(const char **pos, const char *word, unsigned long *ret_n)
{
	size_t len = strlen(word);
	char *end;

	if (strncmp(*pos, word, len) != 0)
		return false;
	*ret_n = strtoul(*pos + len, &end, 10);
	if (end == *pos + len)
		return false;
	*pos = end;
	return true;
}

static bool
add_path(void *arg, const char *dir)
{
	struct paths *p = arg;
	const char *name = sysfs_name(dir);
	unsigned long subsystem, controller, namespace;

	/* nvme1c0n2 is the path of nvme1n2 through controller 0 */
	if (take_number(&name, "nvme", &subsystem) &&
		take_number(&name, "c", &controller) &&
		take_number(&name, "n", &namespace) && *name == '\0' &&
		subsystem == p->subsystem && namespace == p->namespace)
		p->n += add_counters(dir, &p->written, &p->discarded);
	return true;
}

static bool
add_controller(void *arg, const char *dir)
{
	const char *name = sysfs_name(dir);
	unsigned long number;

	if (take_number(&name, "nvme", &number) && *name == '\0')
		sysfs_each(dir, "", add_path, arg);
	return true;
}

bool
witness_counters(const char *dir, uint64_t *ret_written, uint64_t *ret_discarded)
{
	struct paths p = {0};
	const char *name = sysfs_name(dir);

	*ret_written = *ret_discarded = 0;
	if (strstr(dir, "/nvme-subsys") != NULL &&
		take_number(&name, "nvme", &p.subsystem) &&
		take_number(&name, "n", &p.namespace))
		sysfs_each(dir, "..", add_controller, &p);
	if (p.n == 0)
		return strstr(dir, "/nvme-subsys") == NULL &&
		       add_counters(dir, ret_written, ret_discarded);
	*ret_written = p.written;
	*ret_discarded = p.discarded;
	return true;
}

static void
put_time(const struct stat *st, struct str *out)
{
	str_printf(out, " inode %ju changed %jd.%09ld", (uintmax_t)st->st_ino,
		(intmax_t)st->st_mtim.tv_sec, st->st_mtim.tv_nsec);
}

static int
put_device(const struct stat *st, struct str *out, struct err *e)
{
	char dir[SYSFS_PATH_MAX], seq[32], path[PATH_MAX];
	uint64_t written, discarded;
	struct stat file;

	if (!sysfs_block_dir(st->st_rdev, dir) ||
		!witness_counters(dir, &written, &discarded))
		return err_set(e, ERR_IO,
			"the kernel counts nothing of the drive (queue/iostats)");
	if (sysfs_read(dir, "diskseq", seq, sizeof(seq)))
		str_printf(out, " attached %s", seq);
	str_printf(out, " written %" PRIu64 " discarded %" PRIu64, written, discarded);
	if (sysfs_read(dir, "loop/backing_file", path, sizeof(path)) &&
		stat(path, &file) == 0)
		put_time(&file, out);
	return 0;
}

static int
put_sample(const struct purge_job *j, struct str *out, struct err *e)
{
	struct purge_job job = *j;
	struct readback *r = xcalloc(1, sizeof(*r));
	uint32_t crc = 0;
	int rc;

	job.seed = SEED;
	rc = readback_take(&job, r, e);
	for (uint32_t i = 0; i < r->n; i++)
		crc = crc32c(crc, &r->blocks[i].crc, sizeof(r->blocks[i].crc));
	str_printf(out, " sample %08" PRIx32, crc);
	free(r);
	return rc;
}

int
witness_take(const struct purge_job *j, char ret_text[WITNESS_MAX], struct err *e)
{
	char boot[48];
	struct str out = {0};
	struct stat st;
	int rc = 0;

	ret_text[0] = '\0';
	if (fstat(j->fd, &st) != 0)
		return err_errno(e, ERR_IO, errno, "look at the drive");
	sysfs_read("/proc/sys/kernel/random", "boot_id", boot, sizeof(boot));
	str_printf(&out, "boot %s", boot);
	if (S_ISBLK(st.st_mode))
		rc = put_device(&st, &out, e);
	else
		put_time(&st, &out);
	if (rc == 0)
		rc = put_sample(j, &out, e);
	if (rc == 0)
		snprintf(ret_text, WITNESS_MAX, "%s", str_text(&out));
	str_fini(&out);
	return rc;
}

/* What it means that a word has another value. */
static const struct meaning {
	const char *word;
	const char *text; /* behind how much more it is, where it counts */
	bool counts;
} meanings[] = {
	{"boot", "its node was started anew", false},
	{"attached", "it was attached anew", false},
	{"written", " sectors were written to it", true},
	{"discarded", " sectors of it were discarded", true},
	{"inode", "it is another file", false},
	{"changed", "its file was changed", false},
	{"sample", "its data were changed", false},
};

/* The value behind a word of a witness, "" when it has none. */
static void
value_of(const char *text, const char *word, char *ret_value, size_t size)
{
	size_t n = strlen(word);

	ret_value[0] = '\0';
	for (const char *p = text; p != NULL; p = strchr(p, ' ')) {
		p += *p == ' ';
		if (strncmp(p, word, n) != 0 || p[n] != ' ')
			continue;
		snprintf(
			ret_value, size, "%.*s", (int)strcspn(p + n + 1, " "), p + n + 1);
		return;
	}
}

void
witness_differ(const char *before, const char *now, struct str *out)
{
	const char *between = "";

	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++) {
		const struct meaning *m = &meanings[i];
		char was[48], is[48];

		value_of(before, m->word, was, sizeof(was));
		value_of(now, m->word, is, sizeof(is));
		if (strcmp(was, is) == 0)
			continue;
		str_puts(out, between);
		if (m->counts)
			str_printf(
				out, "%" PRIu64, nth_number(is, 0) - nth_number(was, 0));
		str_puts(out, m->text);
		between = ", ";
		/* counters of another boot or device are others */
		if (i < 2)
			return;
	}
}
