#include "agent/news.h"

#include <stdlib.h>

#include "agent/scan.h"
#include "common/loop.h"
#include "common/mbox.h"
#include "common/xalloc.h"

struct news *
news_new(enum news_kind kind)
{
	struct news *n = xcalloc(1, sizeof(*n));

	n->kind = kind;
	return n;
}

void
news_free(struct news *n)
{
	if (n == NULL)
		return;
	json_decref(n->doc);
	drive_list_free(n->drives);
	seal_wipe(&n->session, sizeof(n->session));
	free(n);
}

bool
news_take_post(const struct inbox *in, struct news **n)
{
	if (!mbox_put(in->m, *n))
		return false;
	*n = NULL;
	loop_wake(in->l);
	return true;
}
