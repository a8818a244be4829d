#include "runner/manifest.h"

#include "common/drive.h"
#include "common/json.h"
#include "tests/unit/tree.h"

#define NVME "sys/devices/pci0000:00/0000:01:00.0"
#define DISK NVME "/nvme/nvme0/nvme0n1"
#define CPUS "sys/devices/system/cpu"

static const struct drive_id drive = {.kind = DRIVE_NVME,
	.model = "M",
	.serial = "S1",
	.firmware = "F1",
	.capacity_bytes = UINT64_C(1) << 40,
	.logical_block_bytes = 4096,
	.numa_node = 1};
static char block_dir[PATH_MAX];
static struct manifest_place place;
static json_t *m;

static void
server(void)
{
	static const char *const files[][2] = {
		{"proc/sys/kernel/osrelease", "6.1.0-57-amd64"},
		{"proc/cmdline", "root=/dev/sda quiet"},
		{"proc/cpuinfo",
			"processor\t: 0\nmodel name\t: Xeon 8380\nmicrocode\t: "
			"0xd0003a5\n"
			"physical id\t: 0\nflags\t\t: fpu sse2\n\n"
			"processor\t: 1\nmodel name\t: Xeon 8380\nphysical id\t: 1\n"},
		{"proc/meminfo", "MemTotal:       1000123 kB\nMemFree: 5 kB"},
		{CPUS "/cpu0/cpufreq/scaling_governor", "performance"},
		{CPUS "/cpu1/cpufreq/scaling_governor", "powersave"},
		{CPUS "/cpufreq/scaling_governor", "not of a processor"},
		{CPUS "/cpu0/cpufreq/scaling_max_freq", "3400000"},
		{CPUS "/cpu1/cpufreq/scaling_max_freq", "3400000"},
		{CPUS "/intel_pstate/no_turbo", "1"},
		{CPUS "/cpu0/cpuidle/state0/name", "POLL"},
		{CPUS "/cpu0/cpuidle/state0/disable", "0"},
		{CPUS "/cpu0/cpuidle/state1/name", "C6"},
		{CPUS "/cpu0/cpuidle/state1/disable", "1"},
		{CPUS "/vulnerabilities/meltdown", "Mitigation: PTI"},
		{CPUS "/smt/active", "1"},
		{"sys/devices/system/node/node0/cpulist", "0"},
		{"sys/devices/system/node/node1/cpulist", "1"},
		{"sys/devices/system/clocksource/clocksource0/current_clocksource",
			"tsc"},
		{"sys/class/dmi/id/sys_vendor", "Dell Inc."},
		{"etc/os-release", "ID=debian\nPRETTY_NAME=\"Debian 12\"\nX=\"y\""},
		{NVME "/current_link_speed", "8.0 GT/s PCIe"},
		{NVME "/current_link_width", "4"},
		{NVME "/max_link_speed", "16.0 GT/s PCIe"},
		{NVME "/max_link_width", "4"},
		{DISK "/queue/scheduler", "[none] mq-deadline"},
		{DISK "/queue/nr_requests", "1023"},
		{DISK "/queue/wbt_lat_usec", "2000"},
		{DISK "/queue/write_cache", "write back"},
		{"sys/module/nvme/parameters/poll_queues", "2"},
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		tree_put(files[i][0], files[i][1]);
}

static void
setup(void)
{
	tree_make();
	snprintf(block_dir, sizeof(block_dir), "%s/" DISK, tree_root);
	place = (struct manifest_place){
		.root = tree_root, .drive = &drive, .agent = "0.1.0", .liburing = "2.3"};
}

static void
teardown(void)
{
	json_decref(m);
	m = NULL;
	tree_remove();
}

/* Wants a member, as compact JSON. */
static void
is(const char *section, const char *name, const char *want)
{
	json_t *v = json_object_get(json_object_get(m, section), name);
	char *text;

	ck_assert_msg(v != NULL, "%s.%s is not there", section, name);
	text = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT);
	ck_assert_msg(strcmp(text, want) == 0, "%s.%s: %s", section, name, text);
	free(text);
}

