"""How a difference is said: by format."""

from collections.abc import Callable, Mapping

from renderer.diff.comparing import Diff
from renderer.diff.markdown import markdown
from renderer.diff.plain import plain
from renderer.diff.table import table

FORMS: Mapping[str, Callable[[Diff, str], str]] = {"text": table, "markdown": markdown, "json": plain}
