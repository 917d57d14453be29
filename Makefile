# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
#
# Every target does its own set-up and is quick the second time.

.PHONY: all cluster cluster-stop default-to-best demo lustre-mpi peers test test-all test-rest mutation lint docs portal roots bench bench-effects bench-jobs foreign gallery clean setup setup-dev

BIN := .venv/bin

# Open MPI refuses to run as root unless told so; nobody but root is affected.
export OMPI_ALLOW_RUN_AS_ROOT := 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM := 1

# In a bare root without /sys, UCX and hwloc complain on the program's own output.
export UCX_LOG_LEVEL := fatal
export HWLOC_HIDE_ERRORS := 2

all: setup

setup: ## .venv/bin/stripewise, the runtime library, plug-ins and kernels
	@tools/bootstrap.sh system build mpi
	@tools/bootstrap.sh venv
	@tools/bootstrap.sh native

setup-dev:
	@tools/bootstrap.sh system build mpi test lint slurm
	@tools/bootstrap.sh venv dev
	@tools/bootstrap.sh native

roots: ## optional: Debian 13 and 14 with their MPIs and I/O libraries, for the tests (a minute, once)
	@tools/bootstrap.sh system roots
	@tools/roots.sh

lustre-mpi: ## optional: MPICH with ROMIO's Lustre driver, built once into a cache (minutes)
	@tools/bootstrap.sh system build mpi lustre-mpi
	@tools/bootstrap.sh lustre-mpi

peers: ## optional: IOR, mdtest and benchio from archives in $$STRIPEWISE_PEERS, to compare with
	@tools/bootstrap.sh system build mpi peers
	@tools/bootstrap.sh peers

cluster: setup ## a Slurm cluster with burst buffers on this host, for trying and testing
	@tools/bootstrap.sh system slurm
	$(BIN)/python tools/cluster/cluster.py start

cluster-stop: ## end it, and remove what it left
	$(BIN)/python tools/cluster/cluster.py stop

portal: ## the portal over a year of a synthetic centre, open and ready to look at
	@tools/bootstrap.sh system portal
	@tools/bootstrap.sh venv web
	@tools/portal.sh

demo: setup ## tune a kernel, verify, run it again under best.toml, write the report
	@tools/demo.sh

# Tests that run MPI programs have the processors to themselves: ranks spin while they wait.
test: setup-dev ## what a change must pass, in ten minutes on two processors
	$(BIN)/pytest -q tests -m "not mpi" -n 3 --dist loadgroup
	$(BIN)/pytest -q tests -m mpi

test-rest: setup-dev ## PART=K/10: a tenth of what `make test` leaves out, the longest of it in part
	@tools/bootstrap.sh system apps
	STRIPEWISE_TEST_SHARE=0.03 $(BIN)/pytest -q tests --rest $(PART) -m "not mpi" -n 2 --dist loadgroup --timeout 3000
	STRIPEWISE_TEST_SHARE=0.03 $(BIN)/pytest -q tests --rest $(PART) -m mpi --timeout 3000

# COVERAGE="--cov --cov-context=test" also tells `make mutation` which tests execute a line.
test-all: export STRIPEWISE_TEST_REQUIRED := roots
test-all: setup-dev roots lustre-mpi $(if $(STRIPEWISE_PEERS),peers) ## every test: what a release must pass
	@tools/bootstrap.sh system apps
	rm -f build/durations.jsonl
	mkdir -p build
	$(BIN)/pytest -q tests --all --record build/durations.jsonl -m "not mpi" -n 2 --dist loadgroup --timeout 3000 $(COVERAGE)
	$(BIN)/pytest -q tests --all --record build/durations.jsonl -m mpi --timeout 3000 $(COVERAGE)

foreign: setup-dev ## what the product makes of programs, logs, outputs and scripts of others; half an hour
	@tools/bootstrap.sh system foreign
	PYTHONPATH=tests $(BIN)/python -m foreign $(KINDS)

mutation: setup-dev ## which of 120 faults `make test` notices of those that `make test-all` does; hours
	@tools/bootstrap.sh venv mutation
	PYTHONPATH=tools $(BIN)/python -m mutation --durations build/durations.jsonl
	PYTHONPATH=tools $(BIN)/python -m mutation --native --durations build/durations.jsonl
	PYTHONPATH=tools $(BIN)/python -m mutation --table

lint: ## formatting, style, types, import directions, shell, C
	@tools/bootstrap.sh system build mpi lint
	@tools/bootstrap.sh venv dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/boards --check
	git ls-files '*.c' '*.h' | xargs $(BIN)/clang-format --dry-run --Werror
	git ls-files '*.sh' .ci/run | xargs shellcheck

docs: setup ## the documentation as a web site in site/
	@tools/bootstrap.sh venv docs
	$(BIN)/mkdocs build --strict

bench: setup ## what the library and the analysis cost; figures side by side from one run
	$(BIN)/python native/bench/cost_per_call.py
	$(BIN)/python native/bench/cost_of_metadata.py
	$(BIN)/python native/bench/cost_of_capture.py
	$(BIN)/python native/bench/emulation.py
	$(BIN)/python benchmarks/fixed_cost.py
	$(BIN)/python benchmarks/fleet_ingest.py
	$(BIN)/python benchmarks/fleet_scale.py
	$(BIN)/python benchmarks/monitor_agent.py
	$(BIN)/python benchmarks/pattern_analysis.py
	$(BIN)/python benchmarks/read_trace.py
	$(BIN)/python benchmarks/simulate.py --check
	$(BIN)/python native/bench/kernel_overhead.py
	$(BIN)/python benchmarks/metadata_peers.py
	$(BIN)/python benchmarks/peers.py

bench-strategies: setup ## compare the search strategies on the recorded surfaces; minutes
	@tools/bootstrap.sh venv dev
	$(BIN)/python benchmarks/strategies.py
	$(BIN)/python benchmarks/strategies.py --part emulated

bench-findings: setup ## compare claims of findings with gains, and profiles with studies; an hour, quiet machine
	@tools/bootstrap.sh venv dev
	@tools/bootstrap.sh system foreign
	$(BIN)/python benchmarks/bench_findings.py
	$(BIN)/python benchmarks/agreement.py

bench-effects: setup ## published effects, by real programs on emulated storage; needs lustre-mpi; minutes
	@tools/bootstrap.sh venv dev
	$(BIN)/python benchmarks/effects.py

bench-jobs: setup ## tune job scripts on test clusters, submit what is left; half an hour, quiet machine
	@tools/bootstrap.sh system slurm
	@tools/bootstrap.sh venv dev
	$(BIN)/python benchmarks/job_scripts.py

gallery: setup ## build/gallery/page: campaigns as counterparts of published tables and figures; half an hour
	@tools/bootstrap.sh venv dev
	$(BIN)/python benchmarks/gallery.py

surfaces: setup ## record what strategies are compared on; hours on a quiet machine
	$(BIN)/python benchmarks/record_surfaces.py

default-to-best: setup ## tune every kernel on every I/O stack here; half an hour, goes on where it was
	$(BIN)/python benchmarks/default_to_best.py

clean: ## what the targets above made
	rm -rf .venv .portal build site demo.stripewise .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
