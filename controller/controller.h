/*
 * controller - the daemon: owns every module, starts them in order and stops them in
 * reverse. Decides nothing else.
 */
#ifndef CONTROLLER_CONTROLLER_H
#define CONTROLLER_CONTROLLER_H

#include "common/opt.h"
#include "common/seal.h"

struct err;

struct controller_options {
#define OPT(name, type, preset, min, max, help) OPT_FIELD_##type name;
#include "controller/opt_tbl.h"
#undef OPT
};

/* The rows of opt_tbl.h, for opt_load. */
extern const struct opt_set controller_option_set;

/*
 * controller_run serves until SIGTERM or SIGINT: 0. A start that finds its disk full is
 * tried again until there is room. -1 when it could not start for another reason or had
 * to end; what was started is stopped then. Once per process, on its main thread.
 */
int controller_run(const struct controller_options *o, struct err *e);

/*
 * controller_token makes a new token of that name and role ("viewer" or "operator") in
 * the state directory of a controller that does not run; an older one of the name is no
 * good from then on. The operator "admin" is also written to admin.token. ERR_INVALID for
 * a name or role that cannot be, ERR_NOTFOUND without a database, ERR_FORBIDDEN for
 * another user than its owner, ERR_STATE while a controller has it, ERR_IO, ERR_STORE.
 */
int controller_token(const struct controller_options *o, const char *name,
	const char *role, char ret_token[SEAL_TOKEN_CHARS + 1], struct err *e);

#endif
