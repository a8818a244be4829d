#include "controller/boot.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/loop.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "controller/address.h"
#include "controller/controller.h"
#include "controller/keyfile.h"
#include "controller/store.h"
#include "controller/token.h"
#include "tests/unit/unit.h"

static char dir[64];
static char state[80];
static struct controller_options o;
static char *rest[2];

static void
set_up(void)
{
	static char words[3][16] = {"test", "--config", "/dev/null"};
	char *argv[] = {words[0], words[1], words[2], NULL};
	struct err e = {0};

	seal_init();
	snprintf(dir, sizeof(dir), "/tmp/test_boot.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(state, sizeof(state), "%s/state", dir);
	OK(opt_load(&controller_option_set, 3, argv, &o, rest, &e));
	free(o.state_dir);
	o.state_dir = xstrdup(state);
}

static void
tear_down(void)
{
	char *cmd = xasprintf("rm -rf %s", dir);

	opt_fini(&controller_option_set, &o);
	ck_assert_int_eq(system(cmd), 0);
	free(cmd);
}

static void
set(char **field, const char *text)
{
	free(*field);
	*field = xstrdup(text);
}

/* Puts something where the database is expected. */
static void
make_database(const char *text)
{
	char *path = xasprintf("%s/ssdlab.db", state);
	struct err e = {0};

	OK(keyfile_write(path, 0600, text, &e));
	free(path);
}

/* All of the boot, with a file that passes for the database it needs. */
static int
prepare(struct boot *b, struct err *e)
{
	if (boot_prepare(b, &o, e) != 0)
		return -1;
	make_database("rows");
	return boot_load_keys(b, e);
}

static void
refused(const char *part)
{
	struct boot b;
	struct err e = {0};

	FAILS(prepare(&b, &e), ERR_INVALID, part);
	boot_fini(&b);
}

START_TEST(plain_http_stays_on_loopback)
{
	static const char *const near[] = {"127.0.0.1", "127.9.9.9", "::1", "localhost"};
	static const char *const far[] = {
		"0.0.0.0", "::", "192.0.2.1", "lab", "2001:db8::1"};
	struct boot b;
	struct err e = {0};

	o.tls = false;
	for (size_t i = 0; i < sizeof(near) / sizeof(near[0]); i++) {
		set(&o.http_address, near[i]);
		OK(prepare(&b, &e));
		boot_fini(&b);
	}
	for (size_t i = 0; i < sizeof(far) / sizeof(far[0]); i++) {
		set(&o.http_address, far[i]);
		FAILS(prepare(&b, &e), ERR_INVALID, "tls is off");
		ck_assert_str_eq(e.fix, "set tls = yes, or http_address = 127.0.0.1");
		boot_fini(&b);
	}
}
END_TEST

START_TEST(options_that_make_no_sense_are_refused)
{
	set(&o.read_access, "all");
	refused("read_access: \"all\"");
	set(&o.read_access, "open");
	o.late_after = o.lost_after;
	refused("late_after must be below lost_after");
	o.late_after = 1;
	set(&o.public_url, "lab:7443");
	refused("public_url: \"lab:7443\"");
	set(&o.public_url, "https://lab:7443/path");
	refused("is not a URL of a host");
	set(&o.public_url, "https://");
	refused("is not a URL of a host");
	set(&o.public_url, "");
	set(&o.tls_cert, "/some/cert");
	refused("go together");
	o.tls = false;
	refused("tls is off");
}
END_TEST

static void
is_file(const char *name, unsigned mode)
{
	char *path = xasprintf("%s/%s", state, name);
	struct stat st;

	ck_assert_msg(stat(path, &st) == 0, "%s", path);
	ck_assert_uint_eq(st.st_mode & 07777, mode);
	free(path);
}

START_TEST(secrets_are_for_their_owner_only)
{
	struct boot b;
	struct err e = {0};

	OK(prepare(&b, &e));
	OK(boot_write_token(&b, "0123456789012345678901234567890123456789012", &e));
	is_file("", 0700);
	is_file("tls", 0700);
	is_file("tls/key.pem", 0600);
	is_file("tls/pin", 0600);
	is_file("seal.key", 0600);
	is_file("admin.token", 0600);
	boot_fini(&b);
}
END_TEST

START_TEST(a_second_start_has_the_keys_of_the_first)
{
	struct boot a;
	struct boot b;
	struct err e = {0};

	OK(prepare(&a, &e));
	OK(prepare(&b, &e));
	ck_assert_int_eq(memcmp(&a.keys, &b.keys, sizeof(a.keys)), 0);
	ck_assert_str_eq(a.tls.pin, b.tls.pin);
	boot_fini(&a);
	boot_fini(&b);
}
END_TEST

/* Whose a token is: the actor, or "". */
struct owner {
	const char *token;
	struct token_owner who;
	struct loop *loop;
	int found;
};

static int
find_owner(struct tx *t, void *arg, struct err *e)
{
	struct owner *w = arg;

	w->found = token_find(t, w->token, &w->who, e);
	return w->found < 0 ? -1 : 0;
}

static void
found_owner(void *arg, const struct err *e)
{
	struct owner *w = arg;

	ck_assert_ptr_null(e);
	loop_stop(w->loop);
}

/* Opens the database, as a controller does, and wants to know whose a token is. */
static void
is_token_of(const char *token, const char *actor, enum api_role role)
{
	struct owner w = {.token = token};
	char *path = xasprintf("%s/ssdlab.db", state);
	char other[SEAL_TOKEN_CHARS + 1];
	struct store *s;
	struct err e = {0};

	OK(loop_new(&w.loop, &e));
	OK(store_open(&s, path, w.loop, &e));
	OK(store_read(s, find_owner, found_owner, &w, &e));
	OK(loop_run(w.loop, &e));
	ck_assert_int_eq(w.found, actor[0] != '\0');
	ck_assert_str_eq(w.who.actor, actor);
	ck_assert_int_eq((int)w.who.role, (int)role);
	FAILS(controller_token(&o, "ci", "viewer", other, &e), ERR_STATE,
		"is in use by another process");
	store_close(s);
	loop_free(w.loop);
	free(path);
}

START_TEST(a_database_that_is_gone_is_no_first_start)
{
	static const char fix[] = "restore ssdlab.db from a backup, or move the state "
				  "directory away to begin an empty lab";
	char *path = xasprintf("%s/ssdlab.db", state);
	struct boot b;
	struct err e = {0};

	OK(boot_prepare(&b, &o, &e));
	ck_assert_int_ne(access(path, F_OK), 0);
	boot_fini(&b);
	OK(prepare(&b, &e));
	boot_fini(&b);
	OK(boot_prepare(&b, &o, &e));
	boot_fini(&b);
	make_database("");
	FAILS(boot_prepare(&b, &o, &e), ERR_STORE, "is missing or empty");
	ck_assert_str_eq(e.fix, fix);
	boot_fini(&b);
	ck_assert_int_eq(unlink(path), 0);
	FAILS(controller_run(&o, &e), ERR_STORE, "is missing or empty");
	ck_assert_str_eq(e.fix, fix);
	ck_assert_int_ne(access(path, F_OK), 0);
	free(path);
}
END_TEST

/* Starts a controller that ends because a port is none of this machine's. */
static void
start_in_vain(void)
{
	struct err e = {0};

	set(&o.http_address, "192.0.2.1");
	FAILS(controller_run(&o, &e), ERR_NET, "listen on 192.0.2.1");
}

static char *
admin_token(void)
{
	char *path = xasprintf("%s/admin.token", state);
	struct str text = {0};
	struct err e = {0};

	OK(keyfile_read(path, &text, &e));
	free(path);
	return str_take(&text);
}

START_TEST(an_admin_token_is_never_written_over)
{
	char *path = xasprintf("%s/ssdlab.db", state);
	char *first, *second;
	char *keys = xasprintf("%s/seal.key", state);

	start_in_vain();
	first = admin_token();
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(unlink(keys), 0);
	start_in_vain();
	second = admin_token();
	ck_assert_str_eq(first, second);
	second[strcspn(second, "\n")] = '\0';
	is_token_of(second, "admin", ROLE_OPERATOR);
	free(second);
	free(first);
	free(keys);
	free(path);
}
END_TEST

START_TEST(a_start_that_is_refused_by_the_lock_makes_no_file)
{
	char *path = xasprintf("%s/ssdlab.db", state);
	char *keys = xasprintf("%s/seal.key", state);
	char *tls = xasprintf("%s/tls", state);
	struct loop *l;
	struct store *s;
	struct err e = {0};

	ck_assert_int_eq(mkdir(state, 0700), 0);
	OK(loop_new(&l, &e));
	OK(store_open(&s, path, l, &e));
	FAILS(controller_run(&o, &e), ERR_STATE, "is in use by another process");
	ck_assert_int_ne(access(keys, F_OK), 0);
	ck_assert_int_ne(access(tls, F_OK), 0);
	store_close(s);
	loop_free(l);
	free(tls);
	free(keys);
	free(path);
}
END_TEST

/* What is as it has to be is not written again: a full disk is no obstacle then. */
START_TEST(a_second_start_writes_no_file_anew)
{
	static const char *const names[] = {
		"tls/pin", "tls/cert.pem", "client.conf", "seal.key"};
	struct stat before[4], after[4];
	struct err e = {0};
	struct boot b;

	for (int pass = 0; pass < 2; pass++) {
		OK(prepare(&b, &e));
		OK(boot_write_client(&b, 7443, &e));
		for (size_t i = 0; i < 4; i++) {
			char *path = xasprintf("%s/%s", state, names[i]);

			ck_assert_int_eq(
				stat(path, pass == 0 ? &before[i] : &after[i]), 0);
			free(path);
		}
		boot_fini(&b);
	}
	for (size_t i = 0; i < 4; i++)
		ck_assert_msg(before[i].st_ino == after[i].st_ino, "%s", names[i]);
}
END_TEST

START_TEST(urls_follow_the_options)
{
	struct boot b;
	struct err e = {0};
	char *url;

	OK(prepare(&b, &e));
	ck_assert_str_eq(b.data_url, "tcp://127.0.0.1:7444");
	url = boot_public_url(&b, 7443);
	ck_assert_str_eq(url, "https://127.0.0.1:7443");
	free(url);
	boot_fini(&b);

	set(&o.http_address, "::");
	set(&o.public_url, "https://lab.example.net");
	OK(prepare(&b, &e));
	ck_assert_str_eq(b.data_url, "tcp://[::]:7444");
	url = boot_public_url(&b, 7443);
	ck_assert_str_eq(url, "https://lab.example.net");
	free(url);
	boot_fini(&b);

	set(&o.data_address, "192.0.2.7");
	set(&o.public_url, "");
	OK(prepare(&b, &e));
	ck_assert_str_eq(b.data_url, "tcp://192.0.2.7:7444");
	url = boot_public_url(&b, 1234);
	ck_assert_int_eq(strncmp(url, "https://", 8), 0);
	ck_assert_str_eq(url + strlen(url) - 5, ":1234");
	free(url);
	boot_fini(&b);
}
END_TEST

START_TEST(the_client_on_this_machine_is_told_where_to_go)
{
	struct boot b;
	struct str text = {0};
	struct err e = {0};
	char *want;
	char *path;

	set(&o.http_address, "0.0.0.0");
	OK(prepare(&b, &e));
	OK(boot_write_client(&b, 7443, &e));
	path = xasprintf("%s/client.conf", state);
	OK(keyfile_read(path, &text, &e));
	want = xasprintf("server = https://127.0.0.1:7443\ntoken_file = %s/admin.token\n"
			 "pin = %s\n",
		state, b.tls.pin);
	ck_assert_ptr_nonnull(strstr(str_text(&text), want));
	str_fini(&text);
	free(want);
	free(path);
	boot_fini(&b);
}
END_TEST

START_TEST(a_state_directory_that_cannot_be_is_named)
{
	struct boot b;
	struct err e = {0};

	set(&o.state_dir, "/dev/null");
	FAILS(prepare(&b, &e), ERR_IO, "state directory /dev/null is no directory");
	boot_fini(&b);
	set(&o.state_dir, "/nonexistent/state");
	FAILS(prepare(&b, &e), ERR_IO, "make the state directory");
	boot_fini(&b);
}
END_TEST

START_TEST(a_lost_token_is_replaced_while_no_controller_runs)
{
	char first[SEAL_TOKEN_CHARS + 1];
	char token[SEAL_TOKEN_CHARS + 1];
	struct boot b;
	struct err e = {0};

	FAILS(controller_token(&o, "admin", "operator", token, &e), ERR_NOTFOUND,
		"there is no database");
	OK(boot_prepare(&b, &o, &e));
	boot_fini(&b);
	is_token_of("none", "", ROLE_NONE);
	OK(controller_token(&o, "ci", "viewer", token, &e));
	is_token_of(token, "ci", ROLE_VIEWER);
	OK(controller_token(&o, "admin", "operator", first, &e));
	is_file("admin.token", 0600);
	OK(controller_token(&o, "admin", "operator", token, &e));
	is_token_of(token, "admin", ROLE_OPERATOR);
	is_token_of(first, "", ROLE_NONE);
	FAILS(controller_token(&o, "n7", "viewer", token, &e), ERR_INVALID,
		"the record has others");
	FAILS(controller_token(&o, "A", "viewer", token, &e), ERR_INVALID,
		"the name of a token");
	FAILS(controller_token(&o, "a", "root", token, &e), ERR_INVALID,
		"neither viewer nor operator");
}
END_TEST

START_TEST(listening_sockets_are_made_for_addresses_only)
{
	struct err e = {0};
	char url[80];
	int fd, other;

	OK(address_listen("127.0.0.1", 0, &fd, &e));
	ck_assert_uint_gt(address_port(fd), 0);
	FAILS(address_listen("127.0.0.1", address_port(fd), &other, &e), ERR_NET,
		"Address already in use");
	ck_assert_msg(strstr(e.fix, "another http_port") != NULL, "%s", e.fix);
	close(fd);
	OK(address_listen("localhost", 0, &fd, &e));
	close(fd);
	FAILS(address_listen("lab", 0, &fd, &e), ERR_INVALID, "\"lab\" is no address");
	FAILS(address_listen("192.0.2.1", 0, &fd, &e), ERR_NET, "listen on 192.0.2.1");
	ck_assert_uint_eq(address_port(-1), 0);
	ck_assert_str_eq(
		address_url(true, "::1", 7443, url, sizeof(url)), "https://[::1]:7443");
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("boot");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, plain_http_stays_on_loopback);
	tcase_add_test(tc, options_that_make_no_sense_are_refused);
	tcase_add_test(tc, secrets_are_for_their_owner_only);
	tcase_add_test(tc, a_second_start_has_the_keys_of_the_first);
	tcase_add_test(tc, a_database_that_is_gone_is_no_first_start);
	tcase_add_test(tc, an_admin_token_is_never_written_over);
	tcase_add_test(tc, a_start_that_is_refused_by_the_lock_makes_no_file);
	tcase_add_test(tc, a_second_start_writes_no_file_anew);
	tcase_add_test(tc, urls_follow_the_options);
	tcase_add_test(tc, the_client_on_this_machine_is_told_where_to_go);
	tcase_add_test(tc, a_state_directory_that_cannot_be_is_named);
	tcase_add_test(tc, a_lost_token_is_replaced_while_no_controller_runs);
	tcase_add_test(tc, listening_sockets_are_made_for_addresses_only);
	return unit_run("boot", tc);
}
