-- SPDX-License-Identifier: ISC
-- The hand-written half of the schema; `record' and the derived tables are
-- made by lifecycle/emit from the tables of the machines and stand before it.
-- Triggers against UPDATE and DELETE stop accidents; signatures stop the rest.
CREATE TABLE commit_row (
	no	INTEGER PRIMARY KEY,
	size	INTEGER NOT NULL,	-- records up to and with this commit
	root	BLOB NOT NULL CHECK (length(root) = 32),
	mac	BLOB NOT NULL CHECK (length(mac) = 32),
	epoch	INTEGER NOT NULL	-- whose key signed it
) STRICT;
CREATE TABLE commit_sig (	-- over the checkpoint of that size and root
	no	INTEGER NOT NULL REFERENCES commit_row (no),
	key	BLOB NOT NULL CHECK (length(key) = 10),
	sig	BLOB NOT NULL CHECK (length(sig) = 64),
	PRIMARY KEY (no, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE tile (	-- complete ones only; level 0 holds leaf hashes
	level	INTEGER NOT NULL,
	n	INTEGER NOT NULL,
	root	BLOB NOT NULL CHECK (length(root) = 32),
	hashes	BLOB NOT NULL CHECK (length(hashes) = 8192),
	PRIMARY KEY (level, n)
) STRICT;
CREATE TABLE sealed (	-- a row may be deleted: that withholds the value
	idx	INTEGER NOT NULL,
	tag	INTEGER NOT NULL,
	salt	BLOB NOT NULL CHECK (length(salt) = 32),
	value	BLOB NOT NULL,
	PRIMARY KEY (idx, tag)
) STRICT, WITHOUT ROWID;
CREATE TABLE blob (
	digest	BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
	size	INTEGER NOT NULL,	-- uncompressed
	data	BLOB NOT NULL	-- one zstd frame
) STRICT;
CREATE TABLE request (
	id	BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
	body	BLOB NOT NULL CHECK (length(body) = 32),
	idx	INTEGER NOT NULL	-- its first record
) STRICT, WITHOUT ROWID;
CREATE TABLE room (	-- filled and emptied: leaves free pages, see room.c
	filler	BLOB NOT NULL
) STRICT;
CREATE TRIGGER record_chain BEFORE INSERT ON record
WHEN NOT CASE WHEN NEW.prev IS NULL THEN NEW.subject_seq = 0 AND NEW.from_st = 0
    ELSE EXISTS (SELECT 1 FROM record WHERE idx = NEW.prev AND
    machine = NEW.machine AND subject = NEW.subject AND
    subject_seq = NEW.subject_seq - 1 AND to_st = NEW.from_st) END
BEGIN SELECT RAISE(ABORT, 'the move does not begin where its subject is'); END;
CREATE TRIGGER record_no_update BEFORE UPDATE ON record
BEGIN SELECT RAISE(ABORT, 'records are only ever added'); END;
CREATE TRIGGER record_no_delete BEFORE DELETE ON record
BEGIN SELECT RAISE(ABORT, 'records are only ever added'); END;
CREATE TRIGGER commit_row_no_update BEFORE UPDATE ON commit_row
BEGIN SELECT RAISE(ABORT, 'commits are only ever added'); END;
CREATE TRIGGER commit_row_no_delete BEFORE DELETE ON commit_row
BEGIN SELECT RAISE(ABORT, 'commits are only ever added'); END;
CREATE TRIGGER commit_sig_no_update BEFORE UPDATE ON commit_sig
BEGIN SELECT RAISE(ABORT, 'signatures are only ever added'); END;
CREATE TRIGGER commit_sig_no_delete BEFORE DELETE ON commit_sig
BEGIN SELECT RAISE(ABORT, 'signatures are only ever added'); END;
CREATE TRIGGER tile_no_update BEFORE UPDATE ON tile
BEGIN SELECT RAISE(ABORT, 'tiles are only ever added'); END;
CREATE TRIGGER tile_no_delete BEFORE DELETE ON tile
BEGIN SELECT RAISE(ABORT, 'tiles are only ever added'); END;
CREATE TRIGGER sealed_no_update BEFORE UPDATE ON sealed
BEGIN SELECT RAISE(ABORT, 'a sealed value is shown or withheld, never changed'); END;
