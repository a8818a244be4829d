/*
 * config - which controller, and how it is known and spoken to.
 *
 * /etc/ssdlab/cli.conf, then ~/.config/ssdlab/cli.conf (or instead of both the one file
 * that --config or SSDLAB_CONFIG names), then SSDLAB_* in the environment, then the
 * command line; the last one wins.
 */
#ifndef CLI_CONFIG_H
#define CLI_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "common/opt.h"

struct err;
struct str;

/* Every field is owned; "" where nothing is configured. */
struct config {
#define OPT(name, type, preset, min, max, help) OPT_FIELD_##type name;
#include "cli/config_tbl.h"
#undef OPT
};

/* config_has says whether --NAME (n characters) is an option of the configuration. */
bool config_has(const char *name, size_t n);

/*
 * config_load fills ret_c (config_fini, also after an error) from all sources. argv are
 * the arguments that config_has knows, each "--name=value", after argv[0]; NULL-ended.
 * ERR_INVALID, ERR_IO.
 */
int config_load(int argc, char **argv, struct config *ret_c, struct err *e);

/* config_fini frees the fields. */
void config_fini(struct config *c);

/* config_user_file returns the path of the user's own file; owned by the caller. */
char *config_user_file(void);

/* config_help appends the options and where they come from. */
void config_help(struct str *out);

#endif
