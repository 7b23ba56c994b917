# make demo | check | check-compilers | check-gpu | all | install | uninstall | sanitize | mutate |
#   fuzz | campaign | format | bench | info | clean
#
# Variables: PREFIX, DESTDIR, BUILD (where the objects go), CC, CFLAGS, LDFLAGS,
#   PORTABLE=1    link GLPK, jansson and what they need statically
#   WERROR=1      treat warnings as errors
#   DEBUG=1       check the search's incremental state while it runs, and compile RP_LOG in
#   V=1           show the commands
#   CUDA_HOME     the first place to look for CUDA
#   INSTANCES     a folder of graphs for `make bench` instead of its own cases
#   MUTATE        options and files for tools/mutate.sh
#   SKIP_PYTHON=1 leave out the tests with PyTorch and JAX, which install 5 GB in ~/.cache
#   FUZZ_SECONDS  how long `make fuzz` spends on each parser (60)
#   SEED, N, MINUTES, CASE, KIND  of `make campaign` (tests/campaign/campaign.c)
#   GOAL          what `make sanitize` makes, such as campaign (check)
VERSION := $(shell cat VERSION)
PREFIX ?= /usr/local
BUILD ?= build
CC = gcc
CFLAGS ?= -O2 -g
FUZZ_SECONDS ?= 60

# gcc 11 warns about some complete designated initializers, hence the -Wno.
WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla \
  -Wno-missing-field-initializers
RP_CFLAGS = -std=c11 -D_GNU_SOURCE -DRP_VERSION='"$(VERSION)"' -Isrc $(WARN) \
  $(if $(filter 1,$(WERROR)),-Werror) $(if $(filter 1,$(DEBUG)),-DRP_DEBUG) -MMD -MP -pthread \
  $(CFLAGS)

ifeq ($(PORTABLE),1)
LIBS := -Wl,-Bstatic -lglpk -ljansson -lcolamd -lamd -lsuitesparseconfig -lgmp -lz -lltdl \
  -Wl,-Bdynamic -lm -pthread
else
LIBS := -lglpk -ljansson -lm -pthread
endif

