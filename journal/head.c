/* SPDX-License-Identifier: ISC */
#include <fcntl.h>
#include <string.h>

#include "base/fd.h"

#include "journal/head.h"

static const uint8_t magic[8] = { 'G', 'L', 'V', 'H', 'E', 'A', 'D', '1' };

enum { HEAD_USED = 240, HEAD_SUM = HEAD_SLOT - SHA256_BYTES };

void
head_encode(const struct head *h, uint8_t slot[HEAD_SLOT])
{
	struct buf b = { .p = slot, .cap = HEAD_SLOT, .max = HEAD_SLOT - 1 };

	/* It all fits into what is there: this buffer never allocates. */
	memset(slot, 0, HEAD_SLOT);
	buf_put(&b, magic, sizeof(magic));
	buf_put_u64(&b, h->slot_seq);
	buf_put(&b, h->install, sizeof(h->install));
	buf_put_u32(&b, h->incarnation);
	buf_put_u32(&b, h->epoch);
	buf_put_u64(&b, h->commit_no);
	buf_put_u64(&b, h->size);
	buf_put(&b, h->root.b, sizeof(h->root.b));
	buf_put(&b, h->sig, sizeof(h->sig));
	buf_put(&b, h->mac, sizeof(h->mac));
	buf_put_u64(&b, h->mac_no);
	buf_put(&b, h->key, sizeof(h->key));
	buf_put(&b, h->machine, sizeof(h->machine));
	sha256_of(bytes_of(slot, HEAD_SUM), slot + HEAD_SUM);
}

int
head_decode(const uint8_t slot[HEAD_SLOT], struct head *out, struct err *e)
{
	struct cur c = cur_of(bytes_of(slot, HEAD_USED));
	uint8_t sum[SHA256_BYTES];
	struct head h;

	sha256_of(bytes_of(slot, HEAD_SUM), sum);
	if (memcmp(sum, slot + HEAD_SUM, sizeof(sum)) != 0 ||
	    memcmp(cur_take(&c, sizeof(magic)).p, magic, sizeof(magic)) != 0)
		return err_set(e, ERR_FORMAT, "a slot of the head file");
	for (size_t i = HEAD_USED; i < HEAD_SUM; i++)
		if (slot[i] != 0)
			return err_set(e, ERR_FORMAT,
			    "byte %zu of a slot of the head file", i);
	h.slot_seq = cur_u64(&c);
	cur_copy(&c, h.install, sizeof(h.install));
	h.incarnation = cur_u32(&c);
	h.epoch = cur_u32(&c);
	h.commit_no = cur_u64(&c);
	h.size = cur_u64(&c);
	cur_copy(&c, h.root.b, sizeof(h.root.b));
	cur_copy(&c, h.sig, sizeof(h.sig));
	cur_copy(&c, h.mac, sizeof(h.mac));
	h.mac_no = cur_u64(&c);
	cur_copy(&c, h.key, sizeof(h.key));
	cur_copy(&c, h.machine, sizeof(h.machine));
	*out = h;
	return 0;
}

int
head_read(int fd, struct head *h, int *good, struct err *e)
{
	uint8_t slot[HEAD_SLOT];
	struct head one;
	int n = 0;

	for (int i = 0; i < 2; i++) {
		struct err why;

		if (fd_pread_full(fd, slot, sizeof(slot),
		    (int64_t)i * HEAD_SLOT, &why) ||
		    head_decode(slot, &one, &why))
			continue;
		if (n++ == 0 || one.slot_seq > h->slot_seq)
			*h = one;
	}
	explicit_bzero(slot, sizeof(slot));
	explicit_bzero(&one, sizeof(one));
	if (n == 0)
		return err_set(e, ERR_FORMAT, "no slot of the head file is good");
	*good = n;
	return 0;
}

int
head_write(int fd, struct head *h, struct err *e)
{
	uint8_t slot[HEAD_SLOT];
	struct head next = *h;
	int bad;

	next.slot_seq++;
	head_encode(&next, slot);
	bad = fd_pwrite_full(fd, slot, sizeof(slot),
	    (int64_t)(next.slot_seq % 2) * HEAD_SLOT, e);
	explicit_bzero(slot, sizeof(slot));
	if (bad)
		return err_wrap(e, "the head file");
	h->slot_seq = next.slot_seq;
	return 0;
}

void
head_machine(uint8_t out[16])
{
	AUTO(buf) struct buf b;
	uint8_t sum[SHA256_BYTES];
	struct digest d;
	struct err e;

	memset(out, 0, 16);
	buf_init(&b, 256);
	if (fd_file(AT_FDCWD, "/etc/machine-id", &b, &e) || b.n < 32)
		return;
	digest_init(&d, "glove/machine/1");
	digest_bytes(&d, bytes_of(b.p, 32));
	digest_final(&d, sum);
	memcpy(out, sum, 16);
}
