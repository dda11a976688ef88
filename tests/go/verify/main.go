// SPDX-License-Identifier: ISC

// Verify checks what Glove hands out with code that Glove has no part in: the
// signed notes and the tree of golang.org/x/mod/sumdb, crypto/ed25519 and
// crypto/sha256.  It is written from the formats (glove-journal(5) and C2SP
// signed-note, tlog-checkpoint, tlog-proof, tlog-tiles), not from the C.
//
//	verify receipt KEY FILE		a receipt, C2SP tlog-proof
//	verify export KEY DIR		an exported log, C2SP tlog-tiles
//
// KEY is the log's verifier key, name+id+base64; for an export it may be that of
// the root key, from which everything else follows.  Checked of an export: the
// checkpoint, every entry, every tile, the history of each subject, the roots
// that commit footers name, GENESIS, the certificates of epoch keys, and each
// commit under the epoch key that was in force.  Not checked: MACs, which need
// a key that nobody hands out, and what the states mean.
//
// Prints one line that begins with OK and exits 0, or one that begins with BAD
// and exits 1.
package main

import (
	"fmt"
	"os"
)

func run(args []string) (string, error) {
	if len(args) == 3 && args[0] == "receipt" {
		return receipt(args[1], args[2])
	}
	if len(args) == 3 && args[0] == "export" {
		return export(args[1], args[2])
	}
	fmt.Fprintln(os.Stderr, "usage: verify receipt KEY FILE | verify export KEY DIR")
	os.Exit(2)
	return "", nil
}

func main() {
	said, err := run(os.Args[1:])
	if err != nil {
		fmt.Println("BAD", err)
		os.Exit(1)
	}
	fmt.Println("OK", said)
}
