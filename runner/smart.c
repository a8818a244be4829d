#include "runner/smart.h"

#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "common/le.h"
#include "common/nvme.h"

/* Fields of the log page (Base 2.0, figure 207). */
#define CRITICAL_WARNING 0
#define TEMPERATURE 1 /* kelvin, 2 bytes */
#define SENSORS 200   /* 8 of 2 bytes, kelvin; 0: there is none */
#define N_SENSORS 8
#define WARNING_MINUTES 192
#define CRITICAL_MINUTES 196
#define TRANSITIONS_1 216
#define TRANSITIONS_2 220
#define SECONDS_1 224
#define SECONDS_2 228

/* WCTEMP of Identify Controller (Base 2.0, figure 275), kelvin. */
#define WCTEMP 266

/* Fields of Identify Namespace (NVM 1.0, figure 97). */
#define NLBAF 25
#define FLBAS 26
#define DPS 29
#define LBAF 128

#define LOG_SMART 0x02
#define KELVIN 273

/* A field of up to 16 bytes. */
struct field {
	const char *name;
	unsigned at, bytes;
};

static const struct field fields[] = {
	{"critical_warning", CRITICAL_WARNING, 1},
	{"available_spare_percent", 3, 1},
	{"available_spare_threshold_percent", 4, 1},
	{"percentage_used", 5, 1},
	{"endurance_group_critical_warning", 6, 1},
	{"data_units_read", 32, 16},
	{"data_units_written", 48, 16},
	{"host_read_commands", 64, 16},
	{"host_write_commands", 80, 16},
	{"controller_busy_minutes", 96, 16},
	{"power_cycles", 112, 16},
	{"power_on_hours", 128, 16},
	{"unsafe_shutdowns", 144, 16},
	{"media_errors", 160, 16},
	{"error_log_entries", 176, 16},
	{"warning_temperature_minutes", WARNING_MINUTES, 4},
	{"critical_temperature_minutes", CRITICAL_MINUTES, 4},
	{"thermal_transitions_1", TRANSITIONS_1, 4},
	{"thermal_transitions_2", TRANSITIONS_2, 4},
	{"thermal_seconds_1", SECONDS_1, 4},
	{"thermal_seconds_2", SECONDS_2, 4},
};

static int
celsius(const uint8_t *at)
{
	return (int)le_get16(at) - KELVIN;
}

/* A little-endian number of up to 16 bytes, in decimal: divided by 10 until nothing is
 * left, digit by digit from the end. */
static json_t *
decimal(const uint8_t *at, unsigned bytes)
{
	uint8_t n[16];
	char text[40];
	size_t i = sizeof(text) - 1;
	bool left;

	memcpy(n, at, bytes);
	text[i] = '\0';
	do {
		unsigned rest = 0;

		left = false;
		for (unsigned b = bytes; b > 0; b--) {
			rest = rest << 8 | n[b - 1];
			n[b - 1] = (uint8_t)(rest / 10);
			rest %= 10;
			left = left || n[b - 1] != 0;
		}
		text[--i] = (char)('0' + rest);
	} while (left);
	return json_string(text + i);
}

json_t *
smart_decode(const uint8_t log[SMART_LOG_BYTES])
{
	json_t *o = json_object();
	json_t *sensors = json_array();

	json_put(o, "temperature_c", json_integer(celsius(log + TEMPERATURE)));
	for (int i = 0; i < N_SENSORS; i++)
		if (le_get16(log + SENSORS + 2 * i) != 0)
			json_array_append_new(
				sensors, json_integer(celsius(log + SENSORS + 2 * i)));
	json_put(o, "sensors_c", sensors);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		json_put(o, fields[i].name, decimal(log + fields[i].at, fields[i].bytes));
	return o;
}

void
smart_decode_heat(const uint8_t log[SMART_LOG_BYTES], struct smart_heat *ret_h)
{
	uint64_t minutes = (uint64_t)le_get32(log + WARNING_MINUTES) +
			   le_get32(log + CRITICAL_MINUTES);

	*ret_h = (struct smart_heat){.temperature_c = celsius(log + TEMPERATURE),
		.transitions = (uint64_t)le_get32(log + TRANSITIONS_1) +
			       le_get32(log + TRANSITIONS_2),
		.seconds = (uint64_t)le_get32(log + SECONDS_1) +
			   le_get32(log + SECONDS_2) + 60 * minutes};
}

int
smart_read(int fd, json_t **ret_doc, struct err *e)
{
	uint8_t log[SMART_LOG_BYTES] = {0};

	if (nvme_log(fd, LOG_SMART, log, sizeof(log), e) != 0)
		return -1;
	*ret_doc = smart_decode(log);
	return 0;
}

bool
smart_read_heat(int fd, struct smart_heat *ret_h)
{
	uint8_t log[SMART_LOG_BYTES] = {0};
	uint8_t data[NVME_IDENTIFY_BYTES] = {0};
	struct err e = {0};

	if (nvme_log(fd, LOG_SMART, log, sizeof(log), &e) != 0)
		return false;
	smart_decode_heat(log, ret_h);
	if (nvme_identify_controller(fd, data, &e) == 0 && le_get16(data + WCTEMP) != 0)
		ret_h->warning_c = celsius(data + WCTEMP);
	return true;
}

json_t *
smart_decode_format(const uint8_t *data)
{
	/* With more than 16 formats, bits 5 and 6 are the upper bits of the index. */
	unsigned index = (data[FLBAS] & 0x0f) | (data[FLBAS] & 0x60) >> 1;
	const uint8_t *lbaf = data + LBAF + 4 * index;
	json_t *o = json_object();

	json_put(o, "index", json_integer((json_int_t)index));
	json_put(o, "block_bytes",
		lbaf[2] < 32 ? json_integer((json_int_t)1 << lbaf[2]) : json_null());
	json_put(o, "metadata_bytes", json_integer(le_get16(lbaf)));
	json_put(o, "metadata_in_line", json_boolean((data[FLBAS] & 0x10) != 0));
	json_put(o, "protection_type", json_integer(data[DPS] & 0x07));
	return o;
}

json_t *
smart_format(int fd)
{
	uint8_t data[NVME_IDENTIFY_BYTES] = {0};
	struct err e = {0};

	return nvme_identify_namespace(fd, data, &e) == 0 ? smart_decode_format(data)
							  : json_null();
}
