#include "runner/verify_cmd.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "common/str.h"
#include "runner/console.h"
#include "runner/journal.h"
#include "runner/target.h"
#include "runner/verify_scan.h"

struct verify_options {
	const char *target, *journal;
	bool json, help;
};

static bool
go_on(void *arg)
{
	(void)arg;
	return !console_interrupted();
}

json_t *
verify_to_json(const struct verify_report *r)
{
	json_t *o = json_object();
	json_t *sectors = json_object();
	json_t *first = json_array();

	for (int k = 0; k < VERIFY_KINDS; k++)
		json_put(sectors, verify_kind_name((enum verify_kind)k),
			json_u64(r->sectors[k]));
	for (unsigned i = 0; i < r->n; i++) {
		const struct verify_finding *f = &r->first[i];
		json_t *row = json_object();

		json_put(row, "kind", json_string(verify_kind_name(f->kind)));
		json_put(row, "offset_bytes", json_u64(f->offset));
		json_put(row, "expected", json_string(f->expected));
		json_put(row, "seen", json_string(f->seen));
		json_array_append_new(first, row);
	}
	json_put(o, "bad", json_u64(verify_bad(r)));
	json_put(o, "sectors", sectors);
	json_put(o, "begun_blocks", json_u64(r->begun.blocks));
	json_put(o, "begun_there", json_u64(r->begun.there));
	json_put(o, "begun_partly", json_u64(r->begun.partly));
	json_put(o, "forgotten_blocks", json_u64(r->forgotten.blocks));
	json_put(o, "forgotten_there", json_u64(r->forgotten.there));
	json_put(o, "forgotten_partly", json_u64(r->forgotten.partly));
	json_put(o, "redraws", json_u64(r->redraws));
	json_put(o, "first", first);
	return o;
}

static void
put_later(struct str *out, const struct verify_later *l, const char *what)
{
	if (l->blocks > 0)
		str_printf(out,
			"          %" PRIu64 " blocks %s: %" PRIu64 " there, %" PRIu64
			" in part\n",
			l->blocks, what, l->there, l->partly);
}

void
verify_to_text(const struct verify_report *r, struct str *out)
{
	str_printf(out,
		"verify    %" PRIu64 " sectors good, %" PRIu64 " bad, %" PRIu64
		" unknown\n",
		r->sectors[VERIFY_GOOD], verify_bad(r), r->sectors[VERIFY_UNKNOWN]);
	put_later(out, &r->begun, "with writes that nobody acknowledged");
	put_later(out, &r->forgotten,
		"may have been written and forgotten when the host stopped");
	if (r->redraws > 0)
		str_printf(out,
			"          %" PRIu64
			" times a write met one in flight, and went elsewhere\n",
			r->redraws);
	for (int k = VERIFY_UNKNOWN + 1; k < VERIFY_KINDS; k++)
		if (r->sectors[k] > 0)
			str_printf(out, "          %" PRIu64 " %s\n", r->sectors[k],
				verify_kind_name((enum verify_kind)k));
	for (unsigned i = 0; i < r->n; i++)
		str_printf(out, "          byte %" PRIu64 ": %s: expected %s, seen %s\n",
			r->first[i].offset, verify_kind_name(r->first[i].kind),
			r->first[i].expected, r->first[i].seen);
}

static void
help(void)
{
	fputs("usage: ssdlab-runner verify TARGET --journal FILE [-o FORM]\n"
	      "Reads every block that the journal of bench --verify knows and\n"
	      "says what is wrong.\n\n"
	      "  --journal FILE    what was written, from bench --verify FILE\n"
	      "  --output FORM     -o FORM: table or json (table)\n",
		stdout);
}

