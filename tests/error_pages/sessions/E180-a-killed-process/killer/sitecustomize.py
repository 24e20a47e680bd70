"""Kills each worker process when it starts, as the system does where memory runs out."""

import os
import signal

os.sched_getaffinity = lambda pid: {0, 1}  # on a machine with one core, too
os.register_at_fork(after_in_child=lambda: os.kill(os.getpid(), signal.SIGKILL))
