/*
 * disk - small files that survive a power cut: written aside, synced, renamed, synced.
 *
 * Knows nothing of what is in them. Waits for the disk. Any thread, one writer per path.
 */
#ifndef AGENT_DISK_H
#define AGENT_DISK_H

#include <jansson.h>
#include <stddef.h>
#include <sys/types.h>

struct err;

/*
 * disk_write replaces the file at path (below 4 KiB long) by len bytes, durably, with the
 * permissions mode. It is written into path.new first, in the room of one that is there,
 * which is how room can be reserved. After a failure the old content is still there.
 * Errors: ERR_FULL, ERR_IO.
 */
int disk_write(
	const char *path, const void *data, size_t len, mode_t mode, struct err *e);

/* disk_write_json is disk_write of a document, compact, with a newline behind it. */
int disk_write_json(const char *path, const json_t *doc, mode_t mode, struct err *e);

/* disk_rename renames within a directory, durably. Errors: ERR_FULL, ERR_IO. */
int disk_rename(const char *from, const char *to, struct err *e);

/*
 * disk_make_dir makes the directory path (mode 0700) unless it is there, durably in its
 * parent, which must be there. Errors: ERR_FULL, ERR_IO, ERR_STATE when it is no
 * directory.
 */
int disk_make_dir(const char *path, struct err *e);

/*
 * disk_remove_tree deletes a directory with the files in it, one level deep, and itself;
 * what is not there is no error. Errors: ERR_IO (also for a directory within).
 */
int disk_remove_tree(const char *path, struct err *e);

/* disk_last_line copies the last line that is not blank of a text file, of its last 4
 * KiB, printable characters only; "" when there is none. size: of ret_line, at least 1.
 */
void disk_last_line(const char *path, char *ret_line, size_t size);

#endif
