#include "cli/watch.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/client.h"
#include "cli/cmd.h"
#include "cli/feed.h"
#include "cli/out.h"
#include "cli/progress.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/json.h"
#include "common/parse.h"
#include "common/str.h"

#define STEP_MS 200		    /* between looks at the clock */
#define DRAW_NS (NS_PER_S / 2)	    /* between two drawings */
#define STALE_NS (NS_PER_S / 2)	    /* least time between two readings */
#define POLL_NS (15 * NS_PER_S)	    /* reading without an event */
#define LOST_POLL_NS (5 * NS_PER_S) /* the same while there is no stream */
#define SILENT_NS (25 * NS_PER_S)   /* the server sends a heartbeat every 10 s */
#define RETRY_NS NS_PER_S	    /* between attempts to connect */
#define ROWS_WITHOUT_HEIGHT 40

struct watch {
	struct client *client;
	const char *id;
	const struct watch_options *o;
	struct progress *progress;
	struct feed feed;
	struct stream *stream; /* NULL while there is no connection */
	int64_t retry_ns;      /* connect again then */
	int64_t heard_ns;      /* last byte of the stream */
	bool lost;	       /* said that the connection is lost */
	bool stale;	       /* the documents have to be read again */
	int64_t read_ns;       /* when they were read, and how long that took */
	int64_t reading_ns;
	int64_t drawn_ns;
	unsigned lines; /* of the block on the screen */
};

int
watch_timeout(const struct cli *c, struct watch_options *o, struct err *e)
{
	const char *text = c->flags[FLAG_TIMEOUT];

	if (text == NULL)
		return 0;
	if (parse_duration(text, &o->timeout_ns, e) != 0)
		return err_ctx(e, "--timeout");
	o->timeout = text;
	return 0;
}

/* Takes the block off the screen, so that something else can be said. */
static void
wipe(struct watch *w)
{
	if (w->lines > 0)
		fprintf(w->o->out->file, "\033[%uA\033[J", w->lines);
	w->lines = 0;
}

static void
draw(struct watch *w, int64_t now_ns)
{
	const struct out *o = w->o->out;
	unsigned height = out_height(o);
	struct out into = *o;
	char *text = NULL;
	size_t len = 0;

	into.file = open_memstream(&text, &len);
	if (into.file == NULL)
		abort();
	into.format = OUT_WIDE; /* columns that come and go would dance */
	progress_block(w->progress, &into, height > 5 ? height - 5 : ROWS_WITHOUT_HEIGHT,
		now_ns);
	fclose(into.file);
	wipe(w);
	/* Without line wrap a line of ours is a line of the screen. */
	fprintf(o->file, "\033[?7l%s\033[?7h", text);
	for (size_t i = 0; i < len; i++)
		w->lines += text[i] == '\n';
	fflush(o->file);
	free(text);
	w->drawn_ns = now_ns;
}

static bool
draws(const struct watch *w)
{
	return w->o->out->terminal && w->o->out->format != OUT_JSON;
}

/* Says something beside the block. */
static void
remark(struct watch *w, const char *text)
{
	wipe(w);
	fflush(w->o->out->file);
	talk("%s", text);
}

static void
print_line(const struct watch *w, const char *text)
{
	char time[40];

	format_time(clock_wall(), time, sizeof(time));
	time[19] = '\0';
	out_line(w->o->out, "%sZ  %s", time, text);
	fflush(w->o->out->file);
}

static void
print_json(const struct watch *w, const char *event, const char *id, json_t *data)
{
	json_t *line = json_object();

	if (id[0] != '\0')
		json_put(line, "id", json_string(id));
	json_put(line, "event", json_string(event));
	json_object_set(line, "data", data);
	out_json_line(w->o->out, line);
	fflush(w->o->out->file);
	json_decref(line);
}

static void
on_event(const char *event, const char *id, const char *text, void *arg)
{
	struct watch *w = arg;
	json_t *data = json_loads(text, 0, NULL);
	struct str line = {0};
	bool stale;

	if (data == NULL || !progress_event(w->progress, event, data, &stale)) {
		json_decref(data);
		return;
	}
	w->stale |= stale;
	if (w->o->out->format == OUT_JSON)
		print_json(w, event, id, data);
	else if (!draws(w) || strcmp(event, "run.alarm") == 0)
		progress_line(w->progress, event, data, &line);
	if (line.len > 0 && draws(w))
		remark(w, str_text(&line));
	else if (line.len > 0)
		print_line(w, str_text(&line));
	str_fini(&line);
	json_decref(data);
}

static void
on_bytes(const char *data, size_t len, void *arg)
{
	struct watch *w = arg;

	w->heard_ns = clock_mono();
	feed_take(&w->feed, data, len, on_event, w);
}

static int
connect_stream(struct watch *w, struct err *e)
{
	const struct stream_sink sink = {.take = on_bytes, .arg = w};
	struct str path = {0};
	struct str topics = {0};
	int rc;

	str_puts(&path, "/api/v1/events");
	progress_topics(w->progress, &topics);
	client_query(&path, "topics", str_text(&topics));
	feed_restart(&w->feed);
	w->heard_ns = clock_mono();
	rc = stream_open(
		w->client, str_text(&path), w->feed.last_id, sink, &w->stream, e);
	str_fini(&topics);
	str_fini(&path);
	return rc;
}

