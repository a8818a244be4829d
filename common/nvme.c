#include "common/nvme.h"

#include <assert.h>
#include <errno.h>
#include <linux/nvme_ioctl.h>
#include <string.h>
#include <sys/ioctl.h>

#include "common/err.h"
#include "common/le.h"

/* Opcodes of admin commands (Base 2.0, 5). */
#define OP_GET_LOG 0x02
#define OP_IDENTIFY 0x06
#define OP_FORMAT 0x80
#define OP_SANITIZE 0x84

/* What Identify is asked for: CNS (Base 2.0, 5.17.1). */
#define CNS_NAMESPACE 0x00
#define CNS_CONTROLLER 0x01
#define CNS_ACTIVE 0x02	   /* namespaces of this controller */
#define CNS_ALLOCATED 0x10 /* of the subsystem; with namespace management only */

/* Fields of Identify Controller, byte numbers (Base 2.0, 5.17.2.1). */
#define CMIC 76
#define CMIC_CONTROLLERS 0x02 /* the subsystem may have more controllers */
#define OACS 256
#define OACS_FORMAT 0x02
#define OACS_MANAGEMENT 0x08
#define SANICAP 328
#define SANICAP_CRYPTO 0x01
#define SANICAP_BLOCK 0x02
#define SANICAP_ANY 0x07 /* the overwrite, too */
#define FNA 524
#define FNA_REACHES_ALL 0x03 /* of a format, and of the erase that goes with it */

/* Fields of Identify Namespace, byte numbers (NVM Command Set 1.0, 4.1.5.1). */
#define FLBAS 26
#define DPS 29

/* CDW10 of Format NVM (Base 2.0, 5.14): "user data erase" of SES. */
#define SES_USER_DATA (1U << 9)

/* CDW10 of Sanitize (Base 2.0, 5.24): the drive may be used again also after one
 * that failed. */
#define SANITIZE_AUSE 0x08

/* The log page "Sanitize Status" and its fields, byte numbers (Base 2.0, 5.16.1). */
#define LOG_SANITIZE 0x81
#define SPROG 0
#define SSTAT 2

#define NSID_ALL UINT32_MAX

/* Namespaces of many TB have been seen to take minutes; the kernel's own limit for admin
 * commands is 60 s. */
#define FORMAT_TIMEOUT_MS (3600U * 1000)

/* Begins at once, as a rule. */
#define SANITIZE_TIMEOUT_MS (60U * 1000)

/* A drive that does not say in this time who or how it is keeps a run waiting for
 * nothing. The kernel resets a controller that is late. */
#define ADMIN_TIMEOUT_MS (10U * 1000)
#define LOG_TIMEOUT_MS 5000

void
nvme_read_controller(const uint8_t *data, struct nvme_offer *o)
{
	bool managed = (data[OACS] & OACS_MANAGEMENT) != 0;

	o->formats = (data[OACS] & OACS_FORMAT) != 0;
	o->format_reaches_all = (data[FNA] & FNA_REACHES_ALL) != 0;
	o->sanitize_block = (data[SANICAP] & SANICAP_BLOCK) != 0;
	o->sanitize_crypto = (data[SANICAP] & SANICAP_CRYPTO) != 0;
	/* With management there is a list of all. Without, another controller may have a
	 * private one that this one does not list, even when each can have but one: their
	 * NSIDs need not differ (Base 2.0, 3.2.1.5). */
	o->others_known = managed || (data[CMIC] & CMIC_CONTROLLERS) == 0;
}

void
nvme_read_namespace(const uint8_t *data, struct nvme_offer *o)
{
	uint32_t flbas = data[FLBAS];
	uint32_t dps = data[DPS];

	/* format 3:0 and metadata 4 stand alike in both; protection 7:5 and its place 8
	 * come from DPS 2:0 and 3; the upper bits 13:12 of the format from FLBAS 6:5 */
	o->format_dword = (flbas & 0x1f) | (dps & 0x07) << 5 | (dps >> 3 & 1) << 8 |
			  SES_USER_DATA | (flbas >> 5 & 0x03) << 12;
}

