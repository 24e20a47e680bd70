"""A repository to begin with: input, platform, bootstrap and workflow, written once and never over anything.

What is rendered is no part of it: the first `llmaz render` makes that, so it is of the llmaz, and of the input, that CI
will compare it with.
"""

from __future__ import annotations

from renderer.scaffold.contents import commands, contents, missing, tops
from renderer.scaffold.wishes import ACTION, Wishes, wishes
from renderer.scaffold.writing import write

__all__ = ["ACTION", "Wishes", "commands", "contents", "missing", "tops", "wishes", "write"]
