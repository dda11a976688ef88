// SPDX-License-Identifier: ISC
package main

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
)

const (
	headerSize  = 114
	noPrevious  = ^uint64(0)
	tagPrevSize = 91
	tagPrevRoot = 92
)

// record is as much of a record as can be judged without Glove's tables.
type record struct {
	machine  byte
	event    byte
	refused  bool
	index    uint64
	install  [16]byte
	subject  [16]byte
	seq      uint32
	previous uint64
	fields   map[uint16][]byte
}

func parseRecord(b []byte) (*record, error) {
	be := binary.BigEndian
	if len(b) < headerSize || string(b[:4]) != "GLV1" || b[4] != 1 {
		return nil, fmt.Errorf("not a record")
	}
	r := &record{
		machine:  b[5],
		event:    b[92],
		refused:  b[7]&1 != 0,
		index:    be.Uint64(b[8:]),
		seq:      be.Uint32(b[80:]),
		previous: be.Uint64(b[84:]),
		fields:   make(map[uint16][]byte),
	}
	copy(r.install[:], b[16:32])
	copy(r.subject[:], b[64:80])
	n, last, rest := be.Uint16(b[112:]), uint16(0), b[headerSize:]
	for ; n > 0; n-- {
		if len(rest) < 6 {
			return nil, fmt.Errorf("record %d is cut short", r.index)
		}
		tag, size := be.Uint16(rest), uint64(be.Uint32(rest[2:]))
		if tag <= last || size > uint64(len(rest)-6) {
			return nil, fmt.Errorf("record %d: field %d", r.index, tag)
		}
		r.fields[tag] = rest[6 : 6+size]
		last, rest = tag, rest[6+size:]
	}
	if len(rest) != 0 {
		return nil, fmt.Errorf("record %d: bytes after it", r.index)
	}
	return r, nil
}

// belongs: is it the record of this log that stands at this place?
func (r *record) belongs(origin string, index int64) error {
	if r.index != uint64(index) {
		return fmt.Errorf("record %d says it is %d", index, r.index)
	}
	if !strings.HasPrefix(origin, "glove/"+hex.EncodeToString(r.install[:])+"/") {
		return fmt.Errorf("record %d is of install %x", index, r.install)
	}
	return nil
}

// chains: the last record of each subject, by machine and subject.
type chains map[[17]byte]*record

// follow: does it continue the history of its subject without a gap?
func (c chains) follow(r *record) error {
	var key [17]byte
	key[0] = r.machine
	copy(key[1:], r.subject[:])
	before := c[key]
	c[key] = r
	if before == nil {
		if r.seq != 0 || r.previous != noPrevious {
			return fmt.Errorf("record %d: its subject has no beginning", r.index)
		}
		return nil
	}
	if r.seq != before.seq+1 || r.previous != before.index {
		return fmt.Errorf("record %d does not follow record %d", r.index, before.index)
	}
	return nil
}