uint32_t
nvme_count_others(const uint8_t *list, uint32_t nsid)
{
	uint32_t n = 0;

	for (size_t i = 0; i < NVME_IDENTIFY_BYTES; i += 4) {
		uint32_t id = le_get32(list + i);

		if (id == 0)
			break;
		n += id != nsid;
	}
	return n;
}

enum nvme_sanitize_end
nvme_read_sanitize(const uint8_t *log, double *ret_part)
{
	*ret_part = 0;
	switch (log[SSTAT] & 0x07) {
	case 1:
	case 4: /* done, and all deallocated though asked not to */
		*ret_part = 1;
		return NVME_SANITIZE_DONE;
	case 2:
		*ret_part = (log[SPROG] | log[SPROG + 1] << 8) / 65536.0;
		return NVME_SANITIZE_RUNS;
	case 3:
		return NVME_SANITIZE_FAILED;
	default:
		return NVME_SANITIZE_NONE;
	}
}

/* Sends a command; what: begins the sentence of an error. */
static int
command(int fd, struct nvme_admin_cmd *c, const char *what, struct err *e)
{
	int status;

	if (c->timeout_ms == 0)
		c->timeout_ms = ADMIN_TIMEOUT_MS;
	do
		status = ioctl(fd, NVME_IOCTL_ADMIN_CMD, c);
	while (status < 0 && errno == EINTR);
	if (status == 0)
		return 0;
	if (status < 0)
		return err_errno(e, ERR_IO, errno, "%s", what);
	return err_set(e, ERR_IO, "%s: the drive answers with status 0x%x", what,
		(unsigned)status);
}

static int
identify(int fd, uint32_t cns, uint32_t nsid, uint8_t *data, struct err *e)
{
	struct nvme_admin_cmd c = {
		.opcode = OP_IDENTIFY,
		.nsid = nsid,
		.addr = (uintptr_t)data,
		.data_len = NVME_IDENTIFY_BYTES,
		.cdw10 = cns,
	};

	memset(data, 0, NVME_IDENTIFY_BYTES);
	return command(fd, &c, "NVMe Identify", e);
}

/* A page that the kernel can read into wherever the caller wants it. */
static int
identify_into(int fd, uint32_t cns, uint32_t nsid, uint8_t *data, struct err *e)
{
	_Alignas(4096) uint8_t page[NVME_IDENTIFY_BYTES];

	if (identify(fd, cns, nsid, page, e) != 0)
		return -1;
	memcpy(data, page, sizeof(page));
	return 0;
}

int
nvme_identify_controller(int fd, uint8_t *data, struct err *e)
{
	return identify_into(fd, CNS_CONTROLLER, 0, data, e);
}

int
nvme_identify_namespace(int fd, uint8_t *data, struct err *e)
{
	int nsid = ioctl(fd, NVME_IOCTL_ID);

	if (nsid <= 0)
		return err_set(e, ERR_IO, "the kernel knows no number of the namespace");
	return identify_into(fd, CNS_NAMESPACE, (uint32_t)nsid, data, e);
}

int
nvme_log(int fd, uint8_t id, uint8_t *log, uint32_t len, struct err *e)
{
	_Alignas(4096) uint8_t page[NVME_IDENTIFY_BYTES] = {0};
	struct nvme_admin_cmd c = {
		.opcode = OP_GET_LOG,
		.nsid = NSID_ALL,
		.addr = (uintptr_t)page,
		.data_len = len,
		/* the number of 4-byte words, less one, above the page's id */
		.cdw10 = id | (len / 4 - 1) << 16,
		.timeout_ms = LOG_TIMEOUT_MS,
	};

	assert(len > 0 && len <= sizeof(page) && len % 4 == 0);
	if (command(fd, &c, "NVMe Get Log Page", e) != 0)
		return -1;
	memcpy(log, page, len);
	return 0;
}

