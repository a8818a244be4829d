/*
 * purge_step - the step of a program that purges its drive, and what is told of it.
 *
 * While a purge that cannot be stopped is under way, the status of the runner says so:
 * whoever told it to stop is to wait. One thread.
 */
#ifndef RUNNER_PURGE_STEP_H
#define RUNNER_PURGE_STEP_H

struct steps;

/* purge_step purges the drive. 0, or -1 when the run has ended. */
int purge_step(struct steps *s);

#endif
