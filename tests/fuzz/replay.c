/*
 * replay - gives files to a fuzz target: those named, or else its whole corpus.
 */
#include <dirent.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

#define INPUT_MAX (2U << 20)

static int
replay(const char *path)
{
	uint8_t *data = malloc(INPUT_MAX), *exact = NULL;
	FILE *f = fopen(path, "re");
	size_t n = 0;
	int rc = 1;

	if (data != NULL && f != NULL) {
		n = fread(data, 1, INPUT_MAX, f);
		/* Of exactly this size, so that sanitizers see the end. */
		exact = malloc(n > 0 ? n : 1);
		rc = ferror(f) != 0 || exact == NULL;
	}
	if (rc == 0) {
		memcpy(exact, data, n);
		LLVMFuzzerTestOneInput(exact, n);
	} else {
		fprintf(stderr, "%s cannot be read\n", path);
	}
	if (f != NULL)
		fclose(f);
	free(exact);
	free(data);
	return rc;
}

static int
replay_corpus(const char *dir)
{
	struct dirent **list;
	int n = scandir(dir, &list, NULL, alphasort);
	int rc = 0, files = 0;
	char path[1024];

	for (int i = 0; i < n; i++) {
		if (list[i]->d_name[0] != '.') {
			snprintf(path, sizeof(path), "%s/%s", dir, list[i]->d_name);
			rc |= replay(path);
			files++;
		}
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	printf("%s: %d files\n", dir, files);
	return rc != 0 || files == 0;
}

int
main(int argc, char **argv)
{
	int rc = 0;

	if (argc == 1)
		return replay_corpus(CORPUS);
	for (int i = 1; i < argc; i++)
		rc |= replay(argv[i]);
	return rc;
}
