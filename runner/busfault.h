/*
 * busfault - a sentence instead of SIGBUS for files that are mapped.
 *
 * A mapped file that somebody cuts, or whose disk cannot be read, raises SIGBUS at the
 * next access; there is no other way to be told, since no check before an access holds
 * until the access. What the file stood for is gone then, so the process ends.
 */
#ifndef RUNNER_BUSFAULT_H
#define RUNNER_BUSFAULT_H

#include <stddef.h>

/* Most maps that are watched at once. */
#define BUSFAULT_MAPS 8

/* Bytes of a sentence, with its newline and NUL. */
#define BUSFAULT_TEXT 1024

/*
 * busfault_watch makes a SIGBUS in these bytes write text, borrowed until busfault_forget
 * and cut to BUSFAULT_TEXT, to stderr and end the process with code. A SIGBUS elsewhere
 * does what it does without this. With BUSFAULT_MAPS watched, one more is not. Any thread
 * may fault; the two functions are for one thread.
 */
void busfault_watch(const void *map, size_t bytes, const char *text, int code);

/* busfault_forget ends that, before the map does; a map that is not watched is allowed.
 */
void busfault_forget(const void *map);

#endif
