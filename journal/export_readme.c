/* SPDX-License-Identifier: ISC */
/* export_readme.c - README.txt of an export: enough to check it without us. */
#include <inttypes.h>

#include "base/text.h"

#include "journal/export.h"

static const char intro[] =
"This is a verifiable copy of a Glove journal: what agents were started, on\n"
"which leases, with what outcome.  `glove-verify THIS-DIRECTORY --key KEY' checks\n"
"all of it; KEY is the root key of the installation, which its owner tells you\n"
"(glove key export).  Without a key that you know from elsewhere, a copy only\n"
"agrees with itself.\n\n";

static const char how[] =
"Files\n"
"  checkpoint         how many records, their root hash, and signatures:\n"
"                     a C2SP signed note (https://c2sp.org/tlog-checkpoint)\n"
"  tile/entries/N     256 records each, every one behind its length in two\n"
"                     bytes, big-endian; the last bundle is N.p/WIDTH\n"
"  tile/LEVEL/N       256 hashes of the tree (https://c2sp.org/tlog-tiles)\n"
"  commits            a line a commit: number, records up to it, root hash,\n"
"                     epoch, Ed25519 signature, MAC; hashes and bytes in hex\n"
"  keys.txt           the keys: id, use, first and last record, public key\n"
"  sealed.jsonl       values that stand in records as a digest only; salt and\n"
"                     value in each line reproduce it\n"
"  blobs/DIGEST       stored objects, by their SHA-256\n"
"  receipts/INDEX     single records with their proofs\n"
"                     (https://c2sp.org/tlog-proof)\n"
"  SHA256SUMS         of the files that the tree does not cover\n"
"\n"
"Checking it without Glove\n"
"  1. sha256sum -c SHA256SUMS\n"
"  2. Leaf hash of a record: SHA-256(0x00, record).  Node: SHA-256(0x01, left,\n"
"     right).  The tree is that of RFC 6962; its root is in `checkpoint'.  Any\n"
"     tlog-tiles client will do; in Go: golang.org/x/mod/sumdb/tlog.\n"
"  3. The signatures of `checkpoint' are by the log key and the newest epoch\n"
"     key of keys.txt; in Go: golang.org/x/mod/sumdb/note.\n"
"  4. Record 0 (GENESIS) names the log key (field 89) and is signed by the root\n"
"     key (fields 81, 87).  The install id in the origin is the first 16 bytes\n"
"     of D(\"glove/install/1\", root key, field 85): no other root key fits.\n"
"  5. Epoch keys are certified by the log key in their own records.\n"
"  6. A sealed value: D(\"glove/sealed/1\", tag, salt, value) stands in its record.\n"
"  D(a, b, ...) is SHA-256 over each part behind its length in four bytes,\n"
"  big-endian; numbers are eight bytes.  Records: glove-journal(5).\n"
"\n"
"What it does not show\n"
"  That the clock of the host was right; who the people behind the keys are; that\n"
"  nothing was cut off after the checkpoint; what somebody signed who had the keys.\n";

void
export_readme(struct buf *b, const struct checkpoint *c)
{
	buf_put_str(b, intro);
	buf_putf(b, "Log      %s\nRecords  %" PRIu64 "\nRoot     ", c->origin,
	    c->size);
	base64_put(b, BYTES(c->root.b));
	buf_put_str(b, "\n\n");
	buf_put_str(b, how);
}
