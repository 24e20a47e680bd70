#!/bin/sh
# `make demo`: renders the quickstart into build/demo, and shows the input and the output.
set -eu

cd "$(dirname "$0")/.."
input=examples/quickstart/chat.yaml
output=build/demo

title() {
  if [ -t 1 ]; then printf '\n\033[1m%s\033[0m\n\n' "$1"; else printf '\n%s\n\n' "$1"; fi
}

shown() {
  sed -e '/^# yaml-language-server/d' -e 's/^/    /' "$1"
}

rm -rf "$output"
title "Input: $input"
shown "$input"

title "Command: llmaz render examples/quickstart -o $output"
.venv/bin/llmaz render examples/quickstart -o "$output"

find "$output" -name '*.yaml' | LC_ALL=C sort | while read -r file; do
  title "Output: $file"
  shown "$file"
done

kinds=$(find "$output" -name '*.yaml' -exec sed -n 's/^kind: //p' {} + | awk '!seen[$0]++' | paste -s -d , - | sed 's/,/, /g')
lines=$(find "$output" -name '*.yaml' -exec cat {} + | wc -l | tr -d ' ')
title "$(wc -l <"$input" | tr -d ' ') lines of input became $lines lines of plain Kubernetes manifests ($kinds), ready to commit for Argo CD or Flux. Nothing of llmaz runs in the cluster."
