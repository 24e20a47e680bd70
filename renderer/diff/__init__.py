"""What a change of the input does to the cluster: two sides of rendered files, compared object by object."""

from collections.abc import Callable, Mapping

from renderer.diff.comparing import Altered, Diff, compare
from renderer.diff.markdown import markdown, refused
from renderer.diff.plain import plain
from renderer.diff.table import table

FORMS: Mapping[str, Callable[[Diff, str], str]] = {"text": table, "markdown": markdown, "json": plain}

__all__ = ["FORMS", "Altered", "Diff", "compare", "refused"]
