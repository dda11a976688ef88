// SPDX-License-Identifier: ISC
package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

func word(line, name string) (string, error) {
	if !strings.HasPrefix(line, name+" ") {
		return "", fmt.Errorf("no line %q", name)
	}
	return line[len(name)+1:], nil
}

func receipt(key, file string) (string, error) {
	all, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	head, rest, ok := strings.Cut(string(all), "\n\n")
	lines := strings.Split(head, "\n")
	if !ok || len(lines) < 3 || lines[0] != "c2sp.org/tlog-proof@v1" {
		return "", fmt.Errorf("not a tlog-proof")
	}
	extra, err := word(lines[1], "extra")
	if err != nil {
		return "", err
	}
	entry, err := base64.StdEncoding.Strict().DecodeString(extra)
	if err != nil {
		return "", fmt.Errorf("extra: %v", err)
	}
	where, err := word(lines[2], "index")
	if err != nil {
		return "", err
	}
	index, err := number(where)
	if err != nil {
		return "", err
	}
	var proof tlog.RecordProof
	for _, l := range lines[3:] {
		h, err := hash(l)
		if err != nil {
			return "", err
		}
		proof = append(proof, h)
	}
	c, err := openCheckpoint(key, []byte(rest))
	if err != nil {
		return "", err
	}
	err = tlog.CheckRecord(proof, c.size, c.root, index, tlog.RecordHash(entry))
	if err != nil {
		return "", fmt.Errorf("inclusion: %v", err)
	}
	r, err := parseRecord(entry)
	if err != nil {
		return "", err
	}
	if err := r.belongs(c.origin, index); err != nil {
		return "", err
	}
	return fmt.Sprintf("record %d of %d in %s", index, c.size, c.origin), nil
}
