/* SPDX-License-Identifier: ISC */
/* report.c - a report in words, for people and for programs. */
#include <inttypes.h>
#include <stdio.h>

#include "base/json.h"
#include "base/text.h"

#include "journal/verify.h"

static const char *const check_words[CHECK_END] = {
#define CHECK(code, NAME, word, doc) [code] = word,
#include "journal/check.def"
};

static const struct {
	const char	*words, *doc;
	int		 exit;
} answers[ANSWER_END] = {
#define ANSWER(code, NAME, words, exit, doc) [code] = { words, doc, exit },
#include "journal/answer.def"
};

static const char *const outcomes[] = {
	[OUTCOME_SKIP] = "----", [OUTCOME_PASS] = "PASS", [OUTCOME_FAIL] = "FAIL"
};

static const char *const trusts[] = {
	[TRUST_FILE] = "taken from the file", [TRUST_HOST] = "this host",
	[TRUST_PINNED] = "pinned"
};

/* What no verification of this kind can show; glove(1), VERIFICATION. */
static const char *const not_shown[] = {
	"that the clock of the host was right",
	"who the people behind the keys are",
	"what was written under direct mode, or inside TLS",
	"edits made after an apply",
	"what somebody signed who had the keys",
};

const char *
check_word(int check)
{
	return check <= CHECK_NONE || check >= CHECK_END ? "unknown" :
	    check_words[check];
}

const char *
answer_words(int answer)
{
	return answer <= ANSWER_NONE || answer >= ANSWER_END ? "unknown" :
	    answers[answer].words;
}

const char *
answer_doc(int answer)
{
	return answer <= ANSWER_NONE || answer >= ANSWER_END ? "" :
	    answers[answer].doc;
}

int
answer_exit(int answer)
{
	return answer <= ANSWER_NONE || answer >= ANSWER_END ?
	    err_exit(ERR_BUG) : answers[answer].exit;
}

int
report_exit(const struct report *r, const struct verify_opts *o)
{
	if (o->require_witness && r->answer == ANSWER_NOT_WITNESSED)
		return answers[ANSWER_INCOMPLETE].exit;
	return answer_exit((int)r->answer);
}

/* As its owner shows it: the log key bears the name of the log. */
static void
key_put(struct buf *b, const struct report *r)
{
	char name[ORIGIN_MAX];

	if (r->key_use == KEYUSE_LOG)
		(void)origin_str(r->install, 0, name);
	else
		(void)key_name_str(r->install, keyuse_word((int)r->key_use), name);
	if (r->key_use != KEYUSE_NONE)
		note_verifier_put(b, name, r->pub);
}

void
report_put(struct buf *b, const struct report *r, const char *subject,
    int64_t us)
{
	if (r->key_use == KEYUSE_NONE) {
		buf_put_str(b, "root key    none could be read\n");
	} else {
		buf_putf(b, "%-4s key    ", keyuse_word((int)r->key_use));
		key_put(b, r);
		buf_putf(b, "   %s\n", trusts[r->trust]);
	}
	for (int i = 1; i < CHECK_END; i++) {
		const struct check_line *l = &r->line[i];

		if (l->text[0] == '\0')
			continue;
		buf_putf(b, "%s  %-11s ", outcomes[l->outcome], check_words[i]);
		escape_put(b, str_of(l->text), CHECK_TEXT_MAX * 2);
		buf_put_u8(b, '\n');
	}
	buf_putf(b, "%s", answer_words((int)r->answer));
	if (subject[0] != '\0') {
		buf_put_str(b, "   ");
		escape_put(b, str_of(subject), 4096);
	}
	buf_putf(b, "   %" PRId64 ".%02d s\n", us / 1000000,
	    (int)(us / 10000 % 100));
	buf_put_str(b, "not shown:");
	for (size_t i = 0; i < sizeof(not_shown) / sizeof(not_shown[0]); i++)
		buf_putf(b, "%s %s", i == 0 ? "" : ";", not_shown[i]);
	buf_put_str(b, ".\n");
}

struct json *
report_json(const struct report *r, const char *subject, int64_t us)
{
	struct json *o = json_make_object(), *checks = json_make_array();
	struct json *limits = json_make_array();
	AUTO(buf) struct buf key;

	buf_init(&key, 256);
	key_put(&key, r);
	json_set_cstr(o, "schema", "glove.verify/1");
	json_set_cstr(o, "subject", subject[0] == '\0' ? NULL : subject);
	json_set_cstr(o, "verdict", answer_words((int)r->answer));
	json_set_cstr(o, "key_use", r->key_use == KEYUSE_NONE ? NULL :
	    keyuse_word((int)r->key_use));
	json_set_cstr(o, "key", r->key_use == KEYUSE_NONE ? NULL :
	    buf_cstr(&key));
	json_set_cstr(o, "trust", trusts[r->trust]);
	json_set_cstr(o, "origin", r->checkpoint.origin);
	json_set_int(o, "size", (int64_t)r->checkpoint.size);
	json_set_int(o, "records", (int64_t)r->records);
	json_set_int(o, "commits", (int64_t)r->commits);
	for (int i = 1; i < CHECK_END; i++) {
		const struct check_line *l = &r->line[i];
		struct json *c;

		if (l->text[0] == '\0')
			continue;
		c = json_make_object();
		json_set_cstr(c, "check", check_words[i]);
		json_set_cstr(c, "outcome", l->outcome == OUTCOME_SKIP ? "none" :
		    l->outcome == OUTCOME_PASS ? "pass" : "fail");
		json_set_cstr(c, "text", l->text);
		json_add(checks, c);
	}
	json_set(o, "checks", checks);
	for (size_t i = 0; i < sizeof(not_shown) / sizeof(not_shown[0]); i++)
		json_add_str(limits, str_of(not_shown[i]));
	json_set(o, "not_shown", limits);
	json_set_int(o, "duration_us", us);
	return o;
}
