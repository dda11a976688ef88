# SPDX-License-Identifier: ISC
# One makefile, no recursion into folders, no configure.  `make help` says what
# it can do.

VERSION	:= 0.1.0

#### what you may set: CC CFLAGS LDFLAGS PREFIX DESTDIR V SAN COV FI
PREFIX	?= /usr/local
CFLAGS	?= -O2 -g
SAN	?=# address,undefined | thread
FI	?=# 1: compile the fault seams in
COV	?=# 1: gcov
V	?=

#### flags
cc-option = $(shell $(CC) -Werror $(1) -x c -c -o /dev/null /dev/null 2>/dev/null && echo $(1))
WARN	:= -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wcast-qual \
	-Wwrite-strings -Wstrict-prototypes -Wmissing-prototypes -Wvla \
	-Wformat=2 -Wundef -Wimplicit-fallthrough -Werror
HARD	:= -fstack-protector-strong -D_FORTIFY_SOURCE=2 -fPIE -fno-common \
	$(call cc-option,-ftrivial-auto-var-init=zero)
PKGS	:= sqlite3 libsodium libzstd libseccomp jansson libsystemd
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
LDLIBS	:= $(shell pkg-config --libs $(PKGS) 2>/dev/null)
LDHARD	:= -pie -Wl,-z,relro,-z,now -Wl,--as-needed
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE -DGLOVE_VERSION='"$(VERSION)"' -I. -I$(B) \
	$(WARN) $(HARD) $(PKG_CFLAGS) $(if $(FI),-DFAULTINJECT) \
	$(if $(COV),--coverage) $(SANFLAGS) $(CFLAGS) -MMD -MP

# One build directory per kind of build, so switching never rebuilds the world.
empty	:=
space	:= $(empty) $(empty)
comma	:= ,
B	:= build/$(or $(subst $(comma),-,$(SAN)),plain)$(if $(FI),-fi)$(if $(COV),-cov)$(if $(filter clang%,$(notdir $(CC))),-clang)

# Made before anything is compiled.
GEN	:= $(B)/derived.h $(B)/schema.h $(B)/filter.h

