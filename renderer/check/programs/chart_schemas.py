"""Which schemas of a chart's values helm may be given: it fetches whatever they refer to, by http or from any file."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import zlib
from collections.abc import Iterator

from msgspec import Struct

from renderer.check.programs.chart_folder import chart_entries
from renderer.source.paths import read_file_inside

_NAME = "values.schema.json"
_ARCHIVE = ".tgz"
_MOST_BYTES = 16 * 1024 * 1024  # of an archive that is searched for a schema
_MOST_SHOWN = 200  # characters of what a schema refers to
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef", "$schema")
# What helm has itself: the schemas of schemas.
_KNOWN = re.compile(r"#.*|https?://json-schema\.org/(draft-0[467]/|draft/20(19-09|20-12)/)?schema#?", re.DOTALL)


class ValueSchemas(Struct, frozen=True):
    """What becomes of the schemas of a chart's values."""

    is_judged: bool  # whether helm may judge the values by them
    left_out: list[str]  # what is rendered without, in words


def value_schemas(chart: str, folder: str) -> ValueSchemas:
    """What becomes of the schemas of a chart and of the charts in it. `folder`: which its files may not lead out of.

    Of an archive they are left out, since helm might find another file in it than is seen here.
    """
    left_out, has_archive = [], False
    for path in sorted(chart_entries(chart, folder)):
        name = os.path.relpath(path, os.path.dirname(chart))
        if path.lower().endswith(_ARCHIVE):
            has_archive = True
            if _may_hold_schema(path, folder):
                left_out.append(f"the {_NAME} of the archive {name}: only folders are searched for what it refers to")
        elif os.path.basename(path) == _NAME and (reference := _reference(path, folder)):
            left_out.append(f"{name}, which refers to {reference}")
    return ValueSchemas(not has_archive and not left_out, left_out)


def _may_hold_schema(path: str, folder: str) -> bool:
    """Whether an archive holds a schema or another archive, or cannot be searched for one."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(read_file_inside(folder, path))) as archive:
            data = archive.read(_MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        return True
    return len(data) > _MOST_BYTES or _NAME.encode() in data or _ARCHIVE.encode() in data


def _reference(path: str, folder: str) -> str:
    """What a schema refers to outside of itself; '' for nothing."""
    try:
        schema = json.loads(read_file_inside(folder, path))
        return next((f"'{text[:_MOST_SHOWN]}'" for text in _references(schema) if not _KNOWN.fullmatch(text)), "")
    except (OSError, ValueError, RecursionError):
        return "what cannot be read"


def _references(schema: object) -> Iterator[str]:
    values = list(schema.values()) if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    if isinstance(schema, dict):
        yield from (text for key in _REFERENCES if isinstance(text := schema.get(key), str))
    for value in values:
        yield from _references(value)
