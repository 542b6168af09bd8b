#!/usr/bin/env bash
# Checks a release from nothing: a fresh clone of the newest commit, its build, the tests that need no database, and
# that the version is the same everywhere and the schema is frozen. docs/releasing.md tells what to do about a failure.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
  echo "check-release: $1" >&2
  echo "hint: $2" >&2
  exit 1
}

[[ -z $(git status --porcelain) ]] || fail "there are changes that are not committed" "Commit them, or put them aside."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
git clone --quiet . "$folder/quake"
cd "$folder/quake"

version=$(sed -n 's/^package let productVersion = "\(.*\)"$/\1/p' Sources/QuakeTool/Tool.swift)
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "Sources/QuakeTool/Tool.swift has no version" "Set productVersion."
newest=$(sed -n 's/^## \([0-9][0-9.]*\)$/\1/p' CHANGELOG.md | head -n 1)
[[ $newest == "$version" ]] \
  || fail "the newest version of CHANGELOG.md is $newest, the tools have $version" \
    "Name the section \"Unreleased\" of CHANGELOG.md \"$version\", or correct productVersion."
tag=$(git tag --points-at HEAD --list 'v*')
[[ -z $tag || $tag == "v$version" ]] \
  || fail "the commit has the tag $tag, the tools have version $version" "Tag the commit v$version."

# The migrations of a release are frozen, whether databases have applied them yet or not.
for file in migrations/[0-9]*.sql; do
  line=$(cd migrations && sha256sum "${file#migrations/}")
  grep -qxF "$line" migrations/RELEASED \
    || fail "$file is not frozen, or not as it was released" "docs/releasing.md has the command that freezes it."
done
schema=$(find migrations -name '[0-9]*.sql' | wc -l)

make build
commit=$(git rev-parse --short=8 HEAD)
for tool in quake-ingest quake-watch quake-query quake-admin quake-serve; do
  said=$(.build/release/$tool --version)
  [[ $said == "$tool $version (commit $commit, schema $schema)" ]] \
    || fail "$tool --version says: $said" "It must be $version, commit $commit, schema $schema."
done
make lint
make test-unit
echo "check-release: version $version, commit $commit, schema $schema can be released"
