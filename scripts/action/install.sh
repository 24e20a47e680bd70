#!/usr/bin/env bash
# Installs llmaz into an environment of its own, $RUNNER_TEMP/llmaz, and puts `llmaz` alone on the PATH of later steps.
#
# INPUT_INSTALL says what pip gets, a requirement a line; nothing: the checkout that the action itself lies in, so the
# ref behind `uses:` pins the program too. INPUT_PYTHON is the Python to make the environment with.
set -euo pipefail

die() {
  echo "::error title=llmaz::$1"
  exit 2
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
python=${INPUT_PYTHON:-python3}
target=${RUNNER_TEMP:?}/llmaz

command -v "$python" >/dev/null || die "no Python here: use actions/setup-python before this action"
"$python" -I -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
  die "Python 3.11 or newer is needed: use actions/setup-python before this action"

wanted=()
while IFS= read -r line || [ -n "$line" ]; do
  line=${line#"${line%%[![:space:]]*}"}
  line=${line%"${line##*[![:space:]]}"}
  case $line in
    "") ;;
    -*) die "install takes requirements, no options of pip; PIP_INDEX_URL and its like are environment variables" ;;
    *) wanted+=("$line") ;;
  esac
done <<<"${INPUT_INSTALL:-}"
[ ${#wanted[@]} -gt 0 ] || wanted=("$root")

"$python" -I -m venv --clear "$target"
"$target/bin/python" -I -m pip install --quiet --disable-pip-version-check -- "${wanted[@]}" || die "pip cannot install llmaz"
"$target/bin/llmaz" --version
mkdir "$target/path"
ln -s ../bin/llmaz "$target/path/llmaz"
if [ -n "${GITHUB_PATH:-}" ]; then echo "$target/path" >>"$GITHUB_PATH"; fi
