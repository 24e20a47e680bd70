"""Limits of input files: what takes no more than seconds and 300 MB, and is far above real files.

The manifests of 1,000 models in one file are 7 MB with 510,000 values; an object of Kubernetes has at most 1.5 MiB, and
a bundle of certificates in one line 300 kB.
"""

from typing import Final

from renderer.source.paths import MAX_BYTES as MAX_BYTES

MAX_LINE: Final = 512 * 1024  # bytes of a line
MAX_KEY: Final = 1_024  # characters of a key, as many as YAML allows where no `?` stands before it
MAX_DEPTH: Final = 100  # levels of nesting
MAX_VALUES: Final = 600_000  # keys, scalars, lists, maps and documents of a file
MAX_EXPANDED: Final = 100_000  # values that the aliases of a file stand for
MAX_EXPANDED_TEXT: Final = 4 * 1024 * 1024  # characters in them
MAX_PROBLEMS: Final = 200  # reported for one file


def long_line(data: bytes) -> int:
    """The start of the first line longer than MAX_LINE, -1 without one."""
    start = 0
    while len(data) - start > MAX_LINE:  # go on after the last line break within MAX_LINE
        end = data.rfind(b"\n", start, start + MAX_LINE + 1)
        if end < 0:
            return start
        start = end + 1
    return -1
