/*
 * verify_cmd - the command `ssdlab-runner verify`: reads all that a journal knows and
 * says what is wrong; and how findings are shown, for this command and for bench.
 */
#ifndef RUNNER_VERIFY_CMD_H
#define RUNNER_VERIFY_CMD_H

#include <jansson.h>
#include <stdbool.h>

struct str;
struct verify_report;

/*
 * verify_command runs `verify TARGET --journal FILE [-o FORM]`; argv[0] is "verify".
 * Findings go to stdout, talk to stderr; SIGINT and SIGTERM end the reading, and what was
 * found until then is told. Returns the exit code.
 */
int verify_command(int argc, char **argv);

/* verify_exit_code returns 1 when anything is not as it should be, else 0, or 7 when not
 * all was read. */
int verify_exit_code(const struct verify_report *r, bool whole);

/* verify_to_json makes an object of counts and findings. New reference. */
json_t *verify_to_json(const struct verify_report *r);

/* verify_to_text appends them as people read them. */
void verify_to_text(const struct verify_report *r, struct str *out);

#endif