# The library is everything below src/ except main.c and what is loaded into other programs.
LIB_SRC := $(sort $(filter-out src/profile/inject/%,$(wildcard src/*/*.c src/*/*/*.c)))
LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/%.o)
TEST_SRC := $(wildcard tests/*.c)
TEST_OBJ := $(TEST_SRC:%.c=$(BUILD)/%.o)
FUZZERS := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
REPLAYS := $(FUZZERS:%=$(BUILD)/replay_%)
FORMATTED := $(wildcard $(foreach d,bench src src/* src/*/* tests tests/*,$(d)/*.[ch] $(d)/*.js))

all: $(BUILD)/remat-plan $(BUILD)/libremat.a $(BUILD)/libremat_inject.so

# ---- what must be installed: `check` and similar targets install it, `all` only names it ----

INSTALLING := demo check check-compilers check-gpu sanitize mutate fuzz fuzzers campaign bench deps
DEPS_MODE := $(if $(filter $(INSTALLING),$(MAKECMDGOALS)),install,name)
BUILD_DEPS := $(BUILD)/deps-build $(if $(filter 1,$(PORTABLE)),$(BUILD)/deps-portable)

$(BUILD)/deps-%:
	@tools/deps.sh $(DEPS_MODE) $*
	@mkdir -p $(@D) && touch $@

deps: $(BUILD_DEPS) $(BUILD)/deps-check

# ---- building ----

# V=1 shows the commands themselves.
Q := $(if $(filter 1,$(V)),,@)
say = @$(if $(Q),printf '%-3s %s\n' $(1) $(2),:)

# Everything depends on this file. It changes only when the flags do.
FLAGS_NOW = $(CC) $(RP_CFLAGS) | $(LDFLAGS) $(LIBS)
$(BUILD)/flags: always
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(FLAGS_NOW))' | cmp -s - $@ || \
	  printf '%s\n' '$(subst ','\'',$(FLAGS_NOW))' >$@

$(BUILD)/%.o: %.c $(BUILD)/flags | $(BUILD_DEPS)
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(RP_CFLAGS) $(INCLUDES) -c -o $@ $<

# A fused multiply-add would round once where the kernels' sums must round twice.
$(BUILD)/src/kernels/%.o: INCLUDES := -ffp-contract=off

# The sources that emitted programs and pages contain, embedded in remat-plan as text.
TEXTS := $(sort $(filter-out src/kernels/ref_f64.c,$(wildcard src/kernels/ref*.[ch])) \
  $(addprefix src/kernels/,kargs.h half.h fill.h fill.c) $(wildcard src/kernels/cuda/*) \
  $(wildcard src/emit/runtime/* src/emit/templates/*/* src/cmd/completion/*) \
  $(wildcard $(addprefix src/emit/page/*.,css html js)))
$(BUILD)/texts.c: tools/embed.sh $(TEXTS) $(BUILD)/flags
	$(Q)tools/embed.sh $(TEXTS) >$@.new && mv $@.new $@
$(BUILD)/texts.o: $(BUILD)/texts.c
	$(Q)$(CC) $(RP_CFLAGS) -c -o $@ $<
LIB_OBJ += $(BUILD)/texts.o

# If CUPTI's own headers are installed, a test compares our offsets with theirs.
CUPTI_H := $(patsubst %/cupti.h,%,$(firstword $(wildcard $(foreach d,$(CUDA_HOME) \
  /usr/local/cuda,$(d)/include/cupti.h $(d)/extras/CUPTI/include/cupti.h))))

# The suites of tests/run.h: one per test file, so a new suite needs only its file.
SUITES := $(patsubst tests/test_%.c,X(%),$(wildcard tests/test_*.c))
$(BUILD)/tests/all_suites.h: always
	@mkdir -p $(@D)
	@echo '#define RP_SUITES(X) $(SUITES)' | cmp -s - $@ || \
	  echo '#define RP_SUITES(X) $(SUITES)' >$@

$(TEST_OBJ): | $(BUILD)/tests/all_suites.h $(BUILD)/deps-check
$(TEST_OBJ): INCLUDES := -I$(BUILD)/tests $(CUPTI_H:%=-isystem %)

link = $(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^)

$(BUILD)/remat-plan: $(BUILD)/src/main.o $(LIB_OBJ)
	$(call say,LD,$@)
	$(link) $(LIBS)

$(BUILD)/unit: $(TEST_OBJ) $(LIB_OBJ)
	$(call say,LD,$@)
	$(link) -lcunit $(LIBS)

# The library that `profile -- COMMAND` loads into COMMAND. It uses only libc.
INJECT_OBJ := $(patsubst %.c,$(BUILD)/pic/%.o,$(wildcard src/profile/inject/*.c) src/profile/record.c)
$(BUILD)/pic/%.o: %.c $(BUILD)/flags | $(BUILD_DEPS)
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(RP_CFLAGS) -fPIC -fvisibility=hidden $(INCLUDES) -c -o $@ $<

# -z nodelete: it must stay loaded, since threads and exit handlers still call it.
$(BUILD)/libremat_inject.so: $(INJECT_OBJ)
	$(call say,LD,$@)
	$(link) -shared -Wl,-z,nodelete -Wl,-soname,libremat_inject.so -ldl -pthread

# A stand-in for CUPTI, and a program to trace. The program is built with our own NVTX
# declarations and, if NVTX is installed, with the real ones.
NVTX_H := $(patsubst %/nvtx3/nvToolsExt.h,%,$(firstword $(wildcard $(foreach d,$(CUDA_HOME) \
  /usr/local/cuda /usr,$(d)/include/nvtx3/nvToolsExt.h))))
TRACED := $(BUILD)/traced/libcupti_fake.so $(BUILD)/traced/traced $(if $(NVTX_H),$(BUILD)/traced/traced_nvtx)
$(BUILD)/traced/libcupti_fake.so: $(BUILD)/pic/tests/traced/fake_cupti.o
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(link) -shared -pthread
$(BUILD)/traced/traced: $(BUILD)/tests/traced/traced.o
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(link) -ldl -pthread
$(BUILD)/traced/exit_order: $(BUILD)/tests/traced/exit_order.o
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(link) -rdynamic -ldl
$(BUILD)/traced/cupti_host: $(BUILD)/tests/traced/cupti_host.o $(BUILD)/src/profile/record.o
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(link) -ldl -pthread
$(BUILD)/traced/traced_nvtx: tests/traced/traced.c $(BUILD)/tests/traced/traced.o
	$(call say,LD,$@)
	$(Q)$(CC) $(filter-out -MMD -MP,$(RP_CFLAGS)) -DREAL_NVTX -isystem $(NVTX_H) -o $@ $< $(LDFLAGS) -ldl

# Stand-ins for the CUDA driver and for NVIDIA's management library.
$(BUILD)/libcuda/libnvidia-ml.so.1: $(BUILD)/pic/tests/cuda/nvml.o
$(BUILD)/libcuda/libcuda.so.1: $(BUILD)/pic/tests/cuda/driver.o
$(BUILD)/libcuda/%.so.1:
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(link) -shared

# Runs ops for the tests with PyTorch (python/tests/oracle).
$(BUILD)/run-ops: $(BUILD)/tests/oracle/run_ops.o $(LIB_OBJ)
	$(call say,LD,$@)
	$(link) $(LIBS)

# fuzz_verify compares the checker with the naive checker of the tests, fuzz_certificate what
# is proved with the best of all plans.
FUZZ_OBJ := $(patsubst %,$(BUILD)/tests/%.o,naive brute brute_copies) $(LIB_OBJ)
$(BUILD)/replay_%: $(BUILD)/tests/fuzz/fuzz_%.o $(BUILD)/tests/fuzz/run_seeds.o $(FUZZ_OBJ)
	$(call say,LD,$@)
	$(link) $(LIBS)

# The campaign. Its second checker (checker.c, judge*.c, read_*.c) shares no code with src/.
CAMPAIGN_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/campaign/*.c) \
  $(addprefix tests/,brute.c brute_copies.c gen.c))
$(BUILD)/tests/campaign/%.o: INCLUDES := -Itests
$(BUILD)/run-campaign: $(CAMPAIGN_OBJ) $(LIB_OBJ)
	$(call say,LD,$@)
	$(link) $(LIBS)

include cuda.mk

# libremat: walks plans in other runtimes (src/remat/README.md). All of its names begin with
# remat_, so the digest function is renamed.
LIBREMAT_OBJ := $(patsubst %.c,$(BUILD)/libremat/%.o,$(wildcard src/remat/*.c) src/base/sha256.c)
$(BUILD)/libremat/%.o: %.c $(BUILD)/flags | $(BUILD_DEPS)
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(RP_CFLAGS) -Drp_sha256_hex=remat_sha256_hex -c -o $@ $<
$(BUILD)/libremat.a: $(LIBREMAT_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

demo: $(BUILD)/remat-plan
	@BUILD=$(BUILD) tools/demo.sh

# ---- checking ----

tests: all $(BUILD)/unit $(TRACED)

check: tests $(REPLAYS) $(BUILD)/run-campaign $(BUILD)/run-ops \
  $(if $(SKIP_PYTHON),,$(BUILD)/deps-python $(BUILD)/deps-portable)
	@BUILD=$(BUILD) tools/check-python.sh setup
	@BUILD=$(BUILD) tools/check.sh

check-compilers: $(BUILD)/deps-build $(BUILD)/deps-check $(BUILD)/deps-clang
	@BUILD=$(BUILD) tools/check-compilers.sh

sanitize:
	$(MAKE) $(or $(GOAL),check) BUILD=$(BUILD)/asan SKIP_PYTHON=1 \
	  LDFLAGS="-fsanitize=address,undefined" \
	  CFLAGS="-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all"

check-gpu: all
	@BUILD=$(BUILD) tools/check-gpu.sh

mutate:
	@BUILD=$(BUILD) tools/mutate.sh $(MUTATE)

fuzz: $(BUILD)/deps-fuzz
	$(MAKE) fuzzers BUILD=$(BUILD)/fuzz CC=clang \
	  CFLAGS="-O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all"
	BUILD=$(BUILD)/fuzz tools/fuzz.sh $(FUZZ_SECONDS) $(FUZZERS)

fuzzers: $(FUZZERS:%=$(BUILD)/fuzz_%)
$(BUILD)/fuzz_%: $(BUILD)/tests/fuzz/fuzz_%.o $(FUZZ_OBJ)
	$(call say,LD,$@)
	$(link) -fsanitize=fuzzer $(LIBS)

campaign: $(BUILD)/remat-plan $(BUILD)/run-campaign
	export REMAT_PLAN_HIGHS=$${REMAT_PLAN_HIGHS:-$$(BUILD=$(BUILD) tools/check-python.sh highs)}; \
	$(BUILD)/run-campaign --seed "$(SEED)" --cases "$(N)" --minutes "$(MINUTES)" \
	  --case "$(CASE)" --kind "$(KIND)" --folder $(BUILD)/campaign $(BUILD)/remat-plan

bench: $(BUILD)/remat-plan $(BUILD)/layered $(BUILD)/chain
	@BUILD=$(BUILD) bench/planner $(INSTANCES)

$(BUILD)/layered $(BUILD)/chain: $(BUILD)/%: $(BUILD)/bench/%.o
	$(call say,LD,$@)
	$(link)

format:
	@tools/deps.sh install format
	@tools/format.sh --write $(FORMATTED)

# ---- installing ----

# Where each shell looks for completions of what is installed in PREFIX.
BASH_COMPLETION := $(PREFIX)/share/bash-completion/completions/remat-plan
ZSH_COMPLETION := $(PREFIX)/share/zsh/site-functions/_remat-plan
FISH_COMPLETION := $(PREFIX)/share/fish/vendor_completions.d/remat-plan.fish

install: all
	install -D -m 755 $(BUILD)/remat-plan $(DESTDIR)$(PREFIX)/bin/remat-plan
	install -D -m 755 $(BUILD)/libremat_inject.so $(DESTDIR)$(PREFIX)/lib/remat-plan/libremat_inject.so
	install -D -m 644 man/remat-plan.1 $(DESTDIR)$(PREFIX)/share/man/man1/remat-plan.1
	install -d $(DESTDIR)$(PREFIX)/share/doc/remat-plan
	install -m 644 $(addprefix docs/,formats.md profile.md certificate.md ops.md ops-seq.md) \
	  $(DESTDIR)$(PREFIX)/share/doc/remat-plan
	install -D -m 644 $(BUILD)/libremat.a $(DESTDIR)$(PREFIX)/lib/libremat.a
	install -D -m 644 src/remat/remat.h $(DESTDIR)$(PREFIX)/include/remat.h
	sed 's|(../../docs/|(|; s|(remat.h)|(../../../include/remat.h)|' src/remat/README.md \
	  >$(DESTDIR)$(PREFIX)/share/doc/remat-plan/libremat.md
	install -D -m 644 src/cmd/completion/remat-plan.bash $(DESTDIR)$(BASH_COMPLETION)
	install -D -m 644 src/cmd/completion/remat-plan.zsh $(DESTDIR)$(ZSH_COMPLETION)
	install -D -m 644 src/cmd/completion/remat-plan.fish $(DESTDIR)$(FISH_COMPLETION)
	install -d $(DESTDIR)$(PREFIX)/lib/pkgconfig
	sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' src/remat/remat.pc.in \
	  >$(DESTDIR)$(PREFIX)/lib/pkgconfig/remat.pc

uninstall:
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/,lib/libremat.a lib/pkgconfig/remat.pc include/remat.h)
	rm -f $(addprefix $(DESTDIR),$(BASH_COMPLETION) $(ZSH_COMPLETION) $(FISH_COMPLETION))
	rm -f $(DESTDIR)$(PREFIX)/bin/remat-plan $(DESTDIR)$(PREFIX)/share/man/man1/remat-plan.1
	rm -rf $(DESTDIR)$(PREFIX)/share/doc/remat-plan $(DESTDIR)$(PREFIX)/lib/remat-plan

clean:
	rm -rf $(BUILD)

info:
	@echo "version   $(VERSION)"
	@echo "compiler  $$($(CC) --version | head -n 1)"
	@echo "flags     $(RP_CFLAGS)"
	@echo "libraries $(LIBS)"
	@CUDA_HOME="$(CUDA_HOME)" sh src/emit/templates/cuda/find-cuda.sh
	@$(BUILD)/remat-plan --version 2>/dev/null | sed -n 's/^engines:/engines  /p' | grep . || \
	  echo "engines   known once $(BUILD)/remat-plan is built"

always:
.PHONY: all demo bench deps tests check check-compilers check-gpu mutate sanitize fuzz fuzzers campaign format install uninstall clean info always
.PRECIOUS: $(BUILD)/%.o
-include $(LIB_OBJ:.o=.d) $(INJECT_OBJ:.o=.d) $(LIBREMAT_OBJ:.o=.d) $(wildcard $(BUILD)/*/tests/traced/*.d $(BUILD)/tests/traced/*.d) $(TEST_OBJ:.o=.d) $(BUILD)/src/main.d $(wildcard $(BUILD)/tests/fuzz/*.d $(BUILD)/tests/campaign/*.d $(BUILD)/tests/oracle/*.d)
