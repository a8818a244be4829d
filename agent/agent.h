/*
 * agent - the daemon: the struct that owns every module, started in order, ended in
 * reverse.
 *
 * Main loop: signals, timers, runners, and the news of the other threads (link, uplink,
 * scan). It carries answers of the controller to the keeper and reports to the link.
 */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/opt.h"

struct err;

struct agent_options {
#define OPT(name, type, preset, min, max, help) OPT_FIELD_##type name;
#include "agent/opt_tbl.h"
#undef OPT
};

/* agent_option_set describes the options above. */
extern const struct opt_set agent_option_set;

/*
 * agent_run runs the daemon until SIGTERM or SIGINT; runners go on then. o is borrowed.
 * Errors, all before it is ready: ERR_NOTFOUND (not joined, no runner), ERR_IO (state
 * directory), ERR_STATE (another agent has it), ERR_INVALID, ERR_UNSAFE.
 */
int agent_run(const struct agent_options *o, struct err *e);

#endif
