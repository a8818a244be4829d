#include "common/flow.h"

#include <math.h>
#include <stdio.h>

#include "common/json.h"
#include "common/str.h"
#include "common/workload.h"
#include "tests/unit/unit.h"

/* A document written with single quotes. */
static json_t *
doc_of(const char *text)
{
	char copy[2048];
	struct err e = {0};
	json_t *doc = NULL;

	snprintf(copy, sizeof(copy), "%s", text);
	for (char *at = copy; *at != '\0'; at++)
		if (*at == '\'')
			*at = '"';
	OK(json_parse(copy, strlen(copy), &doc, &e));
	return doc;
}

static struct workload
workload_in_flight(unsigned in_flight, unsigned workers, const char *members)
{
	char *text = NULL;
	struct workload w;
	struct err e = {0};
	json_t *doc;

	ck_assert_int_gt(asprintf(&text, "{'id':'m','in_flight':%u,'workers':%u,%s}",
				 in_flight, workers, members),
		0);
	doc = doc_of(text);
	OK(workload_parse(doc, "/w", &w, &e));
	json_decref(doc);
	free(text);
	return w;
}

static struct workload
workload_of(const char *members)
{
	return workload_in_flight(8, 2, members);
}

static const char *const good[] = {
	"'read':'70%','access':'random','block':'4KiB'",
	"'read':'70%','random':'30%','block':'4KiB','cursors':3",
	"'read':'70%','access':'random','block':{'64KiB':'40%','4KiB':'60%'}",
	"'read':'100%','access':'random','read_block':'4KiB','align':'512B'",
	"'read':'10%','access':'random','read_block':'4KiB',"
	"'write_block':{'8KiB':'33.3%','16KiB':'33.3%','32KiB':'33.4%'},"
	"'region':{'from':'10%','to':'12.5%'},'distribution':{'zipf':1.1}",
	"'read':'0%','access':'random','block':'4KiB','distribution':'jesd219'",
	"'read':'0%','access':'random','block':'4KiB','distribution':"
	"{'zones':[{'space':'50%','share':'1%'},{'space':'50%','share':'99%'}]}",
	"'streams':[{'share':'99.5%','read':'70%','access':'random','block':'4KiB'},"
	"{'share':'0.5%','read':'0%','access':'sequential','block':'1MiB'}]",
	"'read':'70%','operation':'trim','access':'random','block':'4KiB'",
	"'read':'0%','operation':'write-fua','access':'sequential','block':'4KiB'",
	"'read':'50%','operation':'flush','access':'random','block':'4KiB'",
	"'read':'50%','operation':'flush','access':'random','read_block':'4KiB'",
	"'read':'0%','operation':'flush'",
	"'streams':[{'share':'90%','read':'0%','operation':'write-zeroes',"
	"'access':'random','block':'8KiB'},"
	"{'share':'9%','read':'0%','operation':'trim','access':'random','block':'1MiB'},"
	"{'share':'1%','read':'0%','operation':'flush'}]",
};

/* What a suite says comes to the runner as it was meant, by way of the program. */
START_TEST(the_base_form_of_each_workload_comes_back)
{
	struct workload w = workload_of(good[_i]);
	struct workload back;
	struct str text[2] = {{0}, {0}};
	struct err e = {0};
	json_t *first = workload_to_json(&w);
	json_t *second;

	OK(workload_check(&w, &e));
	OK(workload_from_json(first, "", &back, &e));
	second = workload_to_json(&back);
	json_canonical(first, &text[0]);
	json_canonical(second, &text[1]);
	ck_assert_str_eq(str_text(&text[0]), str_text(&text[1]));
	ck_assert_uint_eq(workload_is_plain(&w), _i == 0);
	ck_assert_uint_eq(json_has(first, "streams"), _i != 0);
	json_decref(first);
	json_decref(second);
	str_fini(&text[0]);
	str_fini(&text[1]);
}
END_TEST

