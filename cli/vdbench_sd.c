/* General parameters and storage definitions of a vdbench parameter file. */

#include "cli/vdbench_priv.h"

#define NO_SETS "a suite has a share of what repeats, and no sets of it"

/* general parameters */

/* n:1 leaves 1/n. */
static bool
read_ratio(struct vd *v, const struct vdbench_param *p, double *ret_percent)
{
	double ratio;

	if (!vd_number(v, p, 1, 1e6, &ratio, NULL))
		return false;
	*ret_percent = 100 - 100 / ratio;
	return true;
}

static void
general_compratio(struct vd *v, const struct vdbench_param *p)
{
	read_ratio(v, p, &v->c->suite->data.compress_percent);
}

static void
general_compression(struct vd *v, const struct vdbench_param *p)
{
	double left;

	if (vd_number(v, p, 0.0001, 100, &left, NULL))
		v->c->suite->data.compress_percent = 100 - left;
}

static void
general_dedupratio(struct vd *v, const struct vdbench_param *p)
{
	if (read_ratio(v, p, &v->c->suite->data.dedupe_percent))
		v->dedup = p;
}

static void
general_dedupunit(struct vd *v, const struct vdbench_param *p)
{
	double bytes;

	v->dedup_unit = true;
	if (vd_number(v, p, 1, 1e9, &bytes, NULL) && !(bytes >= 4096 && bytes <= 4096))
		vd_left(v, p, LEFT_LOAD, "ssdlab repeats pieces of 4KiB");
}

static void
general_concatenate(struct vd *v, const struct vdbench_param *p)
{
	if (p->value[0] != 'y' && p->value[0] != 'Y')
		return;
	v->concatenate = true;
	vd_left(v, p, LEFT_LOAD,
		"drives are tested each by itself, never as one; each gets all threads");
}

static void
general_formatsds(struct vd *v, const struct vdbench_param *p)
{
	v->fill = p->value[0] == 'y' || p->value[0] == 'Y';
}

static void
general_formatxfersize(struct vd *v, const struct vdbench_param *p)
{
	double bytes;

	if (!vd_number(v, p, 512, WORKLOAD_BLOCK_MAX, &bytes, NULL))
		return;
	if ((uint64_t)bytes % 512 != 0)
		vd_left(v, p, LEFT_LOAD,
			"a block is a multiple of 512 bytes; 128KiB is used");
	else
		v->fill_bytes = (double)(uint64_t)bytes;
}

/* The order of MiscParms.java; what begins like an earlier row is that row. */
const struct vd_row vd_general_rows[] = {
	{"compression", true, general_compression, LEFT_LOAD, NULL},
	{"compratio", false, general_compratio, LEFT_LOAD, NULL},
	{"compressionseed", false, NULL, LEFT_ASIDE, "a run has a seed of its own"},
	{"dedupratio", true, general_dedupratio, LEFT_LOAD, NULL},
	{"dedupunit", true, general_dedupunit, LEFT_LOAD, NULL},
	{"dedup", true, NULL, LEFT_LOAD, NO_SETS},
	{"dedupsets", true, NULL, LEFT_LOAD, NO_SETS},
	{"deduphotsets", true, NULL, LEFT_LOAD, NO_SETS},
	{"dedupflipflop", true, NULL, LEFT_LOAD, NO_SETS},
	{"port", false, NULL, LEFT_ASIDE, "is about vdbench's own processes"},
	{"pattern", false, NULL, LEFT_LOAD, "no data are taken from a file"},
	{"data_errors", false, NULL, LEFT_ASIDE,
		"a campaign says itself how many errors end a run"},
	{"dataerrors", false, NULL, LEFT_ASIDE,
		"a campaign says itself how many errors end a run"},
	{"validate", false, NULL, LEFT_LOAD, VD_NO_VERIFY},
	{"journal", true, NULL, LEFT_LOAD, VD_NO_VERIFY},
	{"startcmd", true, NULL, LEFT_LOAD, VD_NO_COMMANDS},
	{"start_cmd", true, NULL, LEFT_LOAD, VD_NO_COMMANDS},
	{"endcmd", true, NULL, LEFT_LOAD, VD_NO_COMMANDS},
	{"end_cmd", true, NULL, LEFT_LOAD, VD_NO_COMMANDS},
	{"heartbeat_error", true, NULL, LEFT_ASIDE, VD_NO_COMMANDS},
	{"debug", true, NULL, LEFT_ASIDE, "is about vdbench itself"},
	{"unix2windows", false, NULL, LEFT_ASIDE, VD_IN_CAMPAIGN},
	{"formatxfersize", false, general_formatxfersize, LEFT_LOAD, NULL},
	{"create_anchors", false, NULL, LEFT_LOAD, VD_NO_FILES},
	{"formatsds", false, general_formatsds, LEFT_LOAD, NULL},
	{"report", false, NULL, LEFT_ASIDE, VD_IN_REPORT},
	{"report_run_totals", false, NULL, LEFT_ASIDE, VD_IN_REPORT},
	{"histogram", false, NULL, LEFT_ASIDE, VD_IN_REPORT},
	{"auxreport", false, NULL, LEFT_ASIDE, VD_IN_REPORT},
	{"monitor", false, NULL, LEFT_ASIDE, "names a file"},
	{"concatenatesds", false, general_concatenate, LEFT_LOAD, NULL},
	{"messagescan", false, NULL, LEFT_ASIDE, "is about vdbench's own processes"},
	{"abort_failed_skew", false, NULL, LEFT_ASIDE,
		"the mix is drawn for each I/O, so that its shares hold"},
	{"misc", false, NULL, LEFT_ASIDE, "is about vdbench itself"},
	{"pattern_buffer", true, NULL, LEFT_ASIDE, "is about vdbench itself"},
	{"showlba", true, NULL, LEFT_ASIDE, VD_IN_REPORT},
	{"loop", true, NULL, LEFT_LOAD, "a campaign says itself how often a suite runs"},
	{0},
};

