# One folder, two entry points: `make demo` runs the main job, `make test` passes the tests.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

PAGE := src/pcn/explorer/page
SUMO_LIBRARIES := libgl1 libxext6 libxrender1 libatomic1

.PHONY: demo install test test-fast test-slow test-ray test-jax-packages check format docs notebooks release-check system-libraries sumo-libraries browser clean

demo: $(VENV)/.installed
	rm -rf runs/demo
	$(BIN)/pcn train deep-sea-treasure --seed 0 --out runs/demo

# Everything that tests and docs need, in one go: pip takes less time for all than for one after the other.
install: $(BIN)/python
	$(PIP) --editable '.[dev,docs]'
	touch $(VENV)/.installed
	$(MAKE) system-libraries
	touch $(VENV)/.installed-dev $(VENV)/.installed-docs

test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest

test-fast: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -m "not slow"

test-slow: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -m slow

# Ray brings 240 MB and clusters that take their time, so `make test` skips these where it is not installed.
test-ray: $(VENV)/.installed-dev
	$(PIP) --editable '.[ray]'
	$(BIN)/python -m pytest -n 1 tests/experiments/execution/test_cluster.py tests/envs/test_ray_slots.py

# gymnax, jumanji and brax bring flax, mujoco-mjx and an older Gymnasium than the pinned one, so they have a
# place of their own and `make test` skips these tests.
JAX_VENV := .venv-jax-packages
test-jax-packages:
	$(PYTHON) -m venv $(JAX_VENV)
	grep -v '^gymnasium==' constraints.txt > $(JAX_VENV)/constraints.txt
	$(JAX_VENV)/bin/python -m pip install --quiet --disable-pip-version-check \
	  --constraint $(JAX_VENV)/constraints.txt --editable '.[dev,gymnax,jumanji,brax]'
	$(JAX_VENV)/bin/python -m pytest -n 1 tests/envs/adapted tests/docs/test_jax_packages.py

check: $(VENV)/.installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/oxfmt --check $(PAGE)
	$(BIN)/oxlint $(PAGE)

# The site, in build/docs; it works from disk with no network.
docs: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/docs
	@echo "Wrote build/docs/index.html"

# Executes the notebooks again and saves what they print and draw.
notebooks: $(VENV)/.installed-docs
	$(BIN)/jupyter execute --inplace docs/notebooks/*.ipynb
	$(BIN)/python docs/tidy_notebooks.py

# Builds wheel and sdist, installs the wheel into an empty environment elsewhere, trains and reports with it.
release-check: $(VENV)/.installed-dev
	rm -rf dist && $(BIN)/python -m hatchling build -d dist
	elsewhere=$$(mktemp -d) && $(PYTHON) -m venv $$elsewhere/venv \
	  && $$elsewhere/venv/bin/pip install --quiet --constraint constraints.txt "$$(echo $(CURDIR)/dist/*.whl)[explore]" \
	  && cd $$elsewhere && venv/bin/pcn train deep-sea-treasure --total-steps 5000 --out run \
	  && venv/bin/pcn report run --out front.html && rm -rf $$elsewhere

format: $(VENV)/.installed-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/oxfmt $(PAGE)

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("pcn needs Python 3.11 or newer, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) --editable '.[explore]'
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(PIP) --editable '.[dev]'
	$(MAKE) system-libraries
	touch $@

$(VENV)/.installed-docs: $(VENV)/.installed
	$(PIP) --editable '.[docs]'
	touch $@

system-libraries:
	@$(BIN)/python -c 'import libsumo' 2>/dev/null || $(MAKE) sumo-libraries
	@{ command -v chromium || command -v chromium-browser; } >/dev/null || $(MAKE) browser || echo "The tests of the explorer's page are skipped."

# What SUMO needs of the system and slim machines lack; elsewhere than on Debian, its own way.
sumo-libraries:
	@command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] \
	  || { echo "SUMO needs: apt-get install $(SUMO_LIBRARIES)"; exit 1; }
	apt-get update -qq && apt-get install -y -qq --no-install-recommends $(SUMO_LIBRARIES)

# What drives the explorer's page in its tests; without it they say so and are skipped.
browser:
	@command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] \
	  || { echo "The explorer's page is tested in a browser: apt-get install chromium"; exit 1; }
	apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium

clean:
	rm -rf $(VENV) runs .mypy_cache .ruff_cache .pytest_cache .hypothesis
