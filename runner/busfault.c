#include "runner/busfault.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

struct watched {
	atomic_uintptr_t map; /* 0: free; set last, cleared first */
	size_t bytes;
	const char *text;
	int code;
};

static struct watched all[BUSFAULT_MAPS];

/* Nothing but what a handler may call. */
static void
on_fault(int signal, siginfo_t *info, void *context)
{
	static const struct sigaction usual = {.sa_handler = SIG_DFL};
	uintptr_t at = (uintptr_t)info->si_addr;

	(void)context;
	for (size_t i = 0; i < BUSFAULT_MAPS; i++) {
		const struct watched *w = &all[i];
		uintptr_t map = atomic_load(&w->map);

		if (map == 0 || at < map || at - map >= w->bytes)
			continue;
		/* When this fails, nobody is left to be told. */
		ssize_t n = write(
			STDERR_FILENO, w->text, strnlen(w->text, BUSFAULT_TEXT));

		(void)n;
		_exit(w->code);
	}
	/* The access is made again when this returns. */
	sigaction(signal, &usual, NULL);
}

void
busfault_watch(const void *map, size_t bytes, const char *text, int code)
{
	struct sigaction act = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

	for (size_t i = 0; i < BUSFAULT_MAPS; i++) {
		struct watched *w = &all[i];

		if (atomic_load(&w->map) != 0)
			continue;
		w->bytes = bytes;
		w->text = text;
		w->code = code;
		atomic_store(&w->map, (uintptr_t)map);
		sigaction(SIGBUS, &act, NULL);
		return;
	}
}

void
busfault_forget(const void *map)
{
	for (size_t i = 0; i < BUSFAULT_MAPS; i++)
		if (atomic_load(&all[i].map) == (uintptr_t)map)
			atomic_store(&all[i].map, 0);
}