START_TEST(sizes_are_in_order_however_they_were_written)
{
	struct workload a = workload_of(good[2]);
	struct workload b = workload_of(
		"'read':'70%','access':'random','block':{'4096B':'60%','64KiB':'40%'}");
	const struct block_mix *m = &a.streams[0].blocks[DIR_WRITE];

	ck_assert_uint_eq(m->n, 2);
	ck_assert_uint_eq(m->list[0].bytes, 4096);
	ck_assert_double_eq(m->list[0].percent, 60);
	ck_assert(block_mix_equal(m, &b.streams[0].blocks[DIR_READ]));
	ck_assert(!block_mix_equal(m, &(struct block_mix){0}));
	ck_assert_double_eq(
		flow_mean_bytes(&a.streams[0], DIR_READ), 0.6 * 4096 + 0.4 * 65536);
	ck_assert_uint_eq(workload_block_max(&a), 65536);
}
END_TEST

START_TEST(figures_of_the_whole_workload_weigh_its_streams)
{
	struct workload w = workload_of(good[7]);
	double written = 0.995 * 0.3 * 4096 + 0.005 * 1048576;
	double read = 0.995 * 0.7 * 4096;

	ck_assert_double_eq_tol(workload_read_percent(&w), 69.65, 1e-9);
	ck_assert_double_eq_tol(workload_random_percent(&w), 99.5, 1e-9);
	ck_assert_double_eq_tol(
		workload_written_part(&w), written / (written + read), 1e-9);
	ck_assert(workload_writes(&w));
	w = workload_of(good[3]);
	ck_assert(!workload_writes(&w));
	ck_assert_double_eq(workload_written_part(&w), 0);
	ck_assert_double_eq(flow_mean_bytes(&w.streams[0], DIR_WRITE), 0);
}
END_TEST

/* What destroys data, and what is written: zeroes are, trims are not. */
START_TEST(operations_change_the_drive_but_for_flushes)
{
	static const struct {
		const char *operation;
		enum direction dir;
		bool writes;
		double written;
	} cases[OPERATIONS] = {
		[OP_WRITE] = {"write", DIR_WRITE, true, 1},
		[OP_WRITE_FUA] = {"write-fua", DIR_WRITE, true, 1},
		[OP_WRITE_ZEROES] = {"write-zeroes", DIR_ZERO, true, 1},
		[OP_TRIM] = {"trim", DIR_TRIM, true, 0},
		[OP_FLUSH] = {"flush", DIR_FLUSH, false, 0},
	};

	for (unsigned i = 0; i < OPERATIONS; i++) {
		char text[200];
		struct workload w;
		enum operation op;

		snprintf(text, sizeof(text), "'read':'0%%','operation':'%s'%s",
			cases[i].operation,
			i == OP_FLUSH ? "" : ",'access':'random','block':'4KiB'");
		w = workload_in_flight(1, 1, text);
		ck_assert_str_eq(operation_name((enum operation)i), cases[i].operation);
		ck_assert_int_eq(operation_named(cases[i].operation, &op, NULL), 0);
		ck_assert_uint_eq(op, i);
		ck_assert_uint_eq(workload_operations(&w), 1U << i);
		ck_assert_int_eq(workload_writes(&w), cases[i].writes);
		ck_assert_double_eq(workload_written_part(&w), cases[i].written);
		for (unsigned d = 0; d < DIRECTIONS; d++)
			ck_assert_int_eq(flow_uses(&w.streams[0], (enum direction)d),
				d == cases[i].dir);
		ck_assert_int_eq(
			flow_uses_blocks(&w.streams[0], DIR_WRITE), cases[i].writes);
		ck_assert_int_eq(workload_is_plain(&w), i == OP_WRITE);
		ck_assert_uint_eq(workload_block_max(&w), i == OP_FLUSH ? 512 : 4096);
	}
	/* Half the bytes are read, a quarter written, a quarter trimmed. */
	{
		struct workload w = workload_of(
			"'streams':[{'share':'75%','read':'66.666667%','access':"
			"'random','block':'4KiB'},{'share':'25%','read':'0%',"
			"'operation':'trim','access':'random','block':'4KiB'}]");

		ck_assert_double_eq_tol(workload_written_part(&w), 1.0 / 3, 1e-6);
	}
}
END_TEST

