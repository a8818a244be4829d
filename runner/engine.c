#include "runner/engine.h"

#include <string.h>

const struct engine_ops *
engine_named(const char *name)
{
	static const struct engine_ops *const all[] = {
		&engine_uring,
		&engine_sync,
		&engine_null,
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strcmp(all[i]->name, name) == 0)
			return all[i];
	return NULL;
}
