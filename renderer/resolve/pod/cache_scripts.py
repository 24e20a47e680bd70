"""The shell scripts around a loader that fills a shared folder: who may fill it, and when it is complete.

ROOT is where the cache is mounted, FOLDER the folder of the weights in it, HOLDER the name of the pod. A lock is a
folder, since `mkdir` succeeds for one of many on any file system. Locks are numbered, and the newest one counts: who
takes over from a pod that is gone makes the next one, so that of all who see the same stale lock one succeeds, and
none can take away a lock that is newer than the one it judged. They are removed when the folder is complete, not
before. Its holder keeps changing a stamp; a stamp that stands still for five minutes belongs to a pod that is gone.
Who waits compares the stamp with what it was, not with a clock, since nodes and file servers do not agree on the
time. Every shell of POSIX runs them.
"""

from __future__ import annotations

_COMPLETE = 'complete="$ROOT/$FOLDER.complete"\n'
_NAMES = 'dir="$ROOT/$FOLDER"; lock="$dir.lock"; ' + _COMPLETE
_HOLDS = """newest() { n=0; while [ -d "$lock.$((n + 1))" ]; do n=$((n + 1)); done; }
holds() { newest; [ "$(cat "$lock.$n/holder" 2>/dev/null)" = "$HOLDER" ]; }
"""
LOCK = (
    """set -eu
"""
    + _NAMES
    + """pause() { sleep "$1" & wait $!; }
"""
    + _HOLDS
    + """release() {
  if ! holds; then return; fi
  if [ -e "$complete" ]; then rm -rf "$lock".*; else mv "$lock.$n/holder" "$lock.$n/free"; fi
}
trap 'release; exit 0' TERM INT
umask 002; mkdir -p "$dir"
seen=; still=0; told=; patience=$((${PATIENCE:-300} / ${STEP:-10}))
until [ -e "$complete" ] || holds; do
  stamp="$n $(cat "$lock.$n/stamp" 2>/dev/null || :)"
  if [ "$stamp" = "$seen" ]; then still=$((still + 1)); else seen=$stamp; still=0; fi
  if [ "$still" -gt "$patience" ]; then echo "the pod that filled $FOLDER is gone"; fi
  if [ "$n" = 0 ] || [ -e "$lock.$n/free" ] || [ "$still" -gt "$patience" ]; then
    next="$lock.$((n + 1))"
    if mkdir "$next" 2>/dev/null; then echo "$HOLDER" > "$next/holder"; else pause 1; fi
  else
    if [ -z "$told" ]; then told=yes; echo "another pod fills $FOLDER: waiting"; fi
    pause "${STEP:-10}"
  fi
done
count=0
until [ -e "$complete" ]; do
  if ! holds; then echo "another pod took the lock of $FOLDER"; exit 1; fi
  count=$((count + 1)); echo "$HOLDER $count" > "$lock.$n/stamp"
  pause "${STEP:-10}"
done
release
while :; do pause 3600; done
"""
)
HELD = "set -eu\n" + _NAMES + _HOLDS + '[ -e "$complete" ] || holds\n'
COMPLETE = "set -eu\n" + _COMPLETE + ': > "$complete"\n'
WAIT = (
    "set -eu\n"
    + _COMPLETE
    + """trap 'exit 1' TERM INT
[ -e "$complete" ] || echo "waiting until the weights are complete: $FOLDER"
until [ -e "$complete" ]; do sleep 5 & wait $!; done
"""
)
