/* SPDX-License-Identifier: ISC */
#ifndef SANDBOX_CHANGES_H
#define SANDBOX_CHANGES_H

#include "base/buf.h"
#include "base/sha256.h"

struct committed;

/*
 * What a staged session did to its workspace.  It ran on an overlay: the upper
 * directory holds what it wrote, the lower one is the host's, untouched.
 *
 *	changes_scan	upper + lower -> manifest (frozen by its digest)
 *	changes_diff	manifest -> text for a person or for git apply
 *	changes_apply	manifest -> the host directory, whole or not at all
 *	changes_undo	the way back
 *	changes_discard	drop the layers
 *
 * Nothing here follows a symbolic link or leaves the directories it was given.
 * Paths are bytes: relative, without "." and "..", not always UTF-8.  Directory
 * descriptors are the caller's, O_PATH or O_RDONLY, and stay open.
 */
enum change_kind {
#define CHANGE_KIND(code, NAME, word, letter) CHANGE_KIND_##NAME = (code),
#include "sandbox/changes.def"
	CHANGE_KIND_END
};

enum change_type {
#define CHANGE_TYPE(code, NAME, word) CHANGE_TYPE_##NAME = (code),
#include "sandbox/changes.def"
	CHANGE_TYPE_END
};

enum change_note {	/* bits of struct change.notes */
#define CHANGE_NOTE(bit, NAME, effect, text) CHANGE_NOTE_##NAME = 1 << (bit),
#include "sandbox/changes.def"
};

/* One side of a change: how the path was, or how it is to be. */
struct change_side {
	uint8_t		type;		/* enum change_type */
	uint16_t	mode;		/* FILE: 0777, DIR: 01777; else 0 */
	int64_t		size;		/* FILE: bytes; else 0 */
	uint8_t		digest[SHA256_BYTES];	/* FILE: of the content; else 0 */
	struct str	target;		/* SYMLINK: where to, NUL behind; else empty */
};

struct change {
	struct str	path;		/* relative to the workspace, NUL behind */
	uint8_t		kind;		/* enum change_kind */
	uint8_t		runs_later;	/* 1: the host may execute it by itself */
	uint32_t	notes;		/* CHANGE_NOTE_* */
	struct change_side before, after;
};

struct manifest_chunk;
struct manifest {
	struct change	*v;		/* ascending by path bytes, unique */
	size_t		 n;
	size_t		 cap;
	struct manifest_chunk *chunks;	/* owns the strings */
};

void manifest_free(struct manifest *m);		/* NULL is fine */
static inline void auto_manifest(struct manifest **m) { manifest_free(*m); }

const char *change_kind_word(int kind);		/* "create"; never NULL */
char change_kind_letter(int kind);		/* 'A', as git status */
const char *change_type_word(int type);		/* "symlink"; never NULL */
int change_refused(const struct change *c);	/* 1: is never applied */
/* change_note_next(notes, at): the sentence of the next note at or after bit
 * *${at}, which moves on; NULL when there is none left. */
const char *change_note_next(uint32_t notes, unsigned *at);

/* Which paths: those that are one of these, or below one.  n == 0: all. */
struct change_paths {
	const struct str *v;
	size_t		  n;
};
int change_selected(const struct change_paths *p, const struct change *c);
/* change_paths_check(p, m, e): NOTFOUND, naming it, if one selects nothing. */
int change_paths_check(const struct change_paths *p, const struct manifest *m,
    struct err *e) MUST_CHECK;

struct changes_scan_options {
	/*
	 * CLOCK_REALTIME in ns when the session's overlay was mounted, or 0.
	 * A host file that both sides changed since then is named HOST.
	 */
	int64_t		since_ns;
};

/*
 * changes_scan(upper, lower, opts, out, e): everything that differs between
 * the overlay's view and the host, at most CHANGE_ENTRIES_MAX (TOOBIG).  May
 * run while the session does: each file is then as it was when it was read.
 * The caller frees *${out}.
 */
int changes_scan(int upper_dirfd, int lower_dirfd,
    const struct changes_scan_options *opts, struct manifest **out,
    struct err *e) MUST_CHECK;

/* The canonical bytes, glove-changes(5); one manifest, one encoding. */
int manifest_encode(const struct manifest *m, struct buf *b, struct err *e)
    MUST_CHECK;
/* manifest_decode: exactly what manifest_encode() writes; else FORMAT. */
int manifest_decode(struct bytes in, struct manifest **out, struct err *e)
    MUST_CHECK;
/* manifest_digest: D("glove/manifest/1", canonical bytes). */
int manifest_digest(const struct manifest *m, uint8_t out[SHA256_BYTES],
    struct err *e) MUST_CHECK;

