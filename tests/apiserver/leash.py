"""Runs a program for as long as whoever started this holds our standard input open: `leash.py PROGRAM [ARGUMENT...]`.

So a server ends even when the process that wanted it is killed. It gets 10 seconds to end by itself.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import threading


def main() -> int:
    """The program's own exit status; 0 when it was told to end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one who holds the leash
    program = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, start_new_session=True)
    stop_requested = threading.Event()

    def wait() -> None:
        sys.stdin.buffer.read()
        stop_requested.set()
        program.terminate()
        try:
            program.wait(10)
        except subprocess.TimeoutExpired:
            program.kill()

    threading.Thread(target=wait, daemon=True).start()
    status = program.wait()
    return 0 if stop_requested.is_set() else status or 1


if __name__ == "__main__":
    sys.exit(main())
