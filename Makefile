# Everything sets itself up: a virtual environment in .venv, the packages pinned in constraints.txt,
# and for the tests a headless Chromium. Needs Python 3.11 to 3.13 and, for Chromium, Debian's apt.
#
#   make demo    the whole loop on the example study, with a private Label Studio
#   make test    lint, types and all tests (make check + pytest); about a quarter of an hour
#   make check   ruff, ruff format, mypy --strict, pyright
#   make soak    the full counts: kill points, fuzz, large runs, coverage studies
#   make clean   remove what the above made here

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help demo test check soak clean install install-dev latex system

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' 2>/dev/null \
	&& { echo $$p; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
# uv installs several times faster; pip does the same where uv can't reach its index.
GET = $(BIN)/uv pip install --quiet --python $(BIN)/python $(1) \
	|| $(BIN)/python -m pip install --quiet $(1)
PYTEST = $(BIN)/python -m pytest -c tests/pytest.ini tests

help:
	@sed -n '4,8s/^# *//p' Makefile

$(VENV)/.made: constraints.txt
	@test -n "$(PYTHON)" || { echo "make: Python 3.11, 3.12 or 3.13 is needed; install python3"; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
		echo "installing python3-venv"; apt-get -qq update && apt-get -qq install -y python3-venv; }
	@echo "making the virtual environment $(VENV)"
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt pip uv setuptools wheel
	@touch $@

$(VENV)/.packages: $(VENV)/.made pyproject.toml
	@echo "installing accord's packages (a few minutes the first time)"
	@$(call GET,--constraint constraints.txt .)
	@touch $@

$(VENV)/.dev-packages: $(VENV)/.packages
	@echo "installing the packages for the tests (a few minutes the first time)"
	@$(call GET,--constraint constraints.txt --group dev --group llm)
	@touch $@

# The wheel is what users get, so the wheel is what is run and tested; a stale build/ would ship
# deleted modules again.
install: $(VENV)/.packages
	@rm -rf build *.egg-info
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --force-reinstall .
	@rm -rf build *.egg-info

install-dev: $(VENV)/.dev-packages install

# The browser that looks at the labelling pages and the report.
system:
	@command -v chromium >/dev/null || { echo "installing chromium"; \
		apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y \
		--no-install-recommends chromium fonts-dejavu-core fonts-noto-core fonts-noto-cjk >/dev/null; }

demo: install
	@$(BIN)/accord demo $(DEMO_OPTIONS)

check: install-dev
	@mkdir -p .links && ln -sfn .. .links/accord
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy -p accord.annotate -p accord.cli -p accord.scoring -p accord.study \
		-p accord.templates -p accord.validate
	$(BIN)/mypy tests
	$(BIN)/pyright

# Tests that wait for a server, a browser or a model run beside those that only compute; each of
# the two takes about one core.
SERVICES := label_studio or browser or llm
RUN := $(BIN)/coverage run -m pytest -c tests/pytest.ini -p no:cacheprovider tests

test: check system
	@rm -f .coverage .coverage.* .services.log
	@env --default-signal=INT $(RUN) -m "$(SERVICES)" >.services.log 2>&1 & services=$$!; \
	$(RUN) -m "not ($(SERVICES))"; computed=$$?; \
	echo "with servers, a browser and a model:"; \
	wait $$services; served=$$?; cat .services.log; rm -f .services.log; \
	exit $$((computed | served))
	@$(BIN)/coverage combine --quiet
	@$(BIN)/coverage report --skip-covered --sort=cover

# What sets the tables of a panel.
latex:
	@command -v pdflatex >/dev/null || { echo "installing LaTeX"; \
		apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y \
		--no-install-recommends texlive-latex-base texlive-latex-recommended >/dev/null; }

soak: install-dev system latex
	ACCORD_SOAK=1 $(PYTEST) -m soak --durations=0

clean:
	rm -rf $(VENV) .links build dist *.egg-info .coverage .coverage.* .services.log .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
	rm -rf .pytest_cache tests/.pytest_cache .mypy_cache .ruff_cache
