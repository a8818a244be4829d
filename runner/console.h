/*
 * console - what the commands that people start have in common.
 *
 * `run` is started by the agent and has its own ways. Main thread only.
 */
#ifndef RUNNER_CONSOLE_H
#define RUNNER_CONSOLE_H

#include <stdbool.h>

struct err;

/* The exit code of a command that was interrupted, with nothing wrong until then. */
#define CONSOLE_STOPPED 7

/* console_catch makes SIGINT and SIGTERM, which would end the process, be told by
 * console_interrupted from now on. */
void console_catch(void);

/* console_interrupted says whether one has come since. Any thread. */
bool console_interrupted(void);

/* console_complain writes the sentence and its fix to stderr; returns the exit code. */
int console_complain(const struct err *e);

/* console_end writes out what stdout still holds, and says so when not all could be
 * written; returns the exit code of a command that has ended with code. */
int console_end(int code);

#endif
