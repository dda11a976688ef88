/* SPDX-License-Identifier: ISC */
#include "tests/lib/gen.h"

uint64_t
gen_u64(struct gen *g)
{
	uint64_t z = (g->s += 0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

uint64_t
gen_below(struct gen *g, uint64_t n)
{
	return gen_u64(g) % n;
}

void
gen_bytes(struct gen *g, void *p, size_t n)
{
	uint8_t *at = p;

	for (size_t i = 0; i < n; i++)
		at[i] = (uint8_t)gen_u64(g);
}

void
gen_value(struct gen *g, int tag, struct buf *b)
{
	static const char *const words[] = { "", "a", "exit 1", "\xc3\xa4\xe2\x82\xac",
	    "landlock 5\nseccomp\n", "\xf0\x9f\xa7\xa4" };
	const struct field_info *info = field_info(tag);
	size_t n = info->sealed ? 32 : field_type_size(info->type);
	uint8_t *at;

	if (n == 0 && info->type == FT_BYTES)
		n = gen_below(g, 80);
	if (n != 0) {
		if ((at = buf_room(b, n)) != NULL)
			gen_bytes(g, at, n);
		return;
	}
	if (info->type == FT_BYTES)
		return;
	for (uint64_t k = gen_below(g, 4); k > 0; k--)
		buf_put_str(b, words[gen_below(g, 6)]);
}

static void
header(struct gen *g, uint64_t index, struct record *r)
{
	*r = (struct record){ .index = index };
	r->machine = (uint8_t)gen_below(g, 9);
	gen_bytes(g, r->install, sizeof(r->install));
	r->time_us = (int64_t)(gen_u64(g) >> 1);
	r->boottime_us = (int64_t)(gen_u64(g) >> 1);
	gen_bytes(g, r->boot_id, sizeof(r->boot_id));
	if (r->machine != 0)
		gen_bytes(g, r->subject.b, sizeof(r->subject.b));
	r->prev = RECORD_NO_PREV;
	if (index != 0 && gen_below(g, 4) != 0) {
		r->subject_seq = 1 + (uint32_t)gen_below(g, 1000);
		r->prev = gen_below(g, index);
	}
	r->event = (uint8_t)gen_u64(g);
	r->from = (uint8_t)gen_u64(g);
	r->to = (uint8_t)gen_u64(g);
	r->actor = (uint8_t)gen_u64(g);
	if (gen_below(g, 2) != 0)
		gen_bytes(g, r->request, sizeof(r->request));
}

void
gen_record(struct gen *g, uint64_t index, struct buf *mem, struct record *r)
{
	const uint64_t density = 1 + gen_below(g, 8);
	size_t off[RECORD_FIELDS_MAX];
	int refused = gen_below(g, 5) == 0;

	header(g, index, r);
	buf_reset(mem);
	for (int tag = 1; tag < FIELD_END && r->nfields < RECORD_FIELDS_MAX;
	    tag++) {
		if (field_info(tag) == NULL)
			continue;
		if (gen_below(g, density) != 0 && !(refused && tag == FIELD_CODE))
			continue;
		off[r->nfields] = mem->n;
		r->field[r->nfields].tag = (uint16_t)tag;
		gen_value(g, tag, mem);
		if (refused && tag == FIELD_CODE)
			buf_put_str(mem, "ILLEGAL");
		r->field[r->nfields].v.n = mem->n - off[r->nfields];
		r->nfields++;
	}
	/* The memory does not move any more. */
	for (size_t i = 0; i < r->nfields; i++)
		r->field[i].v.p = mem->p + off[i];
	if (refused) {
		r->flags |= RECORD_REFUSED;
		r->to = r->from;
	}
}
