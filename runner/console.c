#include "runner/console.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/err.h"

static volatile sig_atomic_t interrupted;

static void
interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

void
console_catch(void)
{
	struct sigaction act = {.sa_handler = interrupt};

	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
}

bool
console_interrupted(void)
{
	return interrupted != 0;
}

int
console_complain(const struct err *e)
{
	fprintf(stderr, "ssdlab-runner: %s\n", e->text);
	if (e->fix[0] != '\0')
		fprintf(stderr, "  %s\n", e->fix);
	return err_exit_code(e->class);
}

int
console_end(int code)
{
	struct err e = {0};

	if (fflush(stdout) == 0 && ferror(stdout) == 0)
		return code;
	err_set(&e, ERR_IO, "stdout could not be written");
	console_complain(&e);
	return code == EXIT_SUCCESS || code == CONSOLE_STOPPED ? err_exit_code(ERR_IO)
							       : code;
}