static const struct {
	const char *members, *text, *pointer, *fix;
} bad[] = {
	{"'operation':'erase','block':'4KiB'", "is no operation; write, write-fua,",
		"/operation", ""},
	{"'operation':1,'block':'4KiB'", "must be a text", "/operation", ""},
	{"'operation':'flush','read_block':'4KiB','write_block':'4KiB'",
		"a flush has no size", "/write_block", "leave it out"},
	{"'operation':'trim','read_block':'4KiB'", "\"write_block\" is missing",
		"/write_block", ""},
	{"'block':{'4KiB':'60%','64KiB':'30%'}", "sum to 90%", "/block", "100% in all"},
	{"'block':{}", "sum to 0%", "/block", ""},
	{"'block':{'4KiB':'60%','4096B':'40%'}", "given twice", "/block/4096B", ""},
	{"'block':{'4KiB':'0%','8KiB':'100%'}", "leave it out when", "/block/4KiB", ""},
	{"'block':{'4KiB':60}", "must be a text", "/block/4KiB", ""},
	{"'block':{'4K':'100%'}", "not a size", "/block/4K", ""},
	{"'block':{'4KiB':'200%'}", "at most 100%", "/block/4KiB", ""},
	{"'block':4096", "must be a text", "/block", "with their shares"},
	{"'block':'4KiB','read_block':'4KiB'", "not both", "/block", ""},
	{"'read_block':'4KiB'", "\"write_block\" is missing", "/write_block", ""},
	{"'block':'4KiB','align':'1000B'", "a multiple of 512 bytes", "/align", ""},
	{"'block':'4KiB','align':'32MiB'", "at most 16MiB", "/align", ""},
	{"'block':'4KiB','region':'50%'", "object", "/region", ""},
	{"'block':'4KiB','region':{'from':'50%','to':'50%'}", "above \"from\"", "/region",
		""},
	{"'block':'4KiB','region':{'from':'50%','to':'101%'}",
		"an end of a region is at most 100%", "/region/to", ""},
	{"'block':'4KiB','region':{'from':'50%'}", "\"to\" is missing", "/region/to", ""},
	{"'block':'4KiB','cursors':0", "from 1 to 64", "/cursors", ""},
	{"'block':'4KiB','distribution':'pareto'", "is \"uniform\", \"jesd219\"",
		"/distribution", ""},
	{"'block':'4KiB','distribution':7", "is \"uniform\", \"jesd219\"",
		"/distribution", ""},
	{"'block':'4KiB','distribution':{}", "\"zipf\" or \"zones\"", "/distribution",
		""},
	{"'block':'4KiB','distribution':{'zipf':0}", "above 0, at most 5",
		"/distribution/zipf", ""},
	{"'block':'4KiB','distribution':{'zipf':'1'}", "number", "/distribution/zipf",
		""},
	{"'block':{'34KiB':'20%','12KiB':'20%','14KiB':'20%','22KiB':'20%',"
	 "'26KiB':'20%'},'distribution':{'zipf':1}",
		"no common multiple", "/distribution", "for example 4KiB"},
	{"'block':'4KiB','distribution':{'zones':[]}", "0% of the space",
		"/distribution/zones", "both 100%"},
	{"'block':'4KiB','distribution':{'zones':[{'space':'100%','share':'50%'}]}",
		"50% of the I/Os in all", "/distribution/zones", "both 100%"},
	{"'block':'4KiB','distribution':{'zones':[{'space':'0%','share':'50%'}]}",
		"more than 0%", "/distribution/zones/0", ""},
};

