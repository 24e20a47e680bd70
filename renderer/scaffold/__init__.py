"""A new GitOps repository: input, platform, bootstrap and workflow, written once; no file is ever overwritten.

Rendered files are not part of it: the first `llmaz render` makes them, with the same version and input as in CI.
"""

from __future__ import annotations

from renderer.scaffold.contents import contents, top_level_entries
from renderer.scaffold.next_commands import commands, missing
from renderer.scaffold.options import ACTION, ScaffoldOptions, scaffold_options
from renderer.scaffold.writer import write

__all__ = [
    "ACTION",
    "ScaffoldOptions",
    "commands",
    "contents",
    "missing",
    "scaffold_options",
    "top_level_entries",
    "write",
]
