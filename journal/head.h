/* SPDX-License-Identifier: ISC */
#ifndef JOURNAL_HEAD_H
#define JOURNAL_HEAD_H

#include "base/auto.h"
#include "base/err.h"
#include "journal/sign.h"

/*
 * The head file: where the journal was when it last told anybody anything, so
 * that a database put back to an older state is seen.  Two slots of 4 KiB,
 * written in turn, each with its own digest; the higher slot_seq counts.
 *
 *	  0   8  "GLVHEAD1"		  8   8  slot_seq
 *	 16  16  install id		 32   4  incarnation   36  4  epoch
 *	 40   8  commit number		 48   8  size
 *	 56  32  root			 88  64  signature
 *	152  32  MAC			184   8  number in the MAC chain
 *	192  32  the next MAC key	224  16  D(machine id)
 *	...      zeros		       4064  32  SHA-256 of 0 ... 4063
 */
enum { HEAD_SLOT = 4096 };

struct head {
	uint64_t	slot_seq;
	uint8_t		install[16];
	uint32_t	incarnation;
	uint32_t	epoch;
	uint64_t	commit_no;
	uint64_t	size;
	struct hash	root;
	uint8_t		sig[SIG_BYTES];
	uint8_t		mac[MAC_BYTES];
	uint64_t	mac_no;
	uint8_t		key[32];	/* of the next commit's MAC */
	uint8_t		machine[16];
};

void head_encode(const struct head *h, uint8_t slot[HEAD_SLOT]);
/* head_decode: FORMAT for anything that head_encode() would not have written. */
int head_decode(const uint8_t slot[HEAD_SLOT], struct head *h, struct err *e)
    MUST_CHECK;

/* head_read(fd, h, good, e): the newest good slot; *${good} says how many are.
 * FORMAT if none is. */
int head_read(int fd, struct head *h, int *good, struct err *e) MUST_CHECK;

/*
 * head_write(fd, h, e): ${h} into the slot that is not the newest, with the
 * next slot_seq, which *${h} then has.  ${fd} is O_DSYNC: on return it is on
 * disk.
 */
int head_write(int fd, struct head *h, struct err *e) MUST_CHECK;

/* head_machine(out): 16 bytes of D("glove/machine/1", /etc/machine-id); zeros
 * on a machine without one. */
void head_machine(uint8_t out[16]);

#endif