/* storage definitions */

static void
sd_threads(struct vd *v, const struct vdbench_param *p)
{
	const char *why;
	size_t n = vdbench_numbers(p, false, v->numbers, &why);

	/* threads=(32,4): 32 for 4 storage definitions */
	if (n == 2 && v->numbers[1].x >= 1)
		v->numbers[0].x = (double)(int64_t)(v->numbers[0].x / v->numbers[1].x);
	if (n >= 1 && n <= 2 && v->numbers[0].x >= 1 &&
		v->numbers[0].x <= WORKLOAD_IN_FLIGHT_MAX) {
		v->sd->threads = (double)(uint32_t)v->numbers[0].x;
		return;
	}
	vd_left(v, p, LEFT_LOAD, n > 0 ? "a workload has 1 to 4096 I/Os in flight" : why);
	v->sd->broken = true;
}

/* count=(1,8): eight of them, with numbers behind their name. */
static void
sd_count(struct vd *v, const struct vdbench_param *p)
{
	const char *why;
	size_t n = vdbench_numbers(p, false, v->numbers, &why);

	vd_left(v, p, LEFT_ASIDE, VD_IN_CAMPAIGN);
	if (n != 2 || v->numbers[0].x > 1e9 || !(v->numbers[1].x >= 1) ||
		v->numbers[1].x > VD_SDS_MAX)
		return;
	v->sd->first = (unsigned)v->numbers[0].x;
	v->sd->count = (unsigned)v->numbers[1].x;
}

static void
sd_align(struct vd *v, const struct vdbench_param *p)
{
	double bytes;

	if (!vd_number(v, p, 512, WORKLOAD_BLOCK_MAX, &bytes, NULL))
		return;
	if ((uint64_t)bytes % 512 == 0)
		v->sd->align_bytes = (double)(uint64_t)bytes;
	else
		vd_left(v, p, LEFT_LOAD, "an alignment is a multiple of 512 bytes");
}

static void
sd_range(struct vd *v, const struct vdbench_param *p)
{
	vd_read_range(v, p, &v->sd->range);
}

static void
sd_openflags(struct vd *v, const struct vdbench_param *p)
{
	vd_durable(v, p, &v->sd->durable);
}

const struct vd_row vd_sd_rows[] = {
	{"host", false, NULL, LEFT_ASIDE, VD_IN_CAMPAIGN},
	{"hd", true, NULL, LEFT_ASIDE, VD_IN_CAMPAIGN},
	{"lun", false, NULL, LEFT_ASIDE, VD_IN_CAMPAIGN},
	{"count", false, sd_count, LEFT_ASIDE, NULL},
	{"size", false, NULL, LEFT_LOAD,
		"a suite has parts of the capacity, not bytes: all of it is used"},
	{"threads", false, sd_threads, LEFT_LOAD, NULL},
	{"hitarea", false, NULL, LEFT_LOAD, VD_NO_CACHE},
	{"offset", false, NULL, LEFT_LOAD,
		"a suite has parts of the capacity, not bytes: I/O begins at its start"},
	{"align", false, sd_align, LEFT_LOAD, NULL},
	{"kstat", false, NULL, LEFT_ASIDE, VD_IN_REPORT},
	{"instance", false, NULL, LEFT_ASIDE, VD_IN_REPORT},
	{"replay", false, NULL, LEFT_LOAD, VD_NO_REPLAY},
	{"journal", false, NULL, LEFT_LOAD, VD_NO_VERIFY},
	{"resetlun", false, NULL, LEFT_LOAD, "no drive is reset during a run"},
	{"resetbus", false, NULL, LEFT_LOAD, "no drive is reset during a run"},
	{"openflags", false, sd_openflags, LEFT_LOAD, NULL},
	{"range", false, sd_range, LEFT_LOAD, NULL},
	{0},
};
