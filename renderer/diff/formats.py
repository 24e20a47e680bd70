"""The functions that write a difference, by the name of the format."""

from collections.abc import Callable, Mapping

from renderer.diff.comparison import TreeDiff
from renderer.diff.json_format import to_json
from renderer.diff.markdown import markdown
from renderer.diff.table import table

FORMS: Mapping[str, Callable[[TreeDiff, str], str]] = {"text": table, "markdown": markdown, "json": to_json}
