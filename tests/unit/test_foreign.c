/*
 * Files of other tools as foreign results: folders of cases, each with input, and
 * doc.json or error; and numbers that are known beforehand.
 */
#include "cli/foreign.h"
#include "common/hist.h"
#include "tests/unit/cases.h"

typedef int read_fn(const char *text, size_t len, const struct foreign_origin *o,
	json_t **ret_doc, struct err *e);

static const struct foreign_origin origin = {"file", ""};

static void
check_case(const char *dir, const char *name, read_fn *read)
{
	struct str text = {0}, want = {0};
	struct err e = {0};
	json_t *doc = NULL, *expected = NULL;
	char *got;

	case_read(dir, name, "input", &text);
	if (read(str_text(&text), text.len, &origin, &doc, &e) != 0) {
		ck_assert_ptr_null(doc);
		str_reset(&text);
		str_printf(&text, "%s\n", e.text);
		case_read(dir, name, "error", &want);
		ck_assert_msg(strcmp(str_text(&text), str_text(&want)) == 0,
			"%s/%s says:\n%s", dir, name, str_text(&text));
	} else {
		got = json_dumps(doc, JSON_INDENT(1));
		case_read(dir, name, "doc.json", &want);
		ck_assert_msg(want.len > 0, "%s/%s gives:\n%.8000s", dir, name, got);
		expected = json_loads(str_text(&want), 0, NULL);
		ck_assert_msg(json_equal(doc, expected), "%s/%s gives:\n%.8000s", dir,
			name, got);
		free(got);
	}
	json_decref(expected);
	json_decref(doc);
	str_fini(&text);
	str_fini(&want);
}

static void
check_cases(const char *dir, read_fn *read)
{
	char *path = xasprintf("%s/%s", TESTS_DATA_DIR, dir);
	struct dirent **list;
	int n = scandir(path, &list, NULL, alphasort);
	int cases = 0;

	ck_assert_msg(n >= 0, "%s: %s", path, strerror(errno));
	for (int i = 0; i < n; i++) {
		if (list[i]->d_name[0] != '.') {
			check_case(dir, list[i]->d_name, read);
			cases++;
		}
		free(list[i]);
	}
	free(list);
	free(path);
	ck_assert_int_gt(cases, 4);
}

START_TEST(each_result_of_fio_becomes_its_document)
{
	check_cases("foreign-fio", foreign_fio);
}
END_TEST

START_TEST(each_flat_file_of_vdbench_becomes_its_document)
{
	check_cases("foreign-vdbench", foreign_vdbench);
}
END_TEST

START_TEST(each_published_table_becomes_its_documents)
{
	check_cases("foreign-published", foreign_published);
}
END_TEST

START_TEST(a_metric_that_is_not_known_is_told_which_are)
{
	static const char text[] =
		"drive,workload,point,metric,value,unit,quality,source,note\n"
		"d,w,peak,iops,1,kHz,printed,,\n";
	struct err e = {0};
	json_t *docs;

	FAILS(foreign_published(text, sizeof(text) - 1, &origin, &docs, &e), ERR_INVALID,
		"not known here");
	ck_assert_ptr_nonnull(strstr(e.fix, "known here: iops in 1/s, "));
	ck_assert_ptr_nonnull(strstr(e.fix, "latency_p99 in us or ms, "));
	ck_assert_ptr_nonnull(strstr(e.fix, ", duration in s"));
}
END_TEST

/* What is read from a case, at a path such as "points/0/iops". */
static double
figure(const char *dir, const char *name, read_fn *read, size_t point, const char *member)
{
	struct str text = {0};
	struct err e = {0};
	json_t *doc = NULL;
	double x;

	case_read(dir, name, "input", &text);
	OK(read(str_text(&text), text.len, &origin, &doc, &e));
	x = json_number_value(json_object_get(
		json_array_get(
			json_object_get(json_is_array(doc) ? json_array_get(doc, 0) : doc,
				"points"),
			point),
		member));
	json_decref(doc);
	str_fini(&text);
	return x;
}

START_TEST(units_are_those_of_each_tool)
{
	/* 710.9375 "MB" a second are 91,000 reads of 8 KiB */
	ck_assert_double_eq(figure("foreign-vdbench", "runs-curves-and-loops",
				    foreign_vdbench, 0, "bytes_per_second"),
		91000.0 * 8192);
	ck_assert_double_eq(figure("foreign-vdbench", "runs-curves-and-loops",
				    foreign_vdbench, 0, "lat_mean_ns"),
		350000);
	/* the printed 2.5 GB/s are 2,500 MiB/s */
	ck_assert_double_eq(figure("foreign-published", "bandwidth-is-of-1024",
				    foreign_published, 0, "bytes_per_second"),
		2500.0 * 1048576);
	ck_assert_double_eq(figure("foreign-published", "bandwidth-is-of-1024",
				    foreign_published, 1, "bytes_per_second"),
		966.0 * 1048576);
	ck_assert_double_eq(figure("foreign-published", "points-of-two-drives",
				    foreign_published, 1, "lat_mean_ns"),
		320000);
}
END_TEST

/* fio's bins and our buckets are the same: every count arrives, extremes are exact. */
START_TEST(bins_of_fio_become_our_buckets_exactly)
{
	struct str text = {0};
	struct err e = {0};
	json_t *doc = NULL, *h, *list;
	json_int_t n = 0;

	case_read("foreign-fio", "bins", "input", &text);
	OK(foreign_fio(str_text(&text), text.len, &origin, &doc, &e));
	h = json_object_get(
		json_array_get(json_object_get(doc, "points"), 0), "histograms");
	ck_assert_ptr_null(json_object_get(h, "write"));
	h = json_object_get(h, "read");
	ck_assert_str_eq(json_text_of(h, "min_ns"), "100");
	ck_assert_str_eq(json_text_of(h, "max_ns"), "8500");
	ck_assert_str_eq(json_text_of(h, "sum_ns"), "110000");
	list = json_object_get(h, "buckets");
	ck_assert_uint_eq(json_array_size(list), 6);
	for (size_t i = 0; i < 6; i += 2)
		n += json_integer_value(json_array_get(list, i + 1));
	ck_assert_int_eq(n, 1000);
	ck_assert_int_eq(json_integer_value(json_array_get(list, 4)), hist_index(8512));
	json_decref(doc);
	str_fini(&text);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("foreign");

	tcase_add_test(tc, each_result_of_fio_becomes_its_document);
	tcase_add_test(tc, each_flat_file_of_vdbench_becomes_its_document);
	tcase_add_test(tc, each_published_table_becomes_its_documents);
	tcase_add_test(tc, a_metric_that_is_not_known_is_told_which_are);
	tcase_add_test(tc, units_are_those_of_each_tool);
	tcase_add_test(tc, bins_of_fio_become_our_buckets_exactly);
	return unit_run("foreign", tc);
}
