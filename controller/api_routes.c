/* The routes as data; apart from api.c so that a test can have routes of its own. */
#include "controller/api.h"

static const struct api_route rows[] = {
#define READ false
#define WRITE true
#define ROUTE(method, path, job, role, fn) {#method, path, job, ROLE_##role, fn},
#include "controller/api_tbl.h"
#undef ROUTE
};

const struct api_route *
api_routes(size_t *ret_n)
{
	*ret_n = sizeof(rows) / sizeof(rows[0]);
	return rows;
}