START_TEST(a_server_is_told)
{
	server();
	place.block_dir = block_dir;
	m = manifest_make(&place);
	is("kernel", "release", "\"6.1.0-57-amd64\"");
	is("kernel", "command_line", "\"root=/dev/sda quiet\"");
	is("kernel", "clock_source", "\"tsc\"");
	is("host", "vendor", "\"Dell Inc.\"");
	is("host", "distribution", "\"Debian 12\"");
	is("host", "container", "null");
	is("host", "virtual_machine", "null");
	is("processor", "model", "\"Xeon 8380\"");
	is("processor", "microcode", "\"0xd0003a5\"");
	is("processor", "count", "2");
	is("processor", "sockets", "2");
	is("processor", "smt", "1");
	is("processor", "governor", "\"performance, powersave\"");
	is("processor", "frequency_max_khz", "\"3400000\"");
	is("processor", "turbo", "\"off\"");
	is("processor", "idle_states", "\"POLL (C6)\"");
	is("processor", "mitigations", "{\"meltdown\":\"Mitigation: PTI\"}");
	is("memory", "total_bytes", "\"1073741824\"");
	is("drive", "firmware", "\"F1\"");
	is("drive", "numa_node", "1");
	is("queue", "scheduler", "\"none\"");
	is("queue", "nr_requests", "1023");
	is("queue", "wbt_lat_usec", "2000");
	is("queue", "write_cache", "\"write back\"");
	is("queue", "nomerges", "null");
	is("link", "speed", "\"8.0 GT/s PCIe\"");
	is("link", "max_speed", "\"16.0 GT/s PCIe\"");
	is("link", "width", "4");
	is("modules", "nvme.poll_queues", "2");
	is("versions", "agent", "\"0.1.0\"");
	is("versions", "liburing", "\"2.3\"");
	ck_assert_str_eq(
		json_text_of(json_object_get(json_object_get(m, "memory"), "numa"), "1"),
		"1");
}
END_TEST

START_TEST(nothing_to_read_is_null_and_no_failure)
{
	m = manifest_make(&place);
	is("kernel", "release", "null");
	is("processor", "governor", "null");
	is("processor", "turbo", "null");
	is("memory", "numa", "{}");
	is("host", "distribution", "null");
	ck_assert(json_is_null(json_object_get(m, "queue")));
	ck_assert(json_is_null(json_object_get(m, "link")));
}
END_TEST

START_TEST(virtual_machines_and_containers_are_told)
{
	tree_put("proc/cpuinfo", "processor : 0\nflags : fpu hypervisor lahf_lm");
	m = manifest_make(&place);
	is("host", "virtual_machine", "\"a kind that is not known\"");
	json_decref(m);
	tree_put("sys/class/dmi/id/sys_vendor", "QEMU");
	tree_put(".dockerenv", "");
	m = manifest_make(&place);
	is("host", "virtual_machine", "\"QEMU\"");
	is("host", "container", "\"docker\"");
	json_decref(m);
	tree_put("run/systemd/container", "lxc");
	m = manifest_make(&place);
	is("host", "container", "\"lxc\"");
}
END_TEST

START_TEST(the_same_machine_gives_the_same_document)
{
	json_t *again;

	server();
	place.block_dir = block_dir;
	m = manifest_make(&place);
	again = manifest_make(&place);
	ck_assert(json_equal(m, again));
	json_decref(again);
	/* the serial number is not of the environment */
	ck_assert_ptr_null(json_object_get(json_object_get(m, "drive"), "serial"));
}
END_TEST

/* What this machine is: nothing is known of it but that it has a kernel. */
START_TEST(this_machine_has_one_too)
{
	place.root = "";
	m = manifest_make(&place);
	ck_assert(
		!json_is_null(json_object_get(json_object_get(m, "kernel"), "release")));
	ck_assert_int_ge(json_integer_value(json_object_get(
				 json_object_get(m, "processor"), "count")),
		1);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("manifest");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_server_is_told);
	tcase_add_test(tc, nothing_to_read_is_null_and_no_failure);
	tcase_add_test(tc, virtual_machines_and_containers_are_told);
	tcase_add_test(tc, the_same_machine_gives_the_same_document);
	tcase_add_test(tc, this_machine_has_one_too);
	return unit_run("manifest", tc);
}