#### what there is
LIBDIRS	:= base lifecycle journal engine recovery sandbox relay cli $(if $(FI),faultinject)
PROGS	:= $(patsubst cli/%.c,%,$(wildcard cli/glove.c cli/gloved.c cli/glove-sandbox.c cli/glove-verify.c))
LIB_C	:= $(filter-out lifecycle/emit.c sandbox/emit.c cli/pages.c $(PROGS:%=cli/%.c),$(wildcard $(LIBDIRS:=/*.c)))
UNIT_C	:= $(wildcard tests/unit/*_test.c)
CRASH_C	:= $(wildcard tests/crash/*_test.c)
TLIB_C	:= $(wildcard tests/lib/*.c)
FUZZ_C	:= $(wildcard tests/fuzz/*.c)
BENCH_C	:= $(wildcard tests/bench/*_bench.c)
UNITS	:= $(UNIT_C:%.c=$(B)/%)
CRASHES	:= $(if $(FI),$(CRASH_C:%.c=$(B)/%))
BENCHES	:= $(BENCH_C:%.c=$(B)/%)
HDRS	:= $(wildcard $(LIBDIRS:=/*.h) tests/lib/*.h)
SRCS	:= $(LIB_C) $(PROGS:%=cli/%.c) $(UNIT_C) $(CRASH_C) $(TLIB_C) $(BENCH_C) lifecycle/emit.c sandbox/emit.c
LIB	:= $(B)/libglove.a
OBJ	= $(1:%.c=$(B)/%.o)

ifeq ($(V),)
Q	:= @
say	= @printf '  %-7s %s\n' $(1) $(2:$(B)/%=%);
endif

.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:
.PHONY: all man check check-long demo unit e2e bench fuzz fuzz-all lint headers layers analyze install clean help FORCE

all: $(PROGS:%=$(B)/%) $(LIB) ## build everything; leaves ./glove runnable here
ifeq ($(B),build/plain)
	$(Q)for p in $(PROGS); do ln -sf $(B)/$$p $$p; done
endif

$(LIB): $(call OBJ,$(LIB_C))
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $^

$(B)/%.o: %.c $(B)/flags | $(GEN)
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -c -o $@ $<

# Rebuild when the flags change: the file is only rewritten if it differs.
$(B)/flags: FORCE
	@mkdir -p $(B); printf '%s\n' "$(subst ",\",$(CC) $(ALL_CFLAGS))" | cmp -s - $@ || \
	    printf '%s\n' "$(subst ",\",$(CC) $(ALL_CFLAGS))" > $@
FORCE:

LINK	= $(CC) $(SANFLAGS) $(if $(COV),--coverage) $(LDFLAGS) $(LDHARD) -o $@ $^ $(LDLIBS)

$(PROGS:%=$(B)/%): $(B)/%: $(B)/cli/%.o $(LIB)
	$(call say,LD,$@)$(LINK)

#### tables -> sql, dot, mdoc
EMIT	:= $(B)/lifecycle/emit
EMIT_C	:= lifecycle/emit.c lifecycle/dot.c lifecycle/machine.c lifecycle/words.c base/err.c
$(EMIT): $(EMIT_C) $(wildcard lifecycle/*.def lifecycle/*.h base/*.def base/*.h)
	$(call say,HOSTCC,$@)mkdir -p $(@D) && $(CC) -std=c11 -D_GNU_SOURCE -I. -o $@ $(EMIT_C)
$(B)/derived.sql: $(EMIT)
	$(call say,EMIT,$@)$(EMIT) sql > $@
$(B)/derived.h: $(B)/derived.sql
	$(call say,GEN,$@)sed 's/.*/"&\\n",/' $< > $@
FILTER_C := sandbox/emit.c sandbox/seccomp.c base/buf.c base/err.c
$(B)/sandbox/emit: $(FILTER_C) $(wildcard sandbox/syscalls.def sandbox/seccomp.h base/*.def base/*.h)
	$(call say,HOSTCC,$@)mkdir -p $(@D) && $(CC) -std=c11 -D_GNU_SOURCE -I. -o $@ $(FILTER_C) -lseccomp
$(B)/filter.h: $(B)/sandbox/emit
	$(call say,GEN,$@)$< > $@
$(B)/schema.h: journal/schema.sql
	$(call say,GEN,$@)mkdir -p $(@D) && sed 's/.*/"&\\n",/' $< > $@

#### pages: *.in with a line @made by what@, or plain ones
PAGE_IN	:= $(wildcard $(LIBDIRS:=/*.[1-9].in))
PAGES	:= $(B)/cli/pages
MANS	:= $(addprefix $(B)/man/,$(notdir $(PAGE_IN:.in=) $(wildcard $(LIBDIRS:=/*.[1-9]))))
vpath %.in $(LIBDIRS)
vpath %.1 $(LIBDIRS)
vpath %.5 $(LIBDIRS)
vpath %.7 $(LIBDIRS)
vpath %.8 $(LIBDIRS)
$(PAGES): cli/pages.c $(wildcard */*.def)
	$(call say,HOSTCC,$@)mkdir -p $(@D) && $(CC) -std=c11 -D_GNU_SOURCE -I. -o $@ $<
$(B)/man/%: %.in $(PAGES) $(EMIT)
	$(call say,PAGE,$@)mkdir -p $(@D) && while IFS= read -r l; do case "$$l" in \
	    "@emit "*) $(EMIT) $$(expr "$$l" : '@emit \(.*\)@') || exit 1;; \
	    "@pages "*) $(PAGES) $$(expr "$$l" : '@pages \(.*\)@') || exit 1;; \
	    *) printf '%s\n' "$$l";; esac; done < $< > $@
$(B)/man/%: %
	$(call say,PAGE,$@)mkdir -p $(@D) && cp $< $@
man: $(MANS) ## the pages

#### tests
TLIB	:= $(B)/libtests.a
$(TLIB): $(call OBJ,$(TLIB_C))
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $^
$(B)/tests/%: $(B)/tests/%.o $(TLIB) $(LIB)
	$(call say,LD,$@)$(CC) $(SANFLAGS) $(if $(COV),--coverage) $(LDFLAGS) $(LDHARD) -o $@ \
	    $(filter %.o,$^) $(TLIB) $(LIB) $(LDLIBS) -lcmocka

unit: all $(UNITS) $(CRASHES) ## the unit tests (and with FI=1 the crash tests)
	$(Q)tests/run.sh $(sort $(UNITS) $(CRASHES))

e2e: all ## the scripts of tests/e2e against the programs of this build
	$(Q)GLOVE_BIN=$(abspath $(B)) tests/run.sh $(sort $(wildcard tests/e2e/[0-9]*.sh))

# What is missing is installed first, then make reads pkg-config afresh.
check: ## install what is missing, then every test (CONTRIBUTING.md, "Tests")
	$(Q)dist/deps.sh check
	$(Q)+tests/check.sh
check-long: ## the rest: long sweeps, fuzzing, all seeds; by hand
	$(Q)dist/deps.sh long
	$(Q)+GLOVE_LONG=1 tests/check.sh
demo: ## install what is missing, build, and show the main job
	$(Q)dist/deps.sh build
	$(Q)+$(MAKE) -s all
	$(Q)dist/demo.sh $(abspath build/plain)

bench: all $(BENCHES) ## speed as ratios, beside peers in the same run
	$(Q)dist/deps.sh bench
	$(Q)for b in $(BENCHES); do $$b || exit 1; done
	$(Q)for b in $(wildcard tests/bench/*.sh); do GLOVE_BIN=$(abspath $(B)) $$b || exit 1; done

# Whatever finds something keeps it in build/; what was learnt stays there too.
T	?= 60
FUZZERS	:= $(FUZZ_C:%.c=$(B)/%)
fuzz: ## every parser against libFuzzer, T=60 seconds each
	$(Q)+$(MAKE) -s CC=clang SAN=address,undefined,fuzzer-no-link fuzz-all
$(B)/tests/fuzz/%: $(B)/tests/fuzz/%.o $(LIB)
	$(call say,LD,$@)$(CC) $(SANFLAGS) -fsanitize=fuzzer $(LDFLAGS) $(LDHARD) -o $@ $^ $(LDLIBS)
fuzz-all: $(FUZZERS)
	$(Q)for f in $^; do n=$${f##*/}; mkdir -p $$f.corpus; \
	    $$f -max_total_time=$(T) -max_len=65536 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
	    -artifact_prefix=$$f. $$f.corpus $$(ls -d tests/fuzz/corpus/$$n 2>/dev/null) >$$f.log 2>&1 || \
	    { tail -n 60 $$f.log; exit 1; }; printf '  FUZZ    %-12s %s inputs\n' $$n \
	    $$(sed -n 's/^stat::number_of_executed_units: *//p' $$f.log); done

lint: man ## the scripts and the pages
	$(Q)shellcheck -x -S warning $(wildcard tests/*.sh tests/e2e/*.sh tests/bench/*.sh dist/*.sh .ci/run)
	$(Q)for p in $(MANS); do mandoc -T lint -W warning $$p || exit 1; done

#### every header stands alone
headers: $(GEN) ## does every header compile alone
	$(Q)for h in $(HDRS); do $(CC) -std=c11 -D_GNU_SOURCE -I. -I$(B) $(PKG_CFLAGS) \
	    $(if $(FI),-DFAULTINJECT) $(WARN) -fsyntax-only -x c \
	    -include $$h /dev/null || exit 1; done

#### who may include whom; a folder may always include itself
MAY_base	:=
MAY_faultinject	:= base/
MAY_lifecycle	:= base/
MAY_journal	:= base/ lifecycle/ faultinject/
MAY_engine	:= base/ lifecycle/ faultinject/ journal/
MAY_recovery	:= $(MAY_engine) engine/
MAY_sandbox	:= base/ lifecycle/ faultinject/ journal/committed.h journal/receipt.h
MAY_relay	:= $(MAY_sandbox) sandbox/self.h
LAYERS	:= base faultinject lifecycle journal engine recovery sandbox relay
# THIRD_header: the files that may include it
THIRD	:= systemd/sd-event.h=cli/world.h jansson.h=base/json_lib.h sqlite3.h=journal/db_int.h,faultinject/vfs.c zstd.h=journal/blob.c \
	seccomp.h=sandbox/seccomp.c,sandbox/self.c \
	sodium.h=base/sha256.c,base/id.c,base/text.c,journal/sign.c,journal/sign_verify.c,journal/keyring.c,journal/keyfile.c,journal/keyslot.c,journal/head.c,journal/ratchet.c
layers: ## who may include whom (DESIGN.md, "Folders")
	$(Q)$(foreach d,$(LAYERS),grep -ho '#include "[a-z]*/[^"]*"' $(wildcard $(d)/*.[ch]) /dev/null | \
	    sed 's/.*"\(.*\)"/\1/' | sort -u | grep -vE '^($(subst $(space),|,$(strip $(d)/ $(MAY_$(d)))))' | \
	    sed 's,^,$(d)/ may not include ,' | { ! grep .; } &&) true
	$(Q)for t in $(THIRD); do h=$${t%%=*}; may=",$${t#*=},"; \
	    for f in $$(grep -l "#include <$$h>" $(wildcard $(LIBDIRS:=/*.[ch])) /dev/null); do \
	    case "$$may" in *",$$f,"*) ;; *) echo "$$f may not include <$$h>"; exit 1;; esac; done; done

analyze: $(GEN) ## gcc -fanalyzer, clang-tidy, cppcheck
	$(Q)for c in $(LIB_C); do gcc $(filter-out -MMD -MP -Werror,$(ALL_CFLAGS)) -fanalyzer -c -o /dev/null $$c || exit 1; done
	$(Q)cppcheck -q --std=c11 --suppress=memleak --suppress=resourceLeak --enable=warning,performance,portability --inline-suppr -I. -I$(B) $(if $(FI),-DFAULTINJECT) --error-exitcode=1 $(LIB_C)
	$(Q)clang-tidy -quiet $(LIB_C) -- -std=c11 -D_GNU_SOURCE -I. -I$(B) $(PKG_CFLAGS) 2>/dev/null

#### installing
BINDIR	= $(DESTDIR)$(PREFIX)/bin
LIBEXEC	= $(DESTDIR)$(PREFIX)/libexec/glove
MANDIR	= $(DESTDIR)$(PREFIX)/share/man
install: all man ## programs, pages, units: DESTDIR= PREFIX=
	install -d $(BINDIR) $(LIBEXEC) $(DESTDIR)$(PREFIX)/share/bash-completion/completions
	install -m 755 $(B)/glove $(B)/glove-verify $(BINDIR)
	install -m 755 $(B)/gloved $(B)/glove-sandbox $(LIBEXEC)
	for p in $(MANS); do install -D -m 644 $$p $(MANDIR)/man$${p##*.}/$${p##*/} || exit 1; done
	$(B)/glove completion bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/glove
	$(if $(wildcard dist/*.service),install -D -m 644 -t $(DESTDIR)$(PREFIX)/lib/systemd/user $(wildcard dist/*.service dist/*.socket))

clean: ## forget it all
	rm -rf build $(PROGS)

help: ## this
	@sed -n 's/^\([a-z2-]*\):.*## \(.*\)/  make \1	\2/p' Makefile

-include $(patsubst %.c,$(B)/%.d,$(SRCS))
