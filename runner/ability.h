/*
 * ability - whether drive and kernel know all that a program asks of them, looked at
 * before anything is written. Keeps nothing; the thread of the steps.
 */
#ifndef RUNNER_ABILITY_H
#define RUNNER_ABILITY_H

struct engine_ops;
struct err;
struct program;

/*
 * ability_check opens the engine once for all that the workloads of p do, and closes it;
 * nothing is changed (others_check). fd: the drive, open for writing when p writes; -1
 * for engines without one. script: of the null engine, else NULL. ERR_LIMIT: the
 * program asks for what drive or kernel do not know. Others: as engine open.
 */
int ability_check(const struct program *p, const struct engine_ops *engine, int fd,
	const char *script, struct err *e);

#endif
