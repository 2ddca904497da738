# All that a new user needs. The presets in CMakePresets.json hold the truth.
.PHONY: help setup setup-web demo run simulate dashboards dashboards-build dashboards-shots metrics-reference test bench lint format \
  packages clean
.DEFAULT_GOAL := help

help:
	@echo "make demo    eight replicas against a provider that survives 50 calls: without, then with Plimsoll; with a console"
	@echo "make dashboards   a controller, a fleet and Prometheus, and the dashboards drawn by Grafana's libraries"
	@echo "make test    everything the merge gate checks, stage by stage"
	@echo "make run     a controller on loopback with the example configuration; state in build/run"
	@echo "make simulate SCENARIO=FILE   a policy on a model of your dependency; without FILE an example"
	@echo "make packages   Debian packages, in build/release/packages"
	@echo "make bench   the benchmarks"
	@echo "make lint    format, clang-tidy, house rules, and how long things are"
	@echo "make format  rewrites the sources with clang-format"
	@echo "make setup   installs the Debian packages that are missing; the others do it themselves"
	@echo "make clean   removes build/"

setup:
	@.ci/setup

setup-web:
	@.ci/setup --web

demo: setup
	@.ci/build release agent/examples/all controller/main/all plimsoll_cli_main
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

# The libraries that draw are a large installation (490 MB), and so are not part of the tests.
dashboards: setup-web .dashboards-drawing
	@node dashboards/live/show.mjs build/release/bin

dashboards-shots: setup-web .dashboards-drawing
	@node dashboards/live/show.mjs build/release/bin --shots build/dashboards

.PHONY: .dashboards-drawing
.dashboards-drawing:
	@.ci/build release agent/examples/all controller/main/all
	@test -d dashboards/grafana/render/node_modules || \
	  (cd dashboards/grafana/render && npm ci --ignore-scripts --legacy-peer-deps --no-audit --no-fund)
	@cd dashboards/grafana/render && node build.mjs

dashboards-build:
	@test -d dashboards/grafana/node_modules || \
	  (cd dashboards/grafana && npm ci --ignore-scripts --no-audit --no-fund)
	@cd dashboards/grafana && npx tsc --noEmit && npx tsx src/build.ts json
	@node dashboards/prometheus/prometheusrule.mjs

metrics-reference: setup
	@.ci/build release agent/examples/all controller/main/all
	@node dashboards/catalogue/reference.mjs build/release/bin dashboards/METRICS.md

test: setup-web
	@.ci/test

# Everything that is installed, and what only packages have.
packages: setup
	@.ci/build release algorithms/all agent/all api/all controller/all plimsoll_package_files
	@cd build/release && cpack

bench: setup
	@.ci/build release tests/bench/all agent/examples/all controller/main/all
	@.ci/bench

lint: setup
	@.ci/lint

format: setup
	@.ci/sources | xargs clang-format-14 -i

clean:
	rm -rf build
