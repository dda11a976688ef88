// SPDX-License-Identifier: ISC
package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

const (
	machineLog   = 0
	machineKey   = 5
	eventGenesis = 1
	eventEnrol   = 5
	useEpoch     = 4

	tagUse         = 80
	tagPublicKey   = 81
	tagEpoch       = 82
	tagCertificate = 83
	tagSalt        = 85
	tagGenesisSig  = 87
	tagLogKey      = 89
)

// digest is D(label, fields ...) of glove-journal(5).
func digest(label string, fields ...[]byte) [32]byte {
	var b []byte
	for _, f := range append([][]byte{[]byte(label)}, fields...) {
		b = binary.BigEndian.AppendUint32(b, uint32(len(f)))
		b = append(b, f...)
	}
	return sha256.Sum256(b)
}

func signed(label string, msg, sig, pub []byte) bool {
	return len(pub) == ed25519.PublicKeySize &&
		ed25519.Verify(pub, append([]byte(label+"\x00"), msg...), sig)
}

type epochKey struct {
	pub   []byte
	since uint64 // the record that enrolled it
}

// keys: who may sign what, from the first record on.
type keys struct {
	incarnation uint32
	root, log   []byte
	epochs      []epochKey // by number
}

// genesis: the first record names the keys and is signed by the root key.
func (k *keys) genesis(r *record, entry []byte) error {
	k.root, k.log = r.fields[tagPublicKey], r.fields[tagLogKey]
	id := digest("glove/install/1", k.root, r.fields[tagSalt])
	if !bytes.Equal(id[:16], r.install[:]) {
		return fmt.Errorf("the install id is not that of the root key")
	}
	// It was signed without its signature.
	var bare []byte
	sig := r.fields[tagGenesisSig]
	field := binary.BigEndian.AppendUint32([]byte{0, tagGenesisSig}, uint32(len(sig)))
	field = append(field, sig...)
	at := bytes.Index(entry, field)
	if at < 0 {
		return fmt.Errorf("the first record is not signed")
	}
	bare = append(bare, entry[:at]...)
	bare = append(bare, entry[at+len(field):]...)
	binary.BigEndian.PutUint16(bare[112:], uint16(len(r.fields)-1))
	if !signed("glove/genesis-sig/1", bare, sig, k.root) {
		return fmt.Errorf("the first record is not signed by its root key")
	}
	return nil
}

func (k *keys) enrol(r *record) error {
	number, pub := r.fields[tagEpoch], r.fields[tagPublicKey]
	if len(number) != 8 || binary.BigEndian.Uint64(number) != uint64(len(k.epochs)) {
		return fmt.Errorf("record %d enrols an epoch out of turn", r.index)
	}
	msg := append([]byte{}, r.install[:]...)
	msg = binary.BigEndian.AppendUint32(msg, k.incarnation)
	msg = append(append(msg, number[4:]...), pub...)
	if !signed("glove/log-key-sig/1", msg, r.fields[tagCertificate], k.log) {
		return fmt.Errorf("record %d: the log key did not certify this epoch key", r.index)
	}
	k.epochs = append(k.epochs, epochKey{pub, r.index})
	return nil
}

func (k *keys) take(r *record, entry []byte) error {
	if r.index == 0 {
		if r.machine != machineLog || r.event != eventGenesis {
			return fmt.Errorf("the first record is not GENESIS")
		}
		return k.genesis(r, entry)
	}
	use := r.fields[tagUse]
	if r.machine == machineKey && r.event == eventEnrol && !r.refused &&
		len(use) == 8 && binary.BigEndian.Uint64(use) == useEpoch {
		return k.enrol(r)
	}
	return nil
}

// inForce: the epoch that signs a commit of the records from ${prev} on.
func (k *keys) inForce(prev, size uint64) int {
	last := -1
	for i, e := range k.epochs {
		if e.since < prev || prev == 0 && e.since < size {
			last = i
		}
	}
	return last
}

// commits: every commit has the root that its records give, and the signature
// of the epoch key that was in force.
func (l *log) commits(size int64) (int, error) {
	all, err := os.ReadFile(filepath.Join(l.dir, "commits"))
	if err != nil {
		return 0, err
	}
	lines := strings.Split(string(all), "\n")
	prev := int64(0)
	for i, line := range lines[:len(lines)-1] {
		w := strings.Split(line, " ")
		if len(w) != 6 {
			return 0, fmt.Errorf("commits, line %d", i+1)
		}
		no, err1 := number(w[0])
		n, err2 := number(w[1])
		epoch, err3 := number(w[3])
		root, err4 := hex.DecodeString(w[2])
		sig, err5 := hex.DecodeString(w[4])
		for _, err := range []error{err1, err2, err3, err4, err5} {
			if err != nil {
				return 0, fmt.Errorf("commits, line %d: %v", i+1, err)
			}
		}
		if no != int64(i) || n <= prev || n > size {
			return 0, fmt.Errorf("commit %d is out of order", no)
		}
		want, err := l.root(n)
		if err != nil {
			return 0, err
		}
		if !bytes.Equal(want[:], root) || len(root) != tlog.HashSize {
			return 0, fmt.Errorf("commit %d has another root", no)
		}
		in := l.keys.inForce(uint64(prev), uint64(n))
		if in < 0 || int64(in) != epoch {
			return 0, fmt.Errorf("commit %d is of epoch %d, not %d", no, epoch, in)
		}
		text := fmt.Sprintf("%s\n%d\n%s\n", l.origin, n, base64.StdEncoding.EncodeToString(root))
		if !ed25519.Verify(l.keys.epochs[in].pub, []byte(text), sig) {
			return 0, fmt.Errorf("commit %d is not signed by epoch %d", no, in)
		}
		prev = n
	}
	if prev != size || lines[len(lines)-1] != "" {
		return 0, fmt.Errorf("the commits end at record %d of %d", prev, size)
	}
	return len(lines) - 1, nil
}
