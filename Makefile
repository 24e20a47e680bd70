# `make` lists what there is. Needs a POSIX shell, Python 3.11 or newer, and Go for the tools in .tools/.
# PYTHON=python3.13 make test   takes another Python (after `make clean`, when there is a .venv already).

SHELL = /bin/sh
PYTHON ?= python3
BIN = .venv/bin
READY = .venv/ready
RELEASE = .venv/release
TAG ?=
export TAG
ARGS ?=
ENGINES ?= llamacpp
NEW ?= HEAD
WRITE ?=
WHEEL ?=
CHROMIUM ?= /usr/bin/chromium

# Our schemas, and no others; "v1" is how kubeconform calls the core group.
SCHEMAS = renderer/schemas/output/{{if eq .Group "v1"}}core{{else}}{{.Group}}{{end}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json

.PHONY: help setup demo test check types imports examples conformance kubeconform platform docs docs-serve browse-fleet apiserver-test cluster-test engine-test gateway-test tools bench schemas refresh version-table diff-examples man wheel release-check image image-test install-test clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: $(READY) ## the Python environment, in .venv

$(READY): pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "make: $(PYTHON) is not on the PATH: install Python 3.11 or newer, or say PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "make: Python 3.11 or newer is needed, $(PYTHON) is `$(PYTHON) -V 2>&1`: say PYTHON=..." >&2; exit 1; }
	@echo "Setting up .venv (a minute, once) ..."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: $(READY) ## renders examples/quickstart, and shows the input and the output
	@scripts/demo.sh

# The tests start the program hundreds of times: Python is to compile it once, whatever the environment says.
test: $(READY) ## all tests, on all cores; ARGS="-k hpa" for some
	@scripts/tools.sh kubeconform helm kustomize actionlint lwscheck yamlread healthlua rclone || { \
	  [ "$$CI" != true ] || exit 1; \
	  echo "make: some Go tools are missing (see above): the tests that ask them are SKIPPED here. In CI they are required." >&2; }
	PYTHONDONTWRITEBYTECODE= $(BIN)/pytest --numprocesses auto --dist worksteal $(ARGS)

check: $(READY) ## ruff
	$(BIN)/ruff check

types: $(READY) ## mypy, strict
	$(BIN)/mypy

imports: $(READY) ## who may import what (import-linter)
	$(BIN)/lint-imports --no-logo

examples: $(READY) ## llmaz validate, on each example
	@for example in examples/*/; do $(BIN)/llmaz validate "$$example" || exit 1; done

conformance: $(READY) ## compares with what the llmaz operator makes; ARGS="--only hub -v" for some
	$(BIN)/python tests/conformance/compare.py tests/conformance/cases --llmaz '$(BIN)/llmaz' $(ARGS)

kubeconform: ## checks every golden against our schemas of Kubernetes and the CRDs
	@scripts/tools.sh kubeconform
	@set -- $$(find tests/cases/*/expected examples/*/expected examples/*/rendered -name '*.yaml' 2>/dev/null); \
	[ $$# -gt 0 ] || { echo "make: there are no goldens" >&2; exit 1; }; \
	.tools/kubeconform -strict -summary -skip Kustomization -schema-location '$(SCHEMAS)' "$$@"

platform: ## charts/llmaz: helm lint, and kubeconform over what its value sets make
	@scripts/tools.sh helm kubeconform
	@for values in tests/platform/*/values.yaml; do .tools/helm lint --strict --quiet charts/llmaz --values "$$values" || exit 1; done
	.tools/kubeconform -strict -summary -schema-location '$(SCHEMAS)' -schema-location '$(subst renderer/schemas/output,tests/data/schemas,$(SCHEMAS))' \
	  tests/platform/*/expected.yaml

.venv/docs-ready: $(READY)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@

docs: .venv/docs-ready ## the site, in build/site/html, and each of its links followed (docs/site.md)
	$(BIN)/python -m scripts.make_site
	rm -rf build/site/html
	$(BIN)/zensical build --strict
	$(BIN)/python -m scripts.rank_search build/site/html
	$(BIN)/python -m scripts.check_site build/site/html

docs-serve: docs ## the site at http://127.0.0.1:8000/
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory build/site/html 8000

browse-fleet: $(READY) ## opens the page of 1,000 made-up workloads in headless Chromium (needs npm); CHROMIUM=/usr/bin/google-chrome
	rm -rf build/fleet
	$(BIN)/python -m scripts.make_fleet_page 1000 build/fleet
	npm install --prefix build/browser --no-audit --no-fund --silent puppeteer-core@24.43.1
	cp scripts/browse_fleet.mjs build/browser/
	node build/browser/browse_fleet.mjs build/fleet build/fleet/pictures '$(CHROMIUM)'

apiserver-test: $(READY) ## asks a real API server and webhooks of LeaderWorkerSet, KEDA, Kueue (minutes; builds them once); ARGS=PATH about other files, ARGS="--made-up 500" for less
	@scripts/tools.sh lwscheck kedacheck kueuecheck kube-apiserver etcd kubectl
	$(BIN)/python -m tests.apiserver $(ARGS)

cluster-test: $(READY) ## applies examples, a new repository, the chart to a small cluster, asks Argo CD's diff (minutes; builds it once)
	@scripts/tools.sh kube-apiserver etcd kube-controller-manager kube-scheduler lws-manager kwok drift kubectl
	$(BIN)/python -m tests.cluster $(ARGS)

engine-test: $(READY) ## runs rendered pods with real engines, as kubelet does (minutes; builds them once; needs Linux and root); ENGINES="llamacpp"
	$(BIN)/python -m tests.engines --engines '$(ENGINES)' $(ARGS)

gateway-test: $(READY) ## asks Envoy Gateway, AI gateway, picker, rate limits about examples (minutes; builds them once; needs Linux and root)
	@$(BIN)/python -m tests.gateway --machine
	@scripts/tools.sh kube-apiserver etcd ai-gateway-controller ai-gateway-extproc envoy-gateway epp ratelimit envoy
	$(BIN)/python -m tests.gateway $(ARGS)

tools: ## the Go programs that tests ask, in .tools
	scripts/tools.sh kubeconform helm kustomize actionlint lwscheck yamlread healthlua rclone

bench: $(READY) ## speed and memory, beside helm and kustomize (takes minutes)
	scripts/tools.sh helm kustomize
	$(BIN)/python scripts/bench.py $(ARGS)

schemas: $(READY) ## makes renderer/schemas anew from the Go modules of the CRDs (downloads 2 GB); ONLY=input: our own kinds, without Go
	$(BIN)/python scripts/make_schemas.py $(ONLY:%=--only %) $(ARGS)
	$(if $(ONLY),,$(BIN)/python scripts/make_since.py $(ARGS))
	$(BIN)/python scripts/make_input_types.py $(ARGS)
	$(BIN)/python -m scripts.make_key_versions $(ARGS)

refresh: $(READY) ## how old our facts are: pinned, newest in its registry (needs Go); WRITE=llamacpp takes that over, and tests it
	$(BIN)/python -m scripts.refresh $(if $(WRITE),--run --write '$(WRITE)') $(ARGS)

version-table: $(READY) ## what a release changes in rendered manifests: OLD=v0.1.0 NEW=HEAD (tags or commits; takes minutes)
	$(BIN)/python -m scripts.make_version_table $(ARGS) '$(OLD)' '$(NEW)'

diff-examples: $(READY) ## llmaz diff --llmaz of each example, in Markdown: WHEEL=llmaz_renderer-0.1.0-py3-none-any.whl (minutes); ARGS=hpa
	@$(BIN)/python -m scripts.diff_examples '$(WHEEL)' $(ARGS)

man: $(READY) ## the man pages, in man
	$(BIN)/python -m scripts.make_man

$(RELEASE)/ready: $(READY) requirements/release.txt
	@$(BIN)/python -m venv --clear $(RELEASE)
	@$(RELEASE)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements/release.txt
	@touch $@

wheel: $(RELEASE)/ready ## sdist and wheel, in dist, by the pinned tools of a release
	$(RELEASE)/bin/python -m build --no-isolation

release-check: $(RELEASE)/ready ## all of a release but its uploads: builds twice and compares, in dist; TAG=v0.2.0 for a tag
	$(RELEASE)/bin/python -m scripts.release_check --tag "$$TAG"

image: $(READY) ## the image of Argo CD's plugin, as OCI layout dist/image, of the wheel in dist (needs Linux and root, mmdebstrap, umoci)
	@ls dist/*.whl >/dev/null 2>&1 || $(MAKE) --no-print-directory release-check
	$(BIN)/python -m scripts.make_image $(ARGS)

image-test: $(READY) ## makes dist/image again and compares, runs it as Argo CD and GitLab do (minutes; needs bubblewrap and skopeo besides)
	$(BIN)/python -m tests.install image $(ARGS)

install-test: $(READY) ## installs wheel and sdist of dist in fresh Debians, follows docs/getting-started.md (minutes; needs the same); ARGS=trixie
	$(BIN)/python -m tests.install debian $(ARGS)

clean: ## removes all that make made
	rm -rf .venv .tools build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find renderer scripts tests -name __pycache__ -type d -prune -exec rm -rf {} +
