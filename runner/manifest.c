#include "runner/manifest.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "common/drive.h"
#include "common/json.h"
#include "common/str.h"
#include "common/sysfs.h"
#include "common/xalloc.h"
#include "config.h"

/* A kernel command line has at most 4,096 bytes on all machines we know. */
#define TEXT_MAX 4200

/* Of memory, so much is no difference. */
#define MEMORY_STEP (UINT64_C(256) << 20)

#define CPUS "sys/devices/system/cpu"

static json_t *
text_or_null(const char *text)
{
	return text != NULL && text[0] != '\0' ? json_text(text) : json_null();
}

/* The text of a file below dir; null when it cannot be read. */
static json_t *
file_in(const char *dir, const char *name)
{
	char text[TEXT_MAX];

	return dir != NULL && sysfs_read(dir, name, text, sizeof(text))
		       ? text_or_null(text)
		       : json_null();
}

static json_t *
number_in(const char *dir, const char *name)
{
	char text[32], *end;
	long long n;

	if (dir == NULL || !sysfs_read(dir, name, text, sizeof(text)) || text[0] == '\0')
		return json_null();
	n = strtoll(text, &end, 10);
	return *end == '\0' ? json_integer(n) : json_null();
}

static json_t *
kernel(const char *root)
{
	json_t *o = json_object();
	struct utsname u;

	json_put(o, "release", file_in(root, "proc/sys/kernel/osrelease"));
	json_put(o, "version", file_in(root, "proc/sys/kernel/version"));
	json_put(o, "command_line", file_in(root, "proc/cmdline"));
	json_put(o, "machine", uname(&u) == 0 ? json_text(u.machine) : json_null());
	json_put(o, "clock_source",
		file_in(root, "sys/devices/system/clocksource/clocksource0/"
			      "current_clocksource"));
	return o;
}

/* What /proc/cpuinfo says, the first processor standing for all. */
struct cpuinfo {
	char model[128];
	char microcode[32];
	bool hypervisor; /* the processor is one of a virtual machine */
	int count, sockets;
};

/* The value of a line "name : value", or NULL when it has another name. */
static const char *
value_of(char *line, const char *name)
{
	char *colon = strchr(line, ':');
	size_t n = strlen(name);

	if (colon == NULL || strncmp(line, name, n) != 0 ||
		(line[n] != ' ' && line[n] != '\t' && line[n] != ':'))
		return NULL;
	colon += strspn(colon, ": \t");
	colon[strcspn(colon, "\n")] = '\0';
	return colon;
}

static void
read_cpuinfo_line(struct cpuinfo *c, char *line, uint64_t *sockets)
{
	const char *v;

	if (value_of(line, "processor") != NULL)
		c->count++;
	else if ((v = value_of(line, "model name")) != NULL)
		snprintf(c->model, sizeof(c->model), "%s", v);
	else if ((v = value_of(line, "microcode")) != NULL)
		snprintf(c->microcode, sizeof(c->microcode), "%s", v);
	else if ((v = value_of(line, "physical id")) != NULL)
		*sockets |= UINT64_C(1) << ((unsigned)atoi(v) & 63);
	else if ((v = value_of(line, "flags")) != NULL)
		c->hypervisor = strstr(v, " hypervisor") != NULL;
}

static struct cpuinfo
read_cpuinfo(const char *root)
{
	struct cpuinfo c = {0};
	uint64_t sockets = 0;
	char path[PATH_MAX];
	char *line = NULL;
	size_t cap = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/proc/cpuinfo", root);
	f = fopen(path, "re");
	while (f != NULL && getline(&line, &cap, f) > 0)
		read_cpuinfo_line(&c, line, &sockets);
	if (f != NULL)
		fclose(f);
	free(line);
	c.sockets = __builtin_popcountll(sockets);
	return c;
}

/* Distinct values of a file of all processors, in order of appearance by name. */
struct values {
	const char *attr;
	json_t *seen; /* object: value -> true */
};

