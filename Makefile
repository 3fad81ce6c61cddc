# Everything from nothing: needs Python >= 3.11 and make.
PYTHON ?= python3
BIN := .venv/bin
CHROMIUM ?= /usr/bin/chromium
PYTEST := $(BIN)/pytest -n auto --dist loadfile --no-loadscope-reorder
ROOT := $(if $(filter 0,$(shell id -u)),,sudo)

MINUTES ?= 5
SEED ?= 1
KINDS ?=

.PHONY: demo test test-full torture check docs install clean

demo: .venv/core
	$(BIN)/tilewright demo

test: check $(CHROMIUM)
	CHROMIUM=$(CHROMIUM) $(PYTEST)

test-full: check docs $(CHROMIUM)
	CHROMIUM=$(CHROMIUM) $(PYTEST) -m 'slow or not slow'

# Bad input, kills, full disks: `make torture MINUTES=60 SEED=7 KINDS=boards,kills`.
torture: .venv/dev
	$(BIN)/python -m torture --minutes $(MINUTES) --seed $(SEED) $(if $(KINDS),--kinds $(KINDS))

# The site, in site/index.html. Nothing is read from the network; a warning is an error.
docs: .venv/docs
	$(BIN)/sphinx-build --fail-on-warning --keep-going --fresh-env --quiet --builder html docs site

check: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

install: .venv/dev
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[web,ray]'

clean:
	rm -rf .venv site

.venv/core: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "tilewright needs Python 3.11 or newer")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
	touch $@

.venv/dev: .venv/core
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[deep,dev,web]'
	touch $@

.venv/docs: .venv/core
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[docs]'
	touch $@

# The tests of the web page run in Debian's browser.
/usr/bin/chromium:
	$(ROOT) apt-get update -qq
	$(ROOT) apt-get install -y -qq chromium
