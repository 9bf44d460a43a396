# Everything happens in .venv, made on first use and again only when pyproject.toml changes.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test long peers faults fuzz mutants matrix bench docs site dist lint format clean

.venv/.base: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "potentia needs Python 3.11 or newer")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

.venv/.dev: .venv/.base
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

.venv/.bench: .venv/.base
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	touch $@

.venv/.peers: .venv/.dev # pygambit builds for minutes
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[peers]'
	touch $@

.venv/.site: .venv/.base
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	touch $@

.venv/.matrix: .venv/.base
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[matrix]'
	touch $@

demo: .venv/.base        ## the paper's experiments, short: a report in out/demo
	$(BIN)/potentia reproduce --quick --out out/demo
	@echo "to play, change and compare runs in the browser: $(BIN)/potentia studio --paper"

test: .venv/.dev         ## the tests, in parallel
	$(BIN)/python -m pytest -n auto --dist loadgroup

long: .venv/.dev         ## the studies that take minutes
	$(BIN)/python -m pytest -n auto --dist loadgroup -m long

peers: .venv/.peers      ## games and results beside pygambit, QuantEcon, nashpy and OpenSpiel
	$(BIN)/python -m pytest -n auto --dist loadgroup -m 'long or not long' tests/peers tests/unit/games/test_converters.py

faults: .venv/.dev       ## a fault at every call that writes, and what is then on disk
	$(BIN)/python -m tests.faults

fuzz: .venv/.dev         ## damaged and forged files for everything that is read
	$(BIN)/python -m tests.fuzz --count 100000

mutants: .venv/.dev      ## faults planted in the sources one at a time, and how many of them the tests catch
	$(BIN)/python -m benchmarks.mutants

matrix: .venv/.matrix    ## Pythons × lowest and newest dependencies; PYTHONS="3.11 3.13" for some of them
	$(BIN)/python -m tests.matrix $(PYTHONS)

bench: .venv/.bench      ## speed, side by side with peers and with C
	$(BIN)/python -m benchmarks --out out/bench.json

docs: .venv/.base        ## the computed tables and figures of docs/
	$(BIN)/python docs/make.py

site: .venv/.site        ## the documentation as a site in out/site; tutorials are run, a warning is an error
	rm -rf out/site
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --fresh-env --quiet -b html -d out/site-doctrees docs out/site
	@echo "open out/site/index.html"

dist: .venv/.site        ## a wheel and an sdist in dist, checked
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/*

lint: .venv/.dev         ## style, types, the direction of imports and the docstrings of public names
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.docstrings

format: .venv/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv out build dist
