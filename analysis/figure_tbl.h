/*
 * One row per figure that drives are compared and ranked by: symbol, name, title
 * for people, unit, the better direction, where on the curve it is read, its field.
 *
 * At the peak the latency is that of the service: a saturated open loop has a queue that
 * grows for as long as the point lasts, so its response time tells the length of the
 * test. At half load it is that of the response, which hides no waiting, and at rates that
 * are no share of a maximum, too: where a drive does not keep up with one the point is
 * flagged as saturated.
 */
FIGURE(PEAK_IOPS, "peak_iops", "peak IOPS", "1/s", HIGHER, PEAK, iops)
FIGURE(PEAK_BYTES, "peak_bytes_per_second", "peak bandwidth", "B/s", HIGHER, PEAK,
	bytes_per_second)
FIGURE(MEAN_PEAK, "lat_mean_ns@peak", "service mean at peak", "ns", LOWER, PEAK,
	service.mean)
FIGURE(P99_PEAK, "lat_p99_ns@peak", "service p99 at peak", "ns", LOWER, PEAK, service.p99)
FIGURE(P99_9_PEAK, "lat_p99.9_ns@peak", "service p99.9 at peak", "ns", LOWER, PEAK,
	service.p99_9)
FIGURE(MEAN_50, "lat_mean_ns@50", "response mean at 50 %", "ns", LOWER, HALF,
	response.mean)
FIGURE(P99_50, "lat_p99_ns@50", "response p99 at 50 %", "ns", LOWER, HALF, response.p99)
FIGURE(RATE_IOPS, "iops@rate", "IOPS at the highest rate", "1/s", HIGHER, RATE, iops)
FIGURE(MEAN_RATE, "lat_mean_ns@rate", "response mean at the highest rate", "ns", LOWER,
	RATE, response.mean)
FIGURE(P99_RATE, "lat_p99_ns@rate", "response p99 at the highest rate", "ns", LOWER, RATE,
	response.p99)
