#include "cli/out.h"

#include <langinfo.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/human.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/str.h"

static const char *const formats[] = {
	[OUT_TABLE] = "table",
	[OUT_WIDE] = "wide",
	[OUT_JSON] = "json",
	[OUT_CSV] = "csv",
	[OUT_NAME] = "name",
	[OUT_YAML] = "yaml",
	NULL,
};

static bool
is_set(const char *variable)
{
	const char *value = getenv(variable);

	return value != NULL && value[0] != '\0';
}

void
out_init(struct out *o, FILE *file, enum out_format format)
{
	const char *term = getenv("TERM");
	bool moves = term != NULL && term[0] != '\0' && strcmp(term, "dumb") != 0;

	o->file = file;
	o->fd = fileno(file);
	o->format = format;
	o->terminal = moves && isatty(o->fd) == 1;
	o->colour = o->terminal && !is_set("NO_COLOR");
	o->utf8 = o->terminal && strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	o->now_ns = clock_wall();
}

int
out_parse_format(const char *text, enum out_format *ret_format, struct err *e)
{
	for (int i = 0; formats[i] != NULL; i++) {
		if (strcmp(formats[i], text) != 0)
			continue;
		*ret_format = (enum out_format)i;
		return 0;
	}
	return err_set(e, ERR_INVALID, "\"%.40s\" is not an output format", text);
}

const char *
out_format_name(enum out_format format)
{
	return formats[format];
}

static struct winsize
window(const struct out *o)
{
	struct winsize w = {0};

	if (!o->terminal || ioctl(o->fd, TIOCGWINSZ, &w) != 0)
		memset(&w, 0, sizeof(w));
	return w;
}

unsigned
out_width(const struct out *o)
{
	return window(o).ws_col;
}

unsigned
out_height(const struct out *o)
{
	return window(o).ws_row;
}

/* JSON escapes what is below a blank; what terminals obey too stands between 0x7f and
 * 0x9f. */
static int
write_json(const char *text, size_t len, void *arg)
{
	const unsigned char *p = (const unsigned char *)text;
	FILE *file = arg;

	for (size_t i = 0; i < len; i++) {
		if (p[i] == 0x7f)
			fputs("\\u007f", file);
		else if (p[i] == 0xc2 && i + 1 < len && p[i + 1] < 0xa0)
			fprintf(file, "\\u%04x", (unsigned)p[++i]);
		else
			fputc(p[i], file);
	}
	return 0;
}

void
out_json(const struct out *o, const json_t *doc)
{
	json_dump_callback(doc, write_json, o->file, JSON_INDENT(2) | JSON_ENCODE_ANY);
	fputc('\n', o->file);
}

void
out_json_line(const struct out *o, const json_t *doc)
{
	json_dump_callback(doc, write_json, o->file, JSON_COMPACT);
	fputc('\n', o->file);
}

static void line_to(FILE *file, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));

static void
line_to(FILE *file, const char *fmt, va_list ap)
{
	struct str clean = {0};
	char *raw;

	if (vasprintf(&raw, fmt, ap) < 0)
		abort();
	human_clean(raw, "", &clean);
	fprintf(file, "%s\n", str_text(&clean));
	str_fini(&clean);
	free(raw);
}

void
out_line(const struct out *o, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	line_to(o->file, fmt, ap);
	va_end(ap);
}

void
out_bytes(const struct out *o, const char *text, size_t len)
{
	struct str clean = {0};

	if (!o->terminal && isatty(o->fd) != 1) {
		fwrite(text, 1, len, o->file);
		return;
	}
	human_clean(text, "\n\t", &clean);
	fputs(str_text(&clean), o->file);
	str_fini(&clean);
}

/* Red asks for a person, yellow for patience, green is work going on. */
static const struct {
	const char *state;
	const char *colour;
} colours[] = {
	{"failed", "\033[31m"},
	{"lost", "\033[31m"},
	{"incompatible", "\033[31m"},
	{"fenced", "\033[31m"},
	{"protected", "\033[31m"},
	{"conflict", "\033[31m"},
	{"quarantined", "\033[31m"},
	{"worse", "\033[31m"},
	{"B is worse", "\033[31m"},
	{"stale", "\033[33m"},
	{"never heard", "\033[33m"},
	{"not joined", "\033[33m"},
	{"pending", "\033[33m"},
	{"queued", "\033[33m"},
	{"late", "\033[33m"},
	{"cancelling", "\033[33m"},
	{"draining", "\033[33m"},
	{"unapproved", "\033[33m"},
	{"absent", "\033[33m"},
	{"running", "\033[32m"},
	{"collecting", "\033[32m"},
	{"better", "\033[32m"},
	{"B is better", "\033[32m"},
};

const char *
out_colour(const struct out *o, const char *state)
{
	if (!o->colour)
		return "";
	for (size_t i = 0; i < sizeof(colours) / sizeof(colours[0]); i++)
		if (strcmp(colours[i].state, state) == 0)
			return colours[i].colour;
	return "";
}

const char *
out_plain(const struct out *o)
{
	return o->colour ? "\033[0m" : "";
}

void
talk(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	line_to(stderr, fmt, ap);
	va_end(ap);
}

bool
out_can_ask(void)
{
	return isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1;
}

bool
out_read_line(char *buf, size_t size)
{
	size_t n;

	if (fgets(buf, (int)size, stdin) == NULL)
		return false;
	n = strcspn(buf, "\r\n");
	if (buf[n] == '\0' && n + 1 == size)
		return false;
	buf[n] = '\0';
	return true;
}
