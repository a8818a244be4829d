#include "common/share.h"

#include "common/err.h"
#include "common/json.h"
#include "common/parse.h"

int
share_need(const json_t *o, const char *at, const char *name, const char *what,
	double *ret_percent, struct err *e)
{
	const char *text;

	if (json_need_text(o, at, name, &text, e) != 0)
		return -1;
	if (parse_percent(text, ret_percent, e) != 0)
		return err_at(e, "%s/%s", at, name);
	if (*ret_percent <= 100)
		return 0;
	err_set(e, ERR_INVALID, "%s is at most 100%%", what);
	return err_at(e, "%s/%s", at, name);
}
