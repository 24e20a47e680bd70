"""The shell scripts around a loader that fills a shared folder: who may fill it, and when it is complete.

ROOT is where the cache is mounted, FOLDER the folder of the weights in it, HOLDER the name of the pod. The lock is a
folder, since `mkdir` succeeds for one of many on any file system. Its holder keeps changing a stamp; a stamp that
stands still for five minutes belongs to a pod that is gone. Who waits compares the stamp with what it was, not with a
clock, since nodes and file servers do not agree on the time. Every shell of POSIX runs them.
"""

from __future__ import annotations

_COMPLETE = 'complete="$ROOT/$FOLDER.complete"\n'
_NAMES = 'dir="$ROOT/$FOLDER"; lock="$dir.lock"; ' + _COMPLETE
LOCK = (
    """set -eu
"""
    + _NAMES
    + """pause() { sleep "$1" & wait $!; }
holds() { [ "$(cat "$lock/holder" 2>/dev/null)" = "$HOLDER" ]; }
release() { if holds; then rm -rf "$lock"; fi; }
trap 'release; exit 0' TERM INT
umask 002; mkdir -p "$dir"
seen=; still=0; told=
until [ -e "$complete" ] || mkdir "$lock" 2>/dev/null || holds; do
  stamp=$(cat "$lock/stamp" 2>/dev/null || :)
  if [ -z "$told" ]; then told=yes; echo "another pod fills $FOLDER: waiting"; fi
  if [ "$stamp" = "$seen" ]; then still=$((still + 1)); else seen=$stamp; still=0; fi
  if [ "$still" -gt "$((${PATIENCE:-300} / ${STEP:-10}))" ]; then
    echo "the pod that filled $FOLDER is gone"
    if mv "$lock" "$lock.$HOLDER" 2>/dev/null; then rm -rf "$lock.$HOLDER"; fi
    still=0
  fi
  pause "${STEP:-10}"
done
if [ ! -e "$complete" ]; then echo "$HOLDER" > "$lock/holder"; fi
count=0
until [ -e "$complete" ]; do
  if ! holds; then echo "another pod took the lock of $FOLDER"; exit 1; fi
  count=$((count + 1)); echo "$HOLDER $count" > "$lock/stamp"
  pause "${STEP:-10}"
done
release
while :; do pause 3600; done
"""
)
HELD = "set -eu\n" + _NAMES + '[ -e "$complete" ] || [ "$(cat "$lock/holder")" = "$HOLDER" ]\n'
COMPLETE = "set -eu\n" + _COMPLETE + ': > "$complete"\n'
WAIT = (
    "set -eu\n"
    + _COMPLETE
    + """trap 'exit 1' TERM INT
[ -e "$complete" ] || echo "waiting until the weights are complete: $FOLDER"
until [ -e "$complete" ]; do sleep 5 & wait $!; done
"""
)
