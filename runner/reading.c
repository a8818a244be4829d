#include "runner/reading.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/sysfs.h"

/* The block layer counts in these, whatever the drive's blocks are. */
#define SECTOR_BYTES 512

/* Of so many pairs of readings of both clocks, the closest counts. */
#define CLOCK_LOOKS 5

/* Less than this of our own bytes in the block layer's count: it counts something else,
 * or nothing ("iostats" is off, or the driver does not). */
#define COUNTED_PART 0.5
#define COUNTED_MIN 65536

static bool
read_stat(const char *dir, struct reading *r)
{
	uint64_t read_sectors, write_sectors;
	char text[512];

	if (!sysfs_read(dir, "stat", text, sizeof(text)) ||
		sscanf(text,
			"%*u %*u %" SCNu64 " %*u %*u %*u %" SCNu64 " %*u %*u %" SCNu64
			" %" SCNu64,
			&read_sectors, &write_sectors, &r->busy_ms, &r->queue_ms) != 4)
		return false;
	r->read_bytes = read_sectors * SECTOR_BYTES;
	r->written_bytes = write_sectors * SECTOR_BYTES;
	return true;
}

/* "16.0 GT/s PCIe"; 0 for "Unknown". */
static double
number_in(const char *dir, const char *attr)
{
	char text[64];

	return sysfs_read(dir, attr, text, sizeof(text)) ? strtod(text, NULL) : 0;
}

static void
read_link(const char *dir, struct reading *r)
{
	char pci[SYSFS_PATH_MAX];

	if (!sysfs_up(dir, "current_link_speed", pci))
		return;
	r->gts = number_in(pci, "current_link_speed");
	r->max_gts = number_in(pci, "max_link_speed");
	r->width = (unsigned)number_in(pci, "current_link_width");
	r->max_width = (unsigned)number_in(pci, "max_link_width");
}

/* The last line of each file has the sum (Documentation/ABI/testing/sysfs-bus-pci-
 * devices-aer_stats of Linux). */
static bool
read_aer(const char *dir, struct reading *r)
{
	static const char *const attrs[AER_KINDS] = {
		"aer_dev_correctable", "aer_dev_nonfatal", "aer_dev_fatal"};
	char pci[SYSFS_PATH_MAX], text[2048];

	if (!sysfs_up(dir, attrs[0], pci))
		return false;
	for (int i = 0; i < AER_KINDS; i++) {
		const char *sum;

		if (!sysfs_read(pci, attrs[i], text, sizeof(text)) ||
			(sum = strstr(text, "TOTAL_ERR_")) == NULL ||
			sscanf(sum, "%*s %" SCNu64, &r->aer[i]) != 1)
			return false;
	}
	return true;
}

/* Whoever is interrupted between the two clocks is slow; the quickest look counts. */
static int64_t
wall_less_mono(void)
{
	int64_t least = INT64_MAX, best = 0;

	for (int i = 0; i < CLOCK_LOOKS; i++) {
		int64_t before = clock_mono(), wall = clock_wall();
		int64_t took = clock_mono() - before;

		if (took >= least)
			continue;
		least = took;
		best = wall - before - took / 2;
	}
	return best;
}

void
reading_take(const struct reading_place *p, struct reading *ret_r)
{
	*ret_r = (struct reading){.wall_less_mono_ns = wall_less_mono()};
	if (p->block_dir != NULL) {
		ret_r->has_stat = read_stat(p->block_dir, ret_r);
		read_link(p->block_dir, ret_r);
		ret_r->has_aer = read_aer(p->block_dir, ret_r);
	}
	if (p->is_nvme)
		ret_r->has_heat = smart_read_heat(p->fd, &ret_r->heat);
}

/* What the block layer counted and we did not do. */
static json_t *
beyond(uint64_t before, uint64_t after, uint64_t own, uint64_t failed)
{
	uint64_t all = after > before ? after - before : 0;

	return json_u64(all > own + failed ? all - own - failed : 0);
}

static void
put_stat(json_t *o, const struct reading *a, const struct reading *b,
	const struct reading_own *own)
{
	double ours = (double)(own->read_bytes + own->written_bytes);
	double seen = (double)(b->read_bytes - a->read_bytes) +
		      (double)(b->written_bytes - a->written_bytes);

	if (!a->has_stat || !b->has_stat ||
		(ours > COUNTED_MIN && seen < COUNTED_PART * ours))
		return;
	json_put(o, "other_read_bytes",
		beyond(a->read_bytes, b->read_bytes, own->read_bytes, own->failed_bytes));
	json_put(o, "other_written_bytes",
		beyond(a->written_bytes, b->written_bytes, own->written_bytes,
			own->failed_bytes));
	json_put(o, "own_read_bytes", json_u64(own->read_bytes));
	if (b->busy_ms > a->busy_ms)
		json_put(o, "drive_in_flight",
			json_real((double)(b->queue_ms - a->queue_ms) /
				  (double)(b->busy_ms - a->busy_ms)));
}

static void
put_link(json_t *o, const struct reading *a, const struct reading *b)
{
	json_t *l;

	if (a->gts <= 0 && b->gts <= 0)
		return;
	l = json_object();
	json_put(l, "gts", json_real(a->gts));
	json_put(l, "width", json_integer(a->width));
	json_put(l, "end_gts", json_real(b->gts));
	json_put(l, "end_width", json_integer(b->width));
	json_put(l, "max_gts", json_real(b->max_gts));
	json_put(l, "max_width", json_integer(b->max_width));
	json_put(o, "link", l);
}

static void
put_aer(json_t *o, const struct reading *a, const struct reading *b)
{
	static const char *const names[AER_KINDS] = {"correctable", "nonfatal", "fatal"};
	json_t *l;

	if (!a->has_aer || !b->has_aer)
		return;
	l = json_object();
	for (int i = 0; i < AER_KINDS; i++)
		json_put(l, names[i],
			json_u64(b->aer[i] > a->aer[i] ? b->aer[i] - a->aer[i] : 0));
	json_put(o, "aer", l);
}

static uint64_t
rise(uint64_t before, uint64_t after)
{
	return after > before ? after - before : 0;
}

static void
put_heat(json_t *o, const struct smart_heat *a, const struct smart_heat *b)
{
	json_t *l = json_object();
	int warmer = a->temperature_c > b->temperature_c ? a->temperature_c
							 : b->temperature_c;

	json_put(l, "transitions", json_u64(rise(a->transitions, b->transitions)));
	json_put(l, "seconds", json_u64(rise(a->seconds, b->seconds)));
	json_put(l, "temperature_c", json_integer(warmer));
	json_put(l, "warning_c",
		b->warning_c > 0 ? json_integer(b->warning_c) : json_null());
	json_put(o, "heat", l);
}

json_t *
reading_json(const struct reading *before, const struct reading *after,
	const struct reading_own *own)
{
	json_t *o = json_object();

	json_put(o, "clock_step_ns",
		json_integer(after->wall_less_mono_ns - before->wall_less_mono_ns));
	put_stat(o, before, after, own);
	put_link(o, before, after);
	put_aer(o, before, after);
	if (before->has_heat && after->has_heat)
		put_heat(o, &before->heat, &after->heat);
	return o;
}
