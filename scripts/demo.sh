#!/bin/sh
# `make demo`: renders the quickstart into build/demo, and shows what goes in and what comes out.
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
title "What goes in: $input"
shown "$input"

title "What runs: llmaz render examples/quickstart -o $output"
.venv/bin/llmaz render examples/quickstart -o "$output"

find "$output" -name '*.yaml' | LC_ALL=C sort | while read -r file; do
  title "What comes out: $file"
  shown "$file"
done

kinds=$(find "$output" -name '*.yaml' -exec sed -n 's/^kind: //p' {} + | awk '!seen[$0]++' | paste -s -d , - | sed 's/,/, /g')
lines=$(find "$output" -name '*.yaml' -exec cat {} + | wc -l | tr -d ' ')
title "So: $(wc -l <"$input" | tr -d ' ') lines about a model became $lines lines of plain Kubernetes ($kinds), ready to commit for Argo CD or Flux; nothing of llmaz runs in the cluster."
