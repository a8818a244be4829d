/*
 * The first byte chooses the tool: F is fio, V is vdbench, anything else is a table of
 * published figures. What is taken is a document with points, or several of them.
 */
#include <string.h>

#include "cli/foreign.h"
#include "common/err.h"
#include "common/json.h"
#include "tests/fuzz/fuzz.h"

static void
check_document(const json_t *doc)
{
	json_t *p;
	size_t i;

	MUST(strcmp(json_text_of(doc, "ssdlab"), "foreign/v1") == 0);
	MUST(json_array_size(json_object_get(doc, "points")) > 0);
	json_array_foreach (json_object_get(doc, "points"), i, p)
		MUST(json_text_of(p, "workload")[0] != '\0');
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct foreign_origin origin = {"file", ""};
	const char *text = (const char *)data + 1;
	struct err e = {0};
	json_t *doc = NULL, *one;
	size_t i;
	int rc;

	if (size < 1 || size > 65536)
		return 0;
	rc = data[0] == 'F'   ? foreign_fio(text, size - 1, &origin, &doc, &e)
	     : data[0] == 'V' ? foreign_vdbench(text, size - 1, &origin, &doc, &e)
			      : foreign_published(text, size - 1, &origin, &doc, &e);
	if (rc != 0) {
		MUST(doc == NULL);
		MUST(e.class == ERR_INVALID || e.class == ERR_LIMIT ||
			e.class == ERR_STATE);
	} else if (json_is_array(doc)) {
		json_array_foreach (doc, i, one)
			check_document(one);
	} else {
		check_document(doc);
	}
	json_decref(doc);
	return 0;
}