START_TEST(each_bad_member_is_refused_with_its_place)
{
	struct workload w;
	struct err e = {0};
	char text[500], pointer[100];
	json_t *doc;

	snprintf(text, sizeof(text),
		"{'id':'a','in_flight':1,'read':'50%%','random':'50%%',%s}",
		bad[_i].members);
	snprintf(pointer, sizeof(pointer), "/w%s", bad[_i].pointer);
	doc = doc_of(text);
	FAILS(workload_parse(doc, "/w", &w, &e), ERR_INVALID, bad[_i].text);
	ck_assert_str_eq(e.pointer, pointer);
	ck_assert_msg(strstr(e.fix, bad[_i].fix) != NULL, "%s", e.fix);
	json_decref(doc);
}
END_TEST

/* The kernel does them one after the other; in a mix others run meanwhile. */
START_TEST(write_zeroes_alone_are_one_at_a_time)
{
	static const struct {
		const char *members;
		bool good;
	} cases[] = {
		{"'in_flight':1,'read':'0%','operation':'write-zeroes'", true},
		{"'in_flight':2,'read':'0%','operation':'write-zeroes'", false},
		{"'in_flight':2,'read':'1%','operation':'write-zeroes'", true},
		{"'in_flight':2,'read':'0%','operation':'trim'", true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct workload w, back;
		struct err e = {0};
		char text[200];
		json_t *doc, *program;

		snprintf(text, sizeof(text),
			"{'id':'a','access':'random','block':'4KiB',%s}",
			cases[i].members);
		doc = doc_of(text);
		if (cases[i].good)
			OK(workload_parse(doc, "/w", &w, &e));
		else
			FAILS(workload_parse(doc, "/w", &w, &e), ERR_INVALID,
				"one after the other, so 2 in flight");
		ck_assert_str_eq(e.pointer, cases[i].good ? "" : "/w/in_flight");
		/* The same as a program and as a load have it. */
		program = workload_to_json(&w);
		err_clear(&e);
		ck_assert_int_eq(workload_check(&w, &e) == 0, cases[i].good);
		err_clear(&e);
		ck_assert_int_eq(
			workload_from_json(program, "/w", &back, &e) == 0, cases[i].good);
		ck_assert_str_eq(e.pointer, cases[i].good ? "" : "/w/in_flight");
		json_decref(program);
		json_decref(doc);
	}
}
END_TEST

START_TEST(members_that_would_do_nothing_are_refused)
{
	static const char *const cases[][2] = {
		{"'read':'1%','access':'sequential','block':'4KiB','align':'4KiB'",
			"/align"},
		{"'read':'1%','access':'sequential','block':'4KiB',"
		 "'distribution':'jesd219'",
			"/distribution"},
		{"'read':'1%','access':'random','block':'4KiB','cursors':2", "/cursors"},
		{"'read':'100%','access':'random','read_block':'4KiB',"
		 "'write_block':'4KiB'",
			"/write_block"},
		{"'read':'100%','operation':'trim','access':'random','block':'4KiB'",
			"/operation"},
		{"'read':'0%','operation':'flush','block':'4KiB'", "/block"},
		{"'read':'0%','operation':'flush','access':'random'", "/access"},
		{"'read':'0%','operation':'flush','region':{}", "/region"},
		{"'operation':'trim','streams':[]", "/operation"},
		{"'read':'1%','streams':[]", "/read"},
		{"'streams':[]", "/streams"},
		{"'streams':[{'share':'60%','read':'1%','access':'random',"
		 "'block':'4KiB'}]",
			"/streams"},
		{"'streams':[{'share':'0%'}]", "/streams/0/share"},
		{"'streams':[{'share':'1%','workers':1}]", "/streams/0/workers"},
		{"'streams':[{'share':'1%','read':'1%'}]", "/streams/0/access"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct workload w;
		struct err e = {0};
		char text[300];
		json_t *doc;

		snprintf(text, sizeof(text), "{'id':'a','in_flight':1,%s}", cases[i][0]);
		doc = doc_of(text);
		FAILS(workload_parse(doc, "", &w, &e), ERR_INVALID, "");
		ck_assert_str_eq(e.pointer, cases[i][1]);
		json_decref(doc);
	}
}
END_TEST

START_TEST(parts_and_zones_follow_each_other)
{
	struct flow s;
	const uint64_t length = 1000003;

	flow_plain(&s, 100, 100, 4096);
	s.from_percent = 10;
	s.to_percent = 30;
	ck_assert_uint_eq(flow_part(&s, length).from, 100000);
	ck_assert_uint_eq(flow_part(&s, length).to, 300000);
	ck_assert_uint_eq(flow_zone_span(&s, 0, length).to, 300000);
	s.from_percent = 0;
	s.to_percent = 100;
	flow_set_jesd219(&s);
	ck_assert_uint_eq(flow_zone_span(&s, 0, length).from, 0);
	for (size_t i = 1; i < 3; i++)
		ck_assert_uint_eq(flow_zone_span(&s, i, length).from,
			flow_zone_span(&s, i - 1, length).to);
	ck_assert_uint_eq(flow_zone_span(&s, 0, length).to, 50000);
	ck_assert_uint_eq(flow_zone_span(&s, 2, length).to, length);
}
END_TEST

START_TEST(positions_are_all_that_fit_and_no_more)
{
	uint64_t first;

	for (uint64_t from = 0; from < 20; from++)
		for (uint64_t to = from; to < 40; to++)
			for (uint64_t bytes = 1; bytes < 9; bytes++)
				for (uint64_t align = 1; align < 9; align++) {
					struct span span = {from, to};
					uint64_t n = 0;
					uint64_t seen = 0;

					for (uint64_t at = to; at-- > from;)
						if (at % align == 0 && at + bytes <= to) {
							n++;
							seen = at;
						}
					ck_assert_uint_eq(span_positions(span, bytes,
								  align, &first),
						n);
					if (n > 0)
						ck_assert_uint_eq(first, seen);
				}
}
END_TEST

START_TEST(pieces_hold_each_size_at_each_alignment)
{
	struct flow s;

	flow_plain(&s, 100, 100, 4096);
	ck_assert_uint_eq(flow_piece_bytes(&s), 4096);
	s.align_bytes = 512;
	ck_assert_uint_eq(flow_piece_bytes(&s), 4096);
	s.align_bytes = 3072;
	ck_assert_uint_eq(flow_piece_bytes(&s), 6144);
	s.align_bytes = 0;
	s.blocks[DIR_WRITE].list[0].bytes = 6144;
	ck_assert_uint_eq(flow_piece_bytes(&s), 12288);
}
END_TEST

START_TEST(what_does_not_fit_is_told)
{
	struct workload w = workload_of(good[0]);
	struct flow *s = &w.streams[0];
	struct err e = {0};

	OK(workload_fits(&w, 1 << 20, 4096, &e));
	FAILS(workload_fits(&w, 1 << 20, 8192, &e), ERR_INVALID,
		"a block of 4KiB is no multiple of the logical block of the drive, 8KiB");
	s->align_bytes = 512;
	FAILS(workload_fits(&w, 1 << 20, 4096, &e), ERR_INVALID,
		"an alignment of 512B is no multiple");
	s->align_bytes = 0;
	flow_set_jesd219(s);
	OK(workload_fits(&w, 20 * 4096, 512, &e));
	FAILS(workload_fits(&w, 20 * 4096 - 512, 512, &e), ERR_INVALID,
		"has no room for a block of 4KiB");
	flow_plain(s, 100, 0, 4096);
	s->cursors = 4;
	OK(workload_fits(&w, 8 * 4096, 512, &e));
	FAILS(workload_fits(&w, 8 * 4096 - 512, 512, &e), ERR_INVALID,
		"no room for 8 sequential cursors with blocks of 4KiB");
	w = workload_of(good[7]);
	FAILS(workload_fits(&w, 1 << 20, 512, &e), ERR_INVALID,
		"stream 1: a part of the region of 1MiB has no room for 2 sequential");
}
END_TEST

START_TEST(a_stream_of_numbers_is_checked_as_one_of_texts)
{
	struct err e = {0};
	struct flow s;

	memset(&s, 0, sizeof(s));
	FAILS(flow_check(&s, &e), ERR_INVALID, "a stream has more than 0%");
	flow_plain(&s, 101, 0, 4096);
	FAILS(flow_check(&s, &e), ERR_INVALID, "0% to 100%");
	flow_plain(&s, (double)NAN, 0, 4096);
	FAILS(flow_check(&s, &e), ERR_INVALID, "0% to 100%");
	flow_plain(&s, 50, 0, 4000);
	FAILS(flow_check(&s, &e), ERR_INVALID, "a multiple of 512");
	flow_plain(&s, 50, 0, 4096);
	s.blocks[DIR_WRITE].n = 0;
	FAILS(flow_check(&s, &e), ERR_INVALID, "no block size to write");
	s.read_percent = 100;
	OK(flow_check(&s, &e));
	s.cursors = 65;
	FAILS(flow_check(&s, &e), ERR_INVALID, "1 to 64 sequential cursors");
	s.cursors = 1;
	s.to_percent = 0;
	FAILS(flow_check(&s, &e), ERR_INVALID, "ends after it begins");
	s.to_percent = 100;
	s.align_bytes = 100;
	FAILS(flow_check(&s, &e), ERR_INVALID, "an alignment is a multiple of 512");
	s.align_bytes = 0;
	s.spread = SPREAD_ZIPF;
	FAILS(flow_check(&s, &e), ERR_INVALID, "above 0, at most 5");
	s.spread = SPREAD_ZONES;
	FAILS(flow_check(&s, &e), ERR_INVALID, "0% of the space");
	for (int i = 0; i < FLOW_ZONES_MAX; i++)
		OK(flow_add_zone(&s, 12.5, 12.5, &e));
	OK(flow_check(&s, &e));
	FAILS(flow_add_zone(&s, 1, 1, &e), ERR_INVALID, "at most 8 zones");
	s.blocks[DIR_READ].n = 0;
	for (uint32_t i = 1; i <= FLOW_BLOCKS_MAX; i++)
		OK(block_mix_add(&s.blocks[DIR_READ], i * 512, 6.25, &e));
	OK(flow_check(&s, &e));
	FAILS(block_mix_add(&s.blocks[DIR_READ], 65536, 1, &e), ERR_INVALID,
		"at most 16 block sizes");
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("flow");

	tcase_add_loop_test(tc, the_base_form_of_each_workload_comes_back, 0,
		(int)(sizeof(good) / sizeof(good[0])));
	tcase_add_test(tc, sizes_are_in_order_however_they_were_written);
	tcase_add_test(tc, operations_change_the_drive_but_for_flushes);
	tcase_add_test(tc, figures_of_the_whole_workload_weigh_its_streams);
	tcase_add_loop_test(tc, each_bad_member_is_refused_with_its_place, 0,
		(int)(sizeof(bad) / sizeof(bad[0])));
	tcase_add_test(tc, members_that_would_do_nothing_are_refused);
	tcase_add_test(tc, write_zeroes_alone_are_one_at_a_time);
	tcase_add_test(tc, parts_and_zones_follow_each_other);
	tcase_add_test(tc, positions_are_all_that_fit_and_no_more);
	tcase_add_test(tc, pieces_hold_each_size_at_each_alignment);
	tcase_add_test(tc, what_does_not_fit_is_told);
	tcase_add_test(tc, a_stream_of_numbers_is_checked_as_one_of_texts);
	return unit_run("flow", tc);
}