static int
look(int fd, uint8_t *data, struct nvme_offer *o, struct err *e)
{
	bool managed;

	if (identify(fd, CNS_NAMESPACE, o->nsid, data, e) != 0)
		return -1;
	nvme_read_namespace(data, o);
	if (identify(fd, CNS_CONTROLLER, 0, data, e) != 0)
		return -1;
	nvme_read_controller(data, o);
	managed = (data[OACS] & OACS_MANAGEMENT) != 0;
	if (identify(fd, managed ? CNS_ALLOCATED : CNS_ACTIVE, 0, data, e) != 0)
		return -1;
	o->others = nvme_count_others(data, o->nsid);
	return 0;
}

int
nvme_look(int fd, struct nvme_offer *ret_o, struct err *e)
{
	_Alignas(4096) uint8_t data[NVME_IDENTIFY_BYTES];
	int nsid = ioctl(fd, NVME_IOCTL_ID);

	*ret_o = (struct nvme_offer){0};
	if (nsid < 0)
		return err_errno(e, ERR_IO, errno, "ask for the number of the namespace");
	ret_o->nsid = (uint32_t)nsid;
	if (ret_o->nsid == 0)
		return err_set(e, ERR_IO, "the kernel knows no number of the namespace");
	return look(fd, data, ret_o, e);
}

int
nvme_format(int fd, const struct nvme_offer *o, struct err *e)
{
	struct nvme_admin_cmd c = {
		.opcode = OP_FORMAT,
		.nsid = o->nsid,
		.cdw10 = o->format_dword,
		.timeout_ms = FORMAT_TIMEOUT_MS,
	};

	assert(o->nsid != 0 && o->nsid != NSID_ALL);
	return command(fd, &c, "NVMe Format", e);
}

int
nvme_sanitize(int fd, enum nvme_sanitize how, struct err *e)
{
	struct nvme_admin_cmd c = {
		.opcode = OP_SANITIZE,
		.cdw10 = (uint32_t)how | SANITIZE_AUSE,
		.timeout_ms = SANITIZE_TIMEOUT_MS,
	};

	return command(fd, &c, "NVMe Sanitize", e);
}

int
nvme_sanitize_state(
	int fd, enum nvme_sanitize_end *ret_end, double *ret_part, struct err *e)
{
	_Alignas(4096) uint8_t log[NVME_SANITIZE_LOG_BYTES] = {0};
	struct nvme_admin_cmd c = {
		.opcode = OP_GET_LOG,
		.nsid = NSID_ALL,
		.addr = (uintptr_t)log,
		.data_len = sizeof(log),
		.cdw10 = LOG_SANITIZE | (uint32_t)(sizeof(log) / 4 - 1) << 16,
	};

	if (command(fd, &c, "read the NVMe log of sanitizes", e) != 0)
		return -1;
	*ret_end = nvme_read_sanitize(log, ret_part);
	return 0;
}

/* A drive without sanitize is not asked for its log: it would count that as an error. */
int
nvme_check_sanitize(int fd, struct err *e)
{
	_Alignas(4096) uint8_t data[NVME_IDENTIFY_BYTES];
	enum nvme_sanitize_end end;
	double part;

	if (identify(fd, CNS_CONTROLLER, 0, data, e) != 0)
		return -1;
	if ((data[SANICAP] & SANICAP_ANY) == 0)
		return 0;
	if (nvme_sanitize_state(fd, &end, &part, e) != 0)
		return -1;
	if (end != NVME_SANITIZE_RUNS)
		return 0;
	err_set(e, ERR_STATE, "a sanitize is in progress: %.0f %% done", part * 100);
	return err_fix(e, "wait until it has ended: nvme sanitize-log");
}
