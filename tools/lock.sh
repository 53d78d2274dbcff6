#!/bin/sh
# Write requirements.lock (the base install and its build), requirements-dev.lock (all that the tests, the
# site and the linters use) and requirements-fuzz.lock (the fuzzer of Python) with exact versions and hashes for every platform. Versions that stand there stay;
# `tools/lock.sh --upgrade` takes the newest. Needs `make venv`, which brings uv.
set -eu
cd "$(dirname "$0")/.."
uv="${UV:-.venv/bin/uv}"
compile() {
  "$uv" pip compile --quiet --universal --generate-hashes --no-annotate --custom-compile-command tools/lock.sh "$@"
}
# mkdocs-material needs a patch release of 3.11, airtoll does not.
compile --python-version 3.11 --group build pyproject.toml --output-file requirements.lock "$@"
compile --python-version 3.11.5 --group build --all-extras --constraint requirements.lock \
  pyproject.toml --output-file requirements-dev.lock "$@"
compile --python-version 3.11 --group pyproject.toml:fuzz --output-file requirements-fuzz.lock "$@"