static int
parse(int argc, char **argv, struct verify_options *o, struct err *e)
{
	static const struct option rows[] = {{"journal", required_argument, NULL, 'j'},
		{"output", required_argument, NULL, 'o'},
		{"help", no_argument, NULL, 'h'}, {0}};
	int c;

	optind = 0;
	opterr = 0;
	/* One thread so far. NOLINTNEXTLINE(concurrency-mt-unsafe) */
	while ((c = getopt_long(argc, argv, ":ho:", rows, NULL)) != -1) {
		if (c == 'h') {
			o->help = true;
			return 0;
		}
		if (c == ':')
			return err_set(e, ERR_INVALID,
				"%s needs a value; try verify --help", argv[optind - 1]);
		if (c == '?')
			return err_set(e, ERR_INVALID,
				"%.40s is not an option of verify; try verify --help",
				argv[optind - 1]);
		if (c == 'j')
			o->journal = optarg;
		else if (strcmp(optarg, "json") != 0 && strcmp(optarg, "table") != 0)
			return err_set(e, ERR_INVALID,
				"--output: \"%.40s\" is neither table nor json", optarg);
		else
			o->json = strcmp(optarg, "json") == 0;
	}
	if (argc - optind != 1)
		return err_set(e, ERR_INVALID,
			"name one target, a block device or a file; try verify --help");
	o->target = argv[optind];
	if (o->journal != NULL)
		return 0;
	err_set(e, ERR_INVALID, "without a journal nothing is known of %s", o->target);
	return err_fix(e, "add --journal with the file that bench --verify has written");
}

static int
read_all(const struct verify_options *o, const struct journal *j, struct verify_report *r,
	bool *ret_whole, struct err *e)
{
	char key[JOURNAL_DRIVE_MAX];
	struct target t;
	int failed;

	if (target_open_read(o->target, &t, e) != 0)
		return -1;
	console_catch();
	failed = target_key(&t, o->target, key, e);
	if (failed == 0 && journal_is_of(j, key, e) != 0)
		failed = err_ctx(e, "%s", o->journal);
	if (failed == 0 && journal_config(j)->block_bytes % t.align_bytes != 0)
		failed = err_set(e, ERR_INVALID,
			"the blocks of the journal, %" PRIu32
			" bytes, are no multiple of the drive's %" PRIu32,
			journal_config(j)->block_bytes, t.align_bytes);
	if (failed == 0)
		failed = verify_scan(j, t.fd, go_on, NULL, r, e);
	*ret_whole = failed == 0;
	target_close(&t);
	return failed < 0 ? -1 : 0;
}

static void
print(const struct verify_options *o, const struct verify_report *r, bool whole)
{
	struct str out = {0};

	if (o->json) {
		json_t *doc = verify_to_json(r);

		json_put(doc, "schema", json_string("ssdlab/verify/v1"));
		json_put(doc, "target", json_text(o->target));
		json_put(doc, "state", json_string(whole ? "done" : "stopped"));
		json_write(doc, &out);
		str_puts(&out, "\n");
		json_decref(doc);
	} else {
		verify_to_text(r, &out);
		if (!whole)
			str_puts(&out, "ended     stopped: not all was read\n");
	}
	/* What cannot be written is told by console_end. */
	fwrite(out.data, 1, out.len, stdout);
	str_fini(&out);
}

static int
run(const struct verify_options *o, struct verify_report *r, bool *ret_whole,
	struct err *e)
{
	struct journal *j;
	int failed;

	if (journal_read(&j, o->journal, e) != 0)
		return -1;
	failed = read_all(o, j, r, ret_whole, e);
	journal_close(j, NULL);
	return failed;
}

int
verify_exit_code(const struct verify_report *r, bool whole)
{
	if (verify_bad(r) > 0)
		return EXIT_FAILURE;
	return whole ? EXIT_SUCCESS : CONSOLE_STOPPED;
}

int
verify_command(int argc, char **argv)
{
	struct verify_options o = {0};
	struct verify_report r = {0};
	struct err e = {0};
	bool whole;

	if (parse(argc, argv, &o, &e) == 0 && o.help) {
		help();
		return EXIT_SUCCESS;
	}
	if (e.class != ERR_NONE || run(&o, &r, &whole, &e) != 0)
		return console_complain(&e);
	print(&o, &r, whole);
	return verify_exit_code(&r, whole);
}
