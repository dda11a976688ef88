/* SPDX-License-Identifier: ISC */
/* term.c - raw mode, and a note of what the agent switched on. */
#include <string.h>
#include <sys/ioctl.h>

#include "base/fd.h"
#include "cli/term.h"

/* DEC private modes that a shell does not want to find switched on; inverse:
 * on is how it should be.  The alternate screens come last: leaving one puts
 * the cursor back. */
static const struct {
	int	number;
	int	inverse;
} modes[] = {
	{ 1, 0 }, { 9, 0 }, { 25, 1 }, { 1000, 0 }, { 1002, 0 }, { 1003, 0 },
	{ 1004, 0 }, { 1005, 0 }, { 1006, 0 }, { 1015, 0 }, { 2004, 0 },
	{ 47, 0 }, { 1047, 0 }, { 1049, 0 },
};
enum { NMODES = sizeof(modes) / sizeof(modes[0]), KEYPAD = NMODES };
_Static_assert(NMODES + 1 <= TERM_MODES, "a slot for each mode");

enum { GROUND, ESCAPED, CSI, PRIVATE };

static void
raw(struct term *t)
{
	struct termios mode = t->saved;

	cfmakeraw(&mode);
	(void)tcsetattr(t->fd, TCSADRAIN, &mode);
}

int
term_take(struct term *t, int fd, struct err *e)
{
	struct term made = { .fd = fd };

	if (tcgetattr(fd, &made.saved) != 0)
		return err_set(e, ERR_SYS, "terminal");
	*t = made;
	raw(t);
	return 0;
}

void
term_again(struct term *t)
{
	if (t->fd >= 0)
		raw(t);
}

void
term_give(struct term *t)
{
	AUTO(buf) struct buf b;
	struct err ignore;

	if (t->fd < 0)
		return;
	buf_init(&b, 512);
	term_reset(t, &b);
	if (b.n > 0)
		(void)!fd_write_all(t->fd, b.p, b.n, &ignore);
	(void)tcsetattr(t->fd, TCSAFLUSH, &t->saved);
	memset(t->on, 0, sizeof(t->on));
	t->fd = -1;
}

static void
switched(struct term *t, int number, int on)
{
	for (int i = 0; i < NMODES; i++)
		if (modes[i].number == number)
			t->on[i] = (uint8_t)(on != modes[i].inverse);
}

/* One byte of ESC [ ? n ; n h, ESC [ ? n l, ESC =, ESC >, ESC c. */
static void
watch(struct term *t, uint8_t c)
{
	if (c == 0x1b) {
		t->state = ESCAPED;
		return;
	}
	switch (t->state) {
	case ESCAPED:
		if (c == '=' || c == '>')
			t->on[KEYPAD] = c == '=';
		else if (c == 'c')
			memset(t->on, 0, sizeof(t->on));
		t->state = c == '[' ? CSI : GROUND;
		return;
	case CSI:
		t->state = c == '?' ? PRIVATE : GROUND;
		t->number = t->nnumbers = 0;
		return;
	case PRIVATE:
		if (c >= '0' && c <= '9') {
			if (t->number < 100000)
				t->number = 10 * t->number + (c - '0');
			return;
		}
		if (t->nnumbers < (int)(sizeof(t->numbers) / sizeof(int)))
			t->numbers[t->nnumbers++] = t->number;
		t->number = 0;
		if (c == ';')
			return;
		if (c == 'h' || c == 'l')
			for (int i = 0; i < t->nnumbers; i++)
				switched(t, t->numbers[i], c == 'h');
		t->state = GROUND;
		return;
	default:
		return;
	}
}

void
term_watch(struct term *t, struct bytes b)
{
	for (size_t i = 0; i < b.n; i++) {
		const uint8_t *esc;

		/* Nearly all of it is text. */
		if (t->state == GROUND) {
			esc = memchr(b.p + i, 0x1b, b.n - i);
			if (esc == NULL)
				return;
			i = (size_t)(esc - b.p);
		}
		watch(t, b.p[i]);
	}
}

void
term_reset(const struct term *t, struct buf *b)
{
	for (int i = 0; i < NMODES; i++)
		if (t->on[i])
			buf_putf(b, "\033[?%d%c", modes[i].number,
			    modes[i].inverse ? 'h' : 'l');
	if (t->on[KEYPAD])
		buf_put_str(b, "\033>");
	if (b->n > 0)
		buf_put_str(b, "\033[0m");
}

void
term_size(int fd, uint16_t *rows, uint16_t *cols)
{
	struct winsize ws = { .ws_row = 0, .ws_col = 0 };

	(void)ioctl(fd, TIOCGWINSZ, &ws);
	*rows = ws.ws_row > 0 ? ws.ws_row : 24;
	*cols = ws.ws_col > 0 ? ws.ws_col : 80;
}