static int
read_campaign(struct watch *w, struct err *e)
{
	struct str path = {0};
	json_t *campaign = NULL;
	json_t *runs = NULL;
	int rc;

	str_printf(&path, "/api/v1/campaigns/%s", w->id);
	rc = client_get(w->client, str_text(&path), &campaign, e);
	str_puts(&path, "/runs");
	if (rc == 0)
		rc = client_list(w->client, str_text(&path), SIZE_MAX, &runs, e);
	if (rc == 0)
		progress_update(w->progress, campaign, json_object_get(runs, "items"),
			clock_mono());
	json_decref(campaign);
	json_decref(runs);
	str_fini(&path);
	return rc;
}

static int
read_run(struct watch *w, struct err *e)
{
	struct str path = {0};
	json_t *run = NULL;
	json_t *runs = json_array();
	int rc;

	str_printf(&path, "/api/v1/runs/%s", w->id);
	rc = client_get(w->client, str_text(&path), &run, e);
	if (rc == 0) {
		json_array_append_new(runs, run);
		progress_update(w->progress, NULL, runs, clock_mono());
	}
	json_decref(runs);
	str_fini(&path);
	return rc;
}

/* Reads the suite of what is followed, once; without it less is foretold. */
static void
read_suite(struct watch *w)
{
	struct err why = {0};
	struct str path = {0};
	json_t *suite = NULL;
	const char *name = progress_suite_name(w->progress);

	str_puts(&path, "/api/v1/suites");
	client_segment(&path, name);
	if (name[0] != '\0' && client_get(w->client, str_text(&path), &suite, &why) == 0)
		progress_suite(w->progress, suite);
	json_decref(suite);
	str_fini(&path);
}

static int
read_documents(struct watch *w, struct err *e)
{
	int64_t start_ns = clock_mono();
	int rc = w->id[0] == 'c' ? read_campaign(w, e) : read_run(w, e);

	w->read_ns = clock_mono();
	w->reading_ns = w->read_ns - start_ns;
	if (rc == 0)
		w->stale = false;
	return rc;
}

/* Drops the connection; says so once until it stands again. */
static void
lose(struct watch *w, int64_t now_ns)
{
	stream_free(w->stream);
	w->stream = NULL;
	w->retry_ns = now_ns + RETRY_NS;
	if (!w->lost)
		remark(w, "lost the controller; waiting for it to come back");
	w->lost = true;
	progress_stale(w->progress, true);
}

static int
step_stream(struct watch *w, int64_t now_ns, struct err *e)
{
	struct err why = {0};
	int rc;

	if (w->stream == NULL) {
		if (now_ns < w->retry_ns) {
			poll(NULL, 0, STEP_MS);
			return 0;
		}
		if (connect_stream(w, e) != 0)
			return -1;
	}
	rc = stream_step(w->stream, STEP_MS, &why);
	if (rc < 0 && !client_may_pass(&why)) {
		*e = why;
		return -1;
	}
	if (rc <= 0 || now_ns - w->heard_ns > SILENT_NS) {
		lose(w, now_ns);
	} else if (w->lost && stream_is_open(w->stream)) {
		remark(w, "the controller is back");
		w->lost = false;
		w->stale = true;
		progress_stale(w->progress, false);
	}
	return 0;
}

/* Reads the documents when an event or time asks for it, but never all the time. */
static int
refresh(struct watch *w, int64_t now_ns, struct err *e)
{
	struct err why = {0};
	int64_t age_ns = now_ns - w->read_ns;

	if (age_ns < STALE_NS || age_ns < 4 * w->reading_ns)
		return 0;
	if (!w->stale && age_ns < (w->lost ? LOST_POLL_NS : POLL_NS))
		return 0;
	if (read_documents(w, &why) == 0)
		return 0;
	if (!client_may_pass(&why)) {
		*e = why;
		return -1;
	}
	lose(w, now_ns);
	return 0;
}

static void
summarize(struct watch *w)
{
	struct str line = {0};

	if (w->o->out->format == OUT_JSON)
		return;
	if (draws(w)) {
		draw(w, clock_mono());
		return;
	}
	progress_summary(w->progress, &line);
	print_line(w, str_text(&line));
	str_fini(&line);
}

static int
follow(struct watch *w, int *ret_exit_code, struct err *e)
{
	int64_t start_ns = clock_mono();

	/* The stream opens before the second reading, so nothing falls between them. */
	if (read_documents(w, e) != 0 || connect_stream(w, e) != 0)
		return -1;
	w->stale = true;
	if (!progress_ended(w->progress, ret_exit_code)) {
		read_suite(w);
		summarize(w);
	}
	while (!progress_ended(w->progress, ret_exit_code)) {
		int64_t now_ns = clock_mono();

		if (w->o->timeout_ns > 0 && now_ns - start_ns > w->o->timeout_ns)
			return err_set(e, ERR_TIMEOUT,
				"stopped following after %s; %s goes on", w->o->timeout,
				w->id);
		if (step_stream(w, now_ns, e) != 0 || refresh(w, now_ns, e) != 0)
			return -1;
		if (draws(w) && now_ns - w->drawn_ns >= DRAW_NS)
			draw(w, now_ns);
	}
	summarize(w);
	return 0;
}

int
watch_follow(struct client *c, const char *id, const struct watch_options *o,
	int *ret_exit_code, struct err *e)
{
	struct watch w = {.client = c, .id = id, .o = o, .progress = progress_new(id)};
	int rc = follow(&w, ret_exit_code, e);

	stream_free(w.stream);
	feed_fini(&w.feed);
	progress_free(w.progress);
	return rc;
}