static bool
add_value(void *arg, const char *dir)
{
	struct values *v = arg;
	char text[256];

	if (strncmp(sysfs_name(dir), "cpu", 3) == 0 &&
		isdigit((unsigned char)sysfs_name(dir)[3]) &&
		sysfs_read(dir, v->attr, text, sizeof(text)) && text[0] != '\0')
		json_put(v->seen, text, json_true());
	return true;
}

static int
by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names of an object, sorted, with commas; null for none. */
static json_t *
names_joined(json_t *o)
{
	size_t n = json_object_size(o), i = 0;
	const char **names = xcalloc(n + 1, sizeof(*names));
	struct str text = {0};
	const char *name;
	json_t *v, *joined;

	json_object_foreach (o, name, v)
		names[i++] = name;
	qsort(names, n, sizeof(*names), by_text);
	for (i = 0; i < n; i++)
		str_printf(&text, "%s%s", i > 0 ? ", " : "", names[i]);
	joined = text_or_null(str_text(&text));
	str_fini(&text);
	free(names);
	return joined;
}

static json_t *
of_all_cpus(const char *root, const char *attr)
{
	struct values v = {attr, json_object()};
	json_t *joined;

	sysfs_each(root, CPUS, add_value, &v);
	joined = names_joined(v.seen);
	json_decref(v.seen);
	return joined;
}

/* Adds the content of each file of a directory: its name -> text. */
static bool
add_file(void *arg, const char *path)
{
	char dir[PATH_MAX];

	snprintf(dir, sizeof(dir), "%.*s",
		(int)(strlen(path) - strlen(sysfs_name(path)) - 1), path);
	json_put(arg, sysfs_name(path), file_in(dir, sysfs_name(path)));
	return true;
}

/* Names of the idle states of the first processor; those that are off in brackets. */
static json_t *
idle_states(const char *root)
{
	struct str text = {0};
	json_t *v;

	for (int i = 0; i < 16; i++) {
		char dir[PATH_MAX], name[64], off[8];

		snprintf(dir, sizeof(dir), "%s/" CPUS "/cpu0/cpuidle/state%d", root, i);
		if (!sysfs_read(dir, "name", name, sizeof(name)))
			break;
		sysfs_read(dir, "disable", off, sizeof(off));
		str_printf(
			&text, off[0] == '1' ? "%s(%s)" : "%s%s", i > 0 ? " " : "", name);
	}
	v = text_or_null(str_text(&text));
	str_fini(&text);
	return v;
}

/* "on" or "off": intel_pstate says when turbo is off, others when boost is on. */
static json_t *
turbo(const char *root)
{
	char text[8];

	if (sysfs_read(root, CPUS "/intel_pstate/no_turbo", text, sizeof(text)))
		return json_string(text[0] == '1' ? "off" : "on");
	if (sysfs_read(root, CPUS "/cpufreq/boost", text, sizeof(text)))
		return json_string(text[0] == '1' ? "on" : "off");
	return json_null();
}

static json_t *
processor(const char *root, const struct cpuinfo *c)
{
	json_t *o = json_object();
	json_t *mitigations = json_object();

	json_put(o, "model", text_or_null(c->model));
	json_put(o, "microcode", text_or_null(c->microcode));
	json_put(o, "count", json_integer(c->count));
	json_put(o, "sockets", json_integer(c->sockets));
	json_put(o, "smt", number_in(root, CPUS "/smt/active"));
	json_put(o, "frequency_driver", of_all_cpus(root, "cpufreq/scaling_driver"));
	json_put(o, "governor", of_all_cpus(root, "cpufreq/scaling_governor"));
	json_put(o, "preference",
		of_all_cpus(root, "cpufreq/energy_performance_preference"));
	json_put(o, "frequency_min_khz", of_all_cpus(root, "cpufreq/scaling_min_freq"));
	json_put(o, "frequency_max_khz", of_all_cpus(root, "cpufreq/scaling_max_freq"));
	json_put(o, "turbo", turbo(root));
	json_put(o, "idle_driver", file_in(root, CPUS "/cpuidle/current_driver"));
	json_put(o, "idle_states", idle_states(root));
	json_put(o, "idle_limit",
		number_in(root, "sys/module/intel_idle/parameters/max_cstate"));
	sysfs_each(root, CPUS "/vulnerabilities", add_file, mitigations);
	json_put(o, "mitigations", mitigations);
	return o;
}

