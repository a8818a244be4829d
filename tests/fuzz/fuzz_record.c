/*
 * The first byte chooses the decoder; what it accepts must be written and read again to
 * the same bytes.
 */
#include <string.h>

#include "common/record.h"
#include "tests/fuzz/fuzz.h"

static uint8_t first[RECORD_MAX_BYTES], second[RECORD_MAX_BYTES];

static void
try_sample(const uint8_t *data, size_t size)
{
	static struct sample s, again;
	size_t n;

	if (sample_decode(&s, data, size, NULL) != 0)
		return;
	MUST(s.point > 0 && s.length_ns > 0);
	n = sample_encode(&s, first, sizeof(first));
	MUST(sample_decode(&again, first, n, NULL) == 0);
	MUST(sample_encode(&again, second, sizeof(second)) == n);
	MUST(memcmp(first, second, n) == 0);
	again.point = s.point;
	sample_merge(&s, &again);
}

static void
try_point(const uint8_t *data, size_t size)
{
	static struct point_record p, again;
	size_t n;

	if (point_decode(&p, data, size, NULL) != 0) {
		MUST(p.meta == NULL);
		return;
	}
	n = point_encode(&p, first, sizeof(first));
	if (n > 0) {
		MUST(point_decode(&again, first, n, NULL) == 0);
		MUST(json_equal(p.meta, again.meta));
		MUST(point_encode(&again, second, sizeof(second)) == n);
		MUST(memcmp(first, second, n) == 0);
		point_record_fini(&again);
	}
	point_record_fini(&p);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	if (data[0] == 's')
		try_sample(data + 1, size - 1);
	else
		try_point(data + 1, size - 1);
	return 0;
}
