#!/usr/bin/env bash
# Installs llmaz into an environment of its own, $RUNNER_TEMP/llmaz, and puts `llmaz` alone on the PATH of later steps.
#
# INPUT_INSTALL says what pip gets, a requirement a line; nothing: the wheel of the release whose tag the ref behind
# `uses:` is, else the checkout that the action itself lies in, so the ref pins the program either way. INPUT_PYTHON is
# the Python to make the environment with; ACTION_REF and ACTION_REPOSITORY are what GitHub says of the action.
set -euo pipefail

die() {
  echo "::error title=llmaz::$1"
  exit 2
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
python=${INPUT_PYTHON:-python3}
target=${RUNNER_TEMP:?}/llmaz

# Downloads the wheel of the release into the folder $1 and prints its path; fails where there is none.
release_wheel() {
  local version wheel
  version=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' "$root/renderer/__init__.py")
  case ${ACTION_REF:-} in
    "v$version" | "v${version%%.*}") ;; # the second one moves with each release
    *) return 1 ;;
  esac
  wheel=llmaz_renderer-$version-py3-none-any.whl
  curl --fail --silent --show-error --location --retry 3 --max-time 120 --output "$1/$wheel" \
    "${GITHUB_SERVER_URL:?}/${ACTION_REPOSITORY:?}/releases/download/v$version/$wheel" >&2 || return 1
  "$python" -I -m zipfile --test "$1/$wheel" >/dev/null || return 1 # a page of login is no wheel
  printf '%s\n' "$1/$wheel"
}

command -v "$python" >/dev/null || die "no Python here: use actions/setup-python before this action"
"$python" -I -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
  die "Python 3.11 or newer is needed: use actions/setup-python before this action"

requirements=()
while IFS= read -r line || [ -n "$line" ]; do
  line=${line#"${line%%[![:space:]]*}"}
  line=${line%"${line##*[![:space:]]}"}
  case $line in
    "") ;;
    -*) die "install takes requirements, no options of pip; PIP_INDEX_URL and its like are environment variables" ;;
    *) requirements+=("$line") ;;
  esac
done <<<"${INPUT_INSTALL:-}"

"$python" -I -m venv --clear "$target"
if [ ${#requirements[@]} -eq 0 ]; then
  if wheel=$(release_wheel "$target"); then
    requirements=("$wheel")
  else
    requirements=("$root")
  fi
fi
"$target/bin/python" -I -m pip install --quiet --disable-pip-version-check -- "${requirements[@]}" || die "pip cannot install llmaz"
"$target/bin/llmaz" --version
mkdir "$target/path"
ln -s ../bin/llmaz "$target/path/llmaz"
if [ -n "${GITHUB_PATH:-}" ]; then echo "$target/path" >>"$GITHUB_PATH"; fi
