#include "runner/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/json.h"
#include "common/parse.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "runner/chore.h"
#include "runner/console.h"
#include "runner/journal.h"
#include "runner/load_fio.h"
#include "runner/target.h"
#include "runner/verify.h"

/* The null engine has no end. */
#define NULL_BYTES (UINT64_C(1) << 40)

/* How often the journal is made durable. */
#define SYNC_NS NS_PER_S

/* Known blocks of a journal, bytes: the largest up to here that the load's block is
 * whole ones of. */
#define JOURNAL_BLOCK 4096

static int
sync_journal(void *journal, struct err *e)
{
	return journal_sync(journal, e);
}

/* arg: what keeps the journal durable, or NULL. */
static bool
go_on(void *arg)
{
	return !console_interrupted() && (arg == NULL || !chore_failed(arg));
}

static int
open_target(const struct bench_options *o, struct target *ret_t, struct err *e)
{
	if (o->load.engine->no_device) {
		*ret_t = (struct target){-1, NULL_BYTES, 512};
		return 0;
	}
	if (!workload_writes(&o->load.workload))
		return target_open_read(o->target, ret_t, e);
	if (!o->allow_write) {
		ret_t->fd = -1;
		err_set(e, ERR_UNSAFE,
			"this load writes to %s and would destroy the data on it",
			o->target);
		return err_fix(e, "add --allow-write when the data may be lost, or %s",
			o->file != NULL ? "let the workload only read"
					: "use --read 100");
	}
	return target_open_write(o->target, ret_t, e);
}

/* Gives the load the target, all of it that is whole blocks. */
static int
aim(struct load *l, const char *name, const struct target *t, struct err *e)
{
	uint32_t block_bytes = workload_block_max(&l->workload);
	char block[40];

	if (t->bytes < block_bytes)
		return err_set(e, ERR_INVALID,
			"%s holds %llu bytes, which is less than one block of %s", name,
			(unsigned long long)t->bytes,
			format_size(block_bytes, block, sizeof(block)));
	l->fd = t->fd;
	l->align_bytes = t->align_bytes;
	l->length = t->bytes - t->bytes % block_bytes;
	return load_check(l, e);
}

static int
open_journal(const struct bench_options *o, const struct target *t,
	struct journal **ret_j, struct err *e)
{
	uint32_t block = JOURNAL_BLOCK;
	struct journal_config c = {.seed = o->load.seed};

	while (block > 512 && workload_unit(&o->load.workload) % block != 0)
		block /= 2;
	c.block_bytes = block;
	c.length = t->bytes - t->bytes % block;
	if (o->fio)
		return err_set(e, ERR_INVALID, "fio knows no journal to verify by");
	/* Before a file is made that would stay behind. */
	if (load_check_verifiable(&o->load, e) != 0)
		return -1;
	if (target_key(t, o->target, c.drive, e) != 0)
		return -1;
	return journal_open(ret_j, o->journal, &c, e);
}

static int
run_load(const struct bench_options *o, struct load_result *r, struct err *e)
{
	return o->fio ? load_fio_run(&o->load, r, e) : load_run(&o->load, r, e);
}

/*
 * Runs the load with its data checked. What was found stands in r also when the journal
 * could not be kept: *ret_journal then tells why.
 */
static int
run_verified(struct bench_options *o, const struct target *t, struct load_result *r,
	struct err *ret_journal, struct err *e)
{
	struct load *l = &o->load;
	struct chore *chore = NULL;
	struct journal *j;
	int failed;

	if (open_journal(o, t, &j, e) != 0)
		return -1;
	l->verify = verify_new(j);
	failed = chore_start(&chore, sync_journal, j, SYNC_NS, e);
	l->arg = chore;
	if (failed == 0)
		failed = run_load(o, r, e);
	verify_free(l->verify);
	l->verify = NULL;
	l->arg = NULL;
	chore_stop(chore, ret_journal);
	journal_close(j, ret_journal);
	if (ret_journal->class != ERR_NONE)
		err_ctx(ret_journal, "%s", o->journal);
	return failed;
}

static int
run(struct bench_options *o, struct load_result *r, struct err *ret_journal,
	struct err *e)
{
	struct load *l = &o->load;
	struct target t;
	int failed;

	if (open_target(o, &t, e) != 0)
		return -1;
	failed = aim(l, o->target, &t, e);
	if (failed != 0)
		goto out;
	l->on_tick = go_on;
	console_catch();
	if (workload_read_percent(&l->workload) > 0 && target_has_holes(&t))
		fprintf(stderr,
			"ssdlab-runner: warning: parts of %s were never written, and "
			"reads of holes touch no medium\n",
			o->target);
	failed = o->journal != NULL ? run_verified(o, &t, r, ret_journal, e)
				    : run_load(o, r, e);
out:
	target_close(&t);
	return failed;
}

static void
print(const struct bench_options *o, const struct load_result *r)
{
	struct str out = {0};

	if (o->json) {
		json_t *doc = bench_to_json(o, r);

		json_write(doc, &out);
		str_puts(&out, "\n");
		json_decref(doc);
	} else {
		bench_to_text(o, r, &out);
	}
	/* What cannot be written is told by console_end. */
	fwrite(out.data, 1, out.len, stdout);
	fflush(stdout);
	str_fini(&out);
}

static int
exit_code(const struct load_result *r)
{
	if (r->end == LOAD_FAILED || verify_bad(&r->verify) > 0)
		return EXIT_FAILURE;
	return r->end == LOAD_STOPPED ? CONSOLE_STOPPED : EXIT_SUCCESS;
}

int
bench_command(int argc, char **argv)
{
	struct bench_options o;
	struct load_result *r;
	struct err e = {0}, journal = {0};
	bool help;
	int code = EXIT_SUCCESS;

	if (bench_parse(argc, argv, &o, &help, &e) != 0)
		return console_complain(&e);
	if (help) {
		struct str text = {0};

		bench_help(&text);
		fputs(str_text(&text), stdout);
		str_fini(&text);
		return EXIT_SUCCESS;
	}
	r = xcalloc(1, sizeof(*r));
	if (run(&o, r, &journal, &e) != 0) {
		code = console_complain(&e);
	} else {
		print(&o, r);
		code = exit_code(r);
	}
	if (journal.class != ERR_NONE) {
		int because = console_complain(&journal);

		code = code == EXIT_SUCCESS || code == CONSOLE_STOPPED ? because : code;
	}
	free(r);
	return code;
}
