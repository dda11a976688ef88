/* SPDX-License-Identifier: ISC */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "base/buf.h"

/*
 * Bytes as text and back.  Decoders are strict: exactly one text decodes to
 * given bytes (lower-case hex, padded standard base64), anything else FORMAT.
 */

/* hex_put(b, in): two lower-case digits a byte. */
void hex_put(struct buf *b, struct bytes in);
/* hex_str(in, out): the same into ${out}, 2 * in.n + 1 bytes; returns ${out}. */
char *hex_str(struct bytes in, char *out);
int hex_get(struct str in, uint8_t *out, size_t n, struct err *e) MUST_CHECK;

void base64_put(struct buf *b, struct bytes in);
/* base64_get(in, out, e): append what ${in} says to ${out}. */
int base64_get(struct str in, struct buf *out, struct err *e) MUST_CHECK;

/*
 * escape_put(b, in, max): text from a stranger, made safe for a terminal, a
 * log and a line: control bytes, DEL, C1, invalid UTF-8, bidi and other
 * invisible formatting characters come out as \xNN or \u{NNNN}; a backslash
 * as \\.  At most ${max} bytes come out, "..." at the end if it was cut.
 */
void escape_put(struct buf *b, struct str in, size_t max);

/* utf8_valid(in): 1 if ${in} is well-formed UTF-8 without NUL. */
int utf8_valid(struct str in);

/* utf8_next(in, cp): the bytes of the first character; 0 if it is malformed
 * or ${in} is empty, *${cp} is then left alone. */
size_t utf8_next(struct str in, uint32_t *cp);

/* utf8_unseen(cp): 1 for a control or invisible character, which changes what
 * a terminal shows without being seen itself. */
int utf8_unseen(uint32_t cp);

#endif