/* What the kernel keeps for itself is not the same after each boot. */
static uint64_t
rounded(uint64_t bytes)
{
	return (bytes + MEMORY_STEP / 2) / MEMORY_STEP * MEMORY_STEP;
}

static bool
add_numa_node(void *arg, const char *dir)
{
	const char *name = sysfs_name(dir);

	if (strncmp(name, "node", 4) == 0 && isdigit((unsigned char)name[4]))
		json_put(arg, name + 4, file_in(dir, "cpulist"));
	return true;
}

static json_t *
memory(const char *root)
{
	json_t *o = json_object();
	json_t *numa = json_object();
	char text[256];
	unsigned long long kib = 0;

	if (sysfs_read(root, "proc/meminfo", text, sizeof(text)) &&
		sscanf(text, "MemTotal: %llu kB", &kib) == 1)
		json_put(o, "total_bytes", json_u64(rounded((uint64_t)kib * 1024)));
	else
		json_put(o, "total_bytes", json_null());
	sysfs_each(root, "sys/devices/system/node", add_numa_node, numa);
	json_put(o, "numa", numa);
	json_put(o, "transparent_hugepages",
		file_in(root, "sys/kernel/mm/transparent_hugepage/enabled"));
	return o;
}

/* PRETTY_NAME of os-release(5). */
static json_t *
distribution(const char *root)
{
	static const char key[] = "PRETTY_NAME=";
	char text[TEXT_MAX];
	char *at;

	if (!sysfs_read(root, "etc/os-release", text, sizeof(text)) ||
		(at = strstr(text, key)) == NULL)
		return json_null();
	at += sizeof(key) - 1;
	at += *at == '"';
	at[strcspn(at, "\"\n")] = '\0';
	return text_or_null(at);
}

/* systemd.io, Container Interface; the other two are where Docker and Podman leave their
 * marks. */
static json_t *
container(const char *root)
{
	char text[64];

	if (sysfs_read(root, "run/systemd/container", text, sizeof(text)) &&
		text[0] != '\0')
		return json_text(text);
	if (sysfs_has(root, ".dockerenv"))
		return json_string("docker");
	if (sysfs_has(root, "run/.containerenv"))
		return json_string("podman");
	return json_null();
}

static json_t *
virtual_machine(const char *root, const struct cpuinfo *c)
{
	char text[64];

	if (sysfs_read(root, "sys/hypervisor/type", text, sizeof(text)) &&
		text[0] != '\0')
		return json_text(text);
	if (!c->hypervisor)
		return json_null();
	sysfs_read(root, "sys/class/dmi/id/sys_vendor", text, sizeof(text));
	return json_text(text[0] != '\0' ? text : "a kind that is not known");
}

static json_t *
host(const char *root, const struct cpuinfo *c)
{
	json_t *o = json_object();

	json_put(o, "vendor", file_in(root, "sys/class/dmi/id/sys_vendor"));
	json_put(o, "product", file_in(root, "sys/class/dmi/id/product_name"));
	json_put(o, "board", file_in(root, "sys/class/dmi/id/board_name"));
	json_put(o, "bios", file_in(root, "sys/class/dmi/id/bios_version"));
	json_put(o, "distribution", distribution(root));
	json_put(o, "container", container(root));
	json_put(o, "virtual_machine", virtual_machine(root, c));
	return o;
}

static json_t *
drive(const struct manifest_place *p)
{
	const struct drive_id *d = p->drive;
	json_t *o = json_object();

	json_put(o, "kind", json_string(drive_kind_name(d->kind)));
	json_put(o, "model", json_text(d->model));
	json_put(o, "firmware", text_or_null(d->firmware));
	json_put(o, "capacity_bytes", json_u64(d->capacity_bytes));
	json_put(o, "logical_block_bytes", json_integer(d->logical_block_bytes));
	json_put(o, "numa_node", json_integer(d->numa_node));
	json_put(o, "virtual", json_boolean(d->is_virtual));
	json_put(o, "direct_loop", number_in(p->block_dir, "loop/dio"));
	json_put(
		o, "format", p->format != NULL ? json_deep_copy(p->format) : json_null());
	return o;
}

