#include "runner/health.h"

#include <string.h>

#include "common/drive.h"
#include "common/err.h"
#include "common/json.h"
#include "common/sysfs.h"
#include "runner/smart.h"
#include "runner/smartctl.h"

static json_t *
none(const char *why)
{
	json_t *o = json_object();

	json_put(o, "source", json_string("none"));
	json_put(o, "why", json_text(why));
	return o;
}

/* Whether the SCSI disk is one behind libata, which says so in place of the vendor. */
static bool
is_ata(const struct health_place *p)
{
	char vendor[16];

	return p->block_dir != NULL &&
	       sysfs_read(p->block_dir, "device/vendor", vendor, sizeof(vendor)) &&
	       strcmp(vendor, "ATA") == 0;
}

json_t *
health_read(const struct health_place *p)
{
	bool nvme = p->drive->kind == DRIVE_NVME;
	struct err e = {0};
	json_t *o = NULL;
	int rc;

	if (p->drive->is_virtual)
		return none("virtual");
	if (!nvme && p->drive->kind != DRIVE_SCSI)
		return none("drives of this kind have no way to say it");
	rc = nvme ? smart_read(p->fd, &o, &e)
		  : smartctl_read(p->smartctl, p->fd, is_ata(p), p->hurry, &o, &e);
	if (rc != 0)
		return none(e.text);
	json_put(o, "source", json_string(nvme ? "nvme" : "smartctl"));
	return o;
}

int
health_answer(const struct health_place *p, struct err *e)
{
	json_t *o = health_read(p);
	int rc = 0;

	if (strcmp(json_text_of(o, "source"), "none") == 0)
		rc = err_set(e, ERR_IO, "%s", json_text_of(o, "why"));
	json_decref(o);
	return rc;
}
