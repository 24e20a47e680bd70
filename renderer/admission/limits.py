"""How much an expression of a policy may look at and make, before it counts as not judged."""

from typing import Final

MAX_MEMORY: Final = 1 << 24  # bytes
# What is looked at for one expression, and for all of a policy, at most. The server's limits, in units of its own, are
# 10,000,000 for all and a tenth of that for each call.
MAX_WORK: Final = 4_000_000
MAX_WORK_OF_POLICY: Final = 10_000_000