enum changes_diff_form { CHANGES_PATCH, CHANGES_STAT, CHANGES_NAMES };

struct changes_diff_options {
	enum changes_diff_form form;
	struct change_paths paths;
	int		color;		/* ANSI colours */
	int		terminal;	/* make lines with control bytes harmless */
	int		width;		/* of CHANGES_STAT; 0: 80 columns */
	/* Where changes_apply() kept what it replaced, for a diff after it.
	 * 0 or -1: there is none. */
	int		undo_dirfd;
	/* Takes a piece of the text; not 0 stops, with ${e} filled. */
	int		(*put)(void *cookie, struct bytes b, struct err *e);
	void		*cookie;
};

struct changes_sum {
	int64_t		files;		/* changed; not directories, nor refused */
	int64_t		added;		/* lines of text */
	int64_t		removed;
	int64_t		binary;		/* files that are not text */
	int64_t		refused;	/* entries that are never applied */
	int64_t		runs_later;
	int64_t		stale;		/* no longer what the manifest says */
};

/*
 * changes_diff(upper, lower, m, opts, sum, e): write the difference to
 * opts->put, in pieces; the patch form is what git apply and patch -p1 take.
 * What patches cannot say (modes of directories, what is left out and why)
 * stands in lines that begin with "# ".  ${sum}, if not NULL, gets the totals.
 * opts->put may be NULL: totals only.  A file that no longer is what the
 * manifest says is named, its lines are left out, and it counts as stale.
 */
int changes_diff(int upper_dirfd, int lower_dirfd, const struct manifest *m,
    const struct changes_diff_options *opts, struct changes_sum *sum,
    struct err *e) MUST_CHECK;

struct changes_conflict {
	const struct change *c;		/* of the manifest given */
	const char	*why;		/* static sentence */
};

enum changes_outcome {
	CHANGES_UNTOUCHED,	/* the host directory is as it was */
	CHANGES_PARTIAL,	/* some of it: continue or undo */
	CHANGES_WHOLE		/* all of it is done */
};

struct changes_result {
	enum changes_outcome outcome;
	size_t		 done;		/* entries done by this call */
	size_t		 already;	/* entries found done */
	size_t		 refused;	/* entries left out, see their notes */
	struct changes_conflict *conflict;
	size_t		 nconflict;
};

void changes_result_done(struct changes_result *r);	/* may be called twice */
static inline void
auto_changes_result(struct changes_result *r)
{
	changes_result_done(r);
}

struct changes_apply {
	int		 upper_dirfd;	/* not used by changes_undo() */
	int		 lower_dirfd;	/* the host directory */
	int		 undo_dirfd;	/* 0700, of this change alone; a dry run
					 * may do without: -1 */
	const struct manifest *m;
	struct change_paths paths;
	int		 dry_run;	/* look only; ${proof} may be NULL */
	int		 over_host;	/* also what is noted HOST; else CONFLICT */
	/* Before each entry; not 0 stops there (REVOKED).  May be NULL. */
	int		 (*step)(void *cookie, const struct change *c,
			    size_t done, size_t total);
	void		*cookie;
};

/*
 * changes_apply(a, proof, r, e): make the host directory what the manifest
 * says.  First everything is looked at: if one path is no longer as it was
 * (CONFLICT, all of them in ${r}), nothing is touched.  Then entry by entry,
 * each whole or not there, with what it replaces kept in undo_dirfd.  Called
 * again after a crash or a stop it goes on where it was.  Files become the
 * caller's; setuid and setgid do not come along.
 *
 * ${proof} is the committed start of the apply.  ${r} is filled in every case,
 * and freed by the caller.  Fails with CONFLICT, REVOKED (step stopped it),
 * STALE (the upper layer is not what the manifest says), SYS; r->outcome then
 * says what is true of the host directory.
 */
int changes_apply(const struct changes_apply *a, const struct committed *proof,
    struct changes_result *r, struct err *e) MUST_CHECK;

/*
 * changes_undo(a, proof, r, e): put back what changes_apply() replaced, of all
 * or of a half-done apply.  A path that someone changed since is a CONFLICT
 * and nothing is touched.  WHOLE: everything is as it was before.
 */
int changes_undo(const struct changes_apply *a, const struct committed *proof,
    struct changes_result *r, struct err *e) MUST_CHECK;

/*
 * changes_discard(dirfd, name, e): remove ${name} below ${dirfd} and all it
 * holds, whatever the modes; never through a link or into a mount.  A missing
 * ${name} is success.  For upper/, work/ and undo/.
 */
int changes_discard(int dirfd, const char *name, struct err *e) MUST_CHECK;

#endif
