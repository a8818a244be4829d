/*
 * foreign - documents of results that were measured elsewhere, as the controller takes
 * them ("foreign/v1" in schema/openapi.yaml), and what makes them of the files of other
 * tools. Pure; trusts no byte of a file.
 */
#ifndef CLI_FOREIGN_H
#define CLI_FOREIGN_H

#include <jansson.h>
#include <stddef.h>

struct err;
struct hist;

/* Largest file that is read. */
#define FOREIGN_MAX_BYTES (16U << 20)

/* The note of a point of fio whose percentiles are not those of the service. */
#define FOREIGN_NO_BINS                                                     \
	"no bins of lat in the file: percentiles are those of clat, which " \
	"begins behind the submission; fio gives bins of lat with "         \
	"--output-format=json+ --lat_percentiles=1"

/* What a file does not say. Borrowed. */
struct foreign_origin {
	const char *source;  /* the file's name without its folder */
	const char *subject; /* what was measured; "" for what the file calls it */
};

/*
 * foreign_fio reads fio's JSON or JSON+ (lines of text around it are skipped): a point
 * for each job, jobs of one name in one group together. Bins of lat become histograms;
 * without them there are the mean and, of a single job, the percentiles of clat, which is
 * said in its note. *ret_doc is a new reference. ERR_INVALID, ERR_LIMIT.
 */
int foreign_fio(const char *text, size_t len, const struct foreign_origin *o,
	json_t **ret_doc, struct err *e);

/*
 * foreign_vdbench reads vdbench's flatfile.html: a point for each average row. MB are
 * 1024 x 1024 bytes there, times ms. *ret_doc is a new reference. ERR_INVALID, "line 7:
 * ...".
 */
int foreign_vdbench(const char *text, size_t len, const struct foreign_origin *o,
	json_t **ret_doc, struct err *e);

/*
 * foreign_published reads a table of published figures (CSV with the columns drive,
 * workload, point, metric, value, unit, quality, source, note and, if any, unit_bytes, in
 * any order): a document for each drive, in *ret_docs, a new reference to an array. GB/s
 * there are MiB/s divided by 1000, as StorageReview prints them, and marked as assumed,
 * unless unit_bytes says how many bytes they are. ERR_INVALID, "line 7: ...".
 */
int foreign_published(const char *text, size_t len, const struct foreign_origin *o,
	json_t **ret_docs, struct err *e);

/* Helpers of these. */

/* foreign_begin makes a document without points. New reference. */
json_t *foreign_begin(
	const char *tool, const char *version, const char *source, const char *subject);

/* foreign_point appends a point and returns it, borrowed. */
json_t *foreign_point(
	json_t *doc, const char *workload, const char *point, const char *quality);

/* foreign_real sets a member of a point unless x is NAN. */
void foreign_real(json_t *point, const char *name, double x);

/* foreign_histogram sets the histogram of a direction, "read" or "write", of a point. */
void foreign_histogram(json_t *point, const char *direction, const struct hist *h);

#endif
