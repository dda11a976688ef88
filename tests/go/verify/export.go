// SPDX-License-Identifier: ISC
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const width = 256

// tilePath is that of tlog-tiles: 3-digit elements, all but the last with an x.
func tilePath(kind string, n, w int64) string {
	p := fmt.Sprintf("%03d", n%1000)
	for n /= 1000; n > 0; n /= 1000 {
		p = fmt.Sprintf("x%03d/%s", n%1000, p)
	}
	p = "tile/" + kind + "/" + p
	if w != width {
		p = fmt.Sprintf("%s.p/%d", p, w)
	}
	return p
}

// log is what the entries amount to: every hash of the tree.
type log struct {
	dir    string
	origin string
	chains chains
	keys   keys
	hashes []tlog.Hash // as tlog.StoredHashIndex counts them
}

func (l *log) read(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, x := range indexes {
		if x >= int64(len(l.hashes)) {
			return nil, fmt.Errorf("no hash %d", x)
		}
		out[i] = l.hashes[x]
	}
	return out, nil
}

func (l *log) root(n int64) (tlog.Hash, error) {
	if n == 0 {
		return sha256.Sum256(nil), nil
	}
	return tlog.TreeHash(n, tlog.HashReaderFunc(l.read))
}

// add takes entry ${i}, which must be the record of that index.
func (l *log) add(i int64, entry []byte) error {
	r, err := parseRecord(entry)
	if err != nil {
		return err
	}
	if err := r.belongs(l.origin, i); err != nil {
		return err
	}
	if err := l.chains.follow(r); err != nil {
		return err
	}
	if err := l.keys.take(r, entry); err != nil {
		return err
	}
	// A commit footer names the tree before its commit.
	size, root := r.fields[tagPrevSize], r.fields[tagPrevRoot]
	if len(size) == 8 && len(root) == tlog.HashSize {
		n := binary.BigEndian.Uint64(size)
		if n > uint64(i) {
			return fmt.Errorf("record %d: a size before it of %d", i, n)
		}
		want, err := l.root(int64(n))
		if err != nil {
			return err
		}
		if !bytes.Equal(want[:], root) {
			return fmt.Errorf("record %d names another root of size %d", i, n)
		}
	}
	hs, err := tlog.StoredHashes(i, entry, tlog.HashReaderFunc(l.read))
	if err != nil {
		return err
	}
	l.hashes = append(l.hashes, hs...)
	return nil
}

// bundle adds the entries of bundle ${n}, of which there must be ${w}.
func (l *log) bundle(n, w int64) error {
	path := tilePath("entries", n, w)
	b, err := os.ReadFile(filepath.Join(l.dir, path))
	if err != nil {
		return err
	}
	for i := int64(0); i < w; i++ {
		if len(b) < 2 || len(b)-2 < int(binary.BigEndian.Uint16(b)) {
			return fmt.Errorf("%s ends in entry %d", path, i)
		}
		size := int(binary.BigEndian.Uint16(b))
		if err := l.add(n*width+i, b[2:2+size]); err != nil {
			return fmt.Errorf("%s: %v", path, err)
		}
		b = b[2+size:]
	}
	if len(b) != 0 {
		return fmt.Errorf("%s goes on after entry %d", path, w)
	}
	return nil
}

// tiles compares every tile of a tree of ${size} with what the entries give.
func (l *log) tiles(size int64) (int, error) {
	count := 0
	for level := 0; size > 0; level, size = level+1, size/width {
		for n := int64(0); n*width < size; n++ {
			w := size - n*width
			if w > width {
				w = width
			}
			t := tlog.Tile{H: 8, L: level, N: n, W: int(w)}
			want, err := tlog.ReadTileData(t, tlog.HashReaderFunc(l.read))
			if err != nil {
				return 0, err
			}
			path := tilePath(fmt.Sprint(level), n, w)
			got, err := os.ReadFile(filepath.Join(l.dir, path))
			if err != nil {
				return 0, err
			}
			if !bytes.Equal(want, got) {
				return 0, fmt.Errorf("%s is not what the entries give", path)
			}
			count++
		}
	}
	return count, nil
}

// start opens the checkpoint.  With a root key (its name ends in /root) the log
// key is the one that the first record names, which add() then holds against
// the root key; so the claims that are read here too early are believed later.
func start(key, dir string) (l *log, c checkpoint, err error) {
	l = &log{dir: dir, chains: make(chains)}
	msg, err := os.ReadFile(filepath.Join(dir, "checkpoint"))
	if err != nil {
		return nil, c, err
	}
	origin, rest, _ := strings.Cut(string(msg), "\n")
	v, err := note.NewVerifier(key)
	if err != nil {
		return nil, c, fmt.Errorf("verifier key: %v", err)
	}
	if strings.HasSuffix(v.Name(), "/root") {
		claim, _, _ := strings.Cut(rest, "\n")
		size, err := number(claim)
		if err != nil {
			return nil, c, err
		}
		r, err := first(dir, size)
		if err != nil {
			return nil, c, err
		}
		root, err := note.NewEd25519VerifierKey(v.Name(), r.fields[tagPublicKey])
		if err != nil || root != key || !strings.HasPrefix(origin+"/",
			strings.TrimSuffix(v.Name(), "root")) {
			return nil, c, fmt.Errorf("the log is not under this root key")
		}
		key, err = note.NewEd25519VerifierKey(origin, r.fields[tagLogKey])
		if err != nil {
			return nil, c, fmt.Errorf("log key: %v", err)
		}
	}
	if c, err = openCheckpoint(key, msg); err != nil {
		return nil, c, err
	}
	l.origin = c.origin
	n, err := number(c.origin[strings.LastIndex(c.origin, "/")+1:])
	if err != nil || n > math.MaxUint32 {
		return nil, c, fmt.Errorf("origin %q", c.origin)
	}
	l.keys.incarnation = uint32(n)
	return l, c, nil
}

// first is record 0, not yet believed.
func first(dir string, size int64) (*record, error) {
	w := size
	if w > width {
		w = width
	}
	b, err := os.ReadFile(filepath.Join(dir, tilePath("entries", 0, w)))
	if err != nil {
		return nil, err
	}
	if len(b) < 2 || len(b)-2 < int(binary.BigEndian.Uint16(b)) {
		return nil, fmt.Errorf("no first record")
	}
	return parseRecord(b[2 : 2+binary.BigEndian.Uint16(b)])
}

func export(key, dir string) (string, error) {
	l, c, err := start(key, dir)
	if err != nil {
		return "", err
	}
	for n := int64(0); n*width < c.size; n++ {
		w := c.size - n*width
		if w > width {
			w = width
		}
		if err := l.bundle(n, w); err != nil {
			return "", err
		}
	}
	root, err := l.root(c.size)
	if err != nil {
		return "", err
	}
	if root != c.root {
		return "", fmt.Errorf("the entries do not give the root that was signed")
	}
	tiles, err := l.tiles(c.size)
	if err != nil {
		return "", err
	}
	commits, err := l.commits(c.size)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d records, %d tiles, %d commits of %s", c.size, tiles, commits, c.origin), nil
}
