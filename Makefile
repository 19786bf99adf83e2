# SPDX-License-Identifier: Apache-2.0
# Thin: meson does the work; this names it. `make help` lists the targets.
.DEFAULT_GOAL := build
.PHONY: help build all install test quick check asan tsan fuzz props model e2e cross avx512 bench fmt lint cover coverage clean

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
FUZZ_RUNS ?= 2000000
meson_test = meson test -C $(1) --no-rebuild --print-errorlogs --num-processes $(JOBS)

help: ## this list
	@grep -hE '^[a-z0-9]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 10

build: ## gyre and libgyre: gcc, optimised, into build/
	CC=$${CC:-gcc} TARGETS=programs tools/build.sh build

all: ## the same, with the tests and benchmarks
	CC=$${CC:-gcc} tools/build.sh build

install: ## gyre, libgyre, gyre.h, gyre.pc, gyre(1), gyre-COMMAND(1), gyre(3), docs, completion into PREFIX (/usr/local) below DESTDIR
	CC=$${CC:-gcc} TARGETS=programs tools/build.sh build -Dprefix=$(PREFIX)
	DESTDIR=$(DESTDIR) meson install -C build --no-rebuild --quiet
	@[ -n "$(DESTDIR)" ] || echo "installed below $(PREFIX); as root, run ldconfig once so that programs find libgyre"

test: ## ./test.sh: install, build, every short tier, then again under the sanitizers
	./test.sh

quick: ## the short tiers with gcc only
	./test.sh --quick

check: all ## the tree's own rules: layering, sizes, format, words, licence lines, scripts
	$(call meson_test,build) --suite checks

asan: ## clang with AddressSanitizer, UBSan and libFuzzer, into build-asan/, then its tests
	CC=clang-16 tools/build.sh build-asan -Db_sanitize=address,undefined -Db_lundef=false -Dlibfuzzer=true
	$(call meson_test,build-asan) --no-suite checks --no-suite models

tsan: ## gcc with ThreadSanitizer, into build-tsan/, then unit and e2e
	CC=gcc tools/build.sh build-tsan -Db_sanitize=thread
	$(call meson_test,build-tsan) --suite unit --suite property --suite e2e

fuzz: ## FUZZ_RUNS inputs (default 2 million) to each fuzz target under libFuzzer
	CC=clang-16 tools/build.sh build-asan -Db_sanitize=address,undefined -Db_lundef=false -Dlibfuzzer=true
	GYRE_FUZZ_RUNS=$(FUZZ_RUNS) $(call meson_test,build-asan) --suite fuzz --timeout-multiplier 100

props: all ## the laws of placement on large fleets and fresh seeds (20 minutes or so)
	GYRE_LONG=1 GYRE_FROM=now $(call meson_test,build) --suite property --timeout-multiplier 60

model: ## every Spin model: bases pass, mutations fail (20 minutes or so)
	models/run.py --tier long
	models/run.py --tier long models/view

e2e: all ## gyre with real redis-servers
	$(call meson_test,build) --suite e2e

cross: ## vectors and properties of libgyre for arm64 and s390x, under qemu (tools/install.sh cross)
	tools/cross.sh

avx512: ## libgyre's tests on emulated machines with AVX-512, with gcc and clang (10 minutes or so)
	tools/avx512.sh

bench: ## libgyre beside its peers: docs/speed.md
	CC=$${CC:-gcc} TARGETS=bench tools/build.sh build

fmt: ## clang-format-16 on every C file
	tests/checks/format.sh --fix

lint: all ## clang-tidy-16's findings in src/, to be read (tools/install.sh dev)
	find src -name '*.c' -print0 | xargs -0 -n 1 -P $(JOBS) clang-tidy-16 -p build --quiet

cover: ## line and branch coverage of src/, into build-cover/ (tools/install.sh dev)
	CC=gcc tools/build.sh build-cover -Db_coverage=true -Dbuildtype=debug
	$(call meson_test,build-cover) --no-suite checks --no-suite models || true
	gcovr -r . build-cover --exclude tests --exclude bench --print-summary -o build-cover/coverage.txt

coverage: ## of libgyre alone, by its unit, property, vector and fuzz tests; fails below 95 % of branches
	CC=gcc tools/build.sh build-cover -Db_coverage=true -Dbuildtype=debug
	find build-cover -name '*.gcda' -delete
	$(call meson_test,build-cover) --suite unit --suite property --suite vectors --suite fuzz
	gcovr -r . build-cover --filter src/lib/ --print-summary --fail-under-branch 95 -o build-cover/coverage-lib.txt

clean: ## remove the build folders
	rm -rf build build-asan build-tsan build-cover build-arm64 build-s390x build-avx512
