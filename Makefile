# All that a new user needs. The presets in CMakePresets.json hold the truth.
.PHONY: help setup demo run simulate test bench lint format clean
.DEFAULT_GOAL := help

help:
	@echo "make demo    eight replicas against a provider that survives 50 calls: without, then with Plimsoll"
	@echo "make test    everything the merge gate checks, stage by stage"
	@echo "make run     a controller on loopback with the example configuration; state in build/run"
	@echo "make simulate SCENARIO=FILE   a policy on a model of your dependency; without FILE an example"
	@echo "make bench   the benchmarks"
	@echo "make lint    format, clang-tidy, house rules, and how long things are"
	@echo "make format  rewrites the sources with clang-format"
	@echo "make setup   installs the Debian packages that are missing; the others do it themselves"
	@echo "make clean   removes build/"

setup:
	@.ci/setup

demo: setup
	@.ci/build release agent/examples/all controller/main/all
	@build/release/bin/plimsoll-demo $(DEMO_FLAGS)

run: setup
	@.ci/build release controller/main/all
	@mkdir -p build/run
	@sed 's|dir: /var/lib/plimsoll|dir: build/run/state|' \
	  controller/deploy/plimsoll-controller.yaml > build/run/plimsoll-controller.yaml
	@test -d build/run/state || build/release/bin/plimsoll-controller --init --config build/run/plimsoll-controller.yaml
	@build/release/bin/plimsoll-controller --config build/run/plimsoll-controller.yaml

simulate: setup
	@.ci/build release plimsoll_cli_main
	@build/release/bin/plimsoll simulate $(or $(SCENARIO),api/cli/examples/payments.yaml) $(SIMULATE_FLAGS)

test: setup
	@.ci/test

bench: setup
	@.ci/build release tests/bench/all agent/examples/all controller/main/all
	@.ci/bench

lint: setup
	@.ci/lint

format: setup
	@.ci/sources | xargs clang-format-14 -i

clean:
	rm -rf build