/* The scheduler that is used, which the kernel shows in brackets. */
static json_t *
scheduler(const char *dir)
{
	char text[256];
	char *open;

	if (dir == NULL || !sysfs_read(dir, "queue/scheduler", text, sizeof(text)))
		return json_null();
	open = strchr(text, '[');
	if (open == NULL)
		return text_or_null(text);
	open[strcspn(open, "]")] = '\0';
	return text_or_null(open + 1);
}

static json_t *
queue(const char *dir)
{
	static const char *const numbers[] = {"nr_requests", "nomerges", "rq_affinity",
		"wbt_lat_usec", "io_poll", "io_poll_delay", "max_sectors_kb",
		"max_hw_sectors_kb", "read_ahead_kb", "iostats", "add_random",
		"rotational", "physical_block_size", "discard_granularity"};
	json_t *o = json_object();
	char path[64];

	json_put(o, "scheduler", scheduler(dir));
	json_put(o, "write_cache", file_in(dir, "queue/write_cache"));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		snprintf(path, sizeof(path), "queue/%s", numbers[i]);
		json_put(o, numbers[i], number_in(dir, path));
	}
	return o;
}

static json_t *
link_of(const char *block_dir)
{
	char dir[SYSFS_PATH_MAX];
	json_t *o;

	if (block_dir == NULL || !sysfs_up(block_dir, "current_link_speed", dir))
		return json_null();
	o = json_object();
	json_put(o, "speed", file_in(dir, "current_link_speed"));
	json_put(o, "width", number_in(dir, "current_link_width"));
	json_put(o, "max_speed", file_in(dir, "max_link_speed"));
	json_put(o, "max_width", number_in(dir, "max_link_width"));
	return o;
}

static json_t *
modules(const char *root)
{
	json_t *o = json_object();

	json_put(o, "nvme.poll_queues",
		number_in(root, "sys/module/nvme/parameters/poll_queues"));
	json_put(o, "nvme.write_queues",
		number_in(root, "sys/module/nvme/parameters/write_queues"));
	json_put(o, "nvme_core.default_ps_max_latency_us",
		number_in(root, "sys/module/nvme_core/parameters/"
				"default_ps_max_latency_us"));
	json_put(o, "nvme_core.multipath",
		file_in(root, "sys/module/nvme_core/parameters/multipath"));
	json_put(o, "pcie_aspm.policy",
		file_in(root, "sys/module/pcie_aspm/parameters/policy"));
	return o;
}

static json_t *
versions(const struct manifest_place *p)
{
	json_t *o = json_object();

	json_put(o, "runner", json_string(PACKAGE_VERSION));
	json_put(o, "agent", text_or_null(p->agent));
	json_put(o, "liburing", text_or_null(p->liburing));
	json_put(o, "jansson", json_string(JANSSON_VERSION));
	return o;
}

json_t *
manifest_make(const struct manifest_place *p)
{
	/* "" would make a path of the present directory. */
	const char *root = p->root[0] != '\0' ? p->root : "/";
	struct cpuinfo c = read_cpuinfo(root);
	json_t *o = json_object();

	json_put(o, "schema", json_string("ssdlab/environment/v1"));
	json_put(o, "kernel", kernel(root));
	json_put(o, "host", host(root, &c));
	json_put(o, "processor", processor(root, &c));
	json_put(o, "memory", memory(root));
	json_put(o, "drive", drive(p));
	json_put(o, "queue", p->block_dir != NULL ? queue(p->block_dir) : json_null());
	json_put(o, "link", link_of(p->block_dir));
	json_put(o, "modules", modules(root));
	json_put(o, "versions", versions(p));
	return o;
}
