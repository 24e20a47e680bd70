"""Keys of memories: what follows from values alone is worked out once for all apps that say the same."""

from __future__ import annotations

import marshal
from typing import Any

_TELLS_ALL = 2  # the last version of the format that is the same for the same values, however they are held


def of(*values: Any) -> bytes:
    """What only the same values have: 1, 1.0 and True are three, and maps are the same in one order of their keys."""
    return marshal.dumps(values, _TELLS_ALL)
