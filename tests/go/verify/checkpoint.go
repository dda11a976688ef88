// SPDX-License-Identifier: ISC
package main

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type checkpoint struct {
	origin string
	size   int64
	root   tlog.Hash
}

func number(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != s {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	return n, nil
}

func hash(s string) (h tlog.Hash, err error) {
	b, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil || len(b) != tlog.HashSize {
		return h, fmt.Errorf("%q is not a hash", s)
	}
	copy(h[:], b)
	return h, nil
}

// openCheckpoint believes what the key signed and nothing else.
func openCheckpoint(key string, msg []byte) (c checkpoint, err error) {
	v, err := note.NewVerifier(key)
	if err != nil {
		return c, fmt.Errorf("verifier key: %v", err)
	}
	n, err := note.Open(msg, note.VerifierList(v))
	if err != nil {
		return c, fmt.Errorf("checkpoint: %v", err)
	}
	lines := strings.Split(n.Text, "\n")
	if len(lines) != 4 || lines[3] != "" {
		return c, fmt.Errorf("checkpoint: not three lines")
	}
	c.origin = lines[0]
	if c.origin != v.Name() {
		return c, fmt.Errorf("checkpoint of %q signed by %q", c.origin, v.Name())
	}
	if c.size, err = number(lines[1]); err != nil {
		return c, fmt.Errorf("checkpoint: %v", err)
	}
	if c.root, err = hash(lines[2]); err != nil {
		return c, fmt.Errorf("checkpoint: %v", err)
	}
	return c, nil
}
