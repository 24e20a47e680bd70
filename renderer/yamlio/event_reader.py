"""The values of a file by libyaml's events; Odd for what these cannot vouch for."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from yaml.error import YAMLError
from yaml.events import (
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from renderer.yamlio import event_parser
from renderer.yamlio.limits import MAX_DEPTH, MAX_KEY
from renderer.yamlio.scalars import KEYS, VALUES, UncertainError

_TAG_OR_ANCHOR = re.compile(rb"(?<![0-9A-Za-z])[!&]")


def read(data: bytes) -> list[Any]:
    """The values of all documents of any file without tags and anchors; Odd otherwise."""
    try:
        return _documents(data)
    except YAMLError as wrong:
        raise UncertainError from wrong


def _documents(data: bytes) -> list[Any]:
    if _TAG_OR_ANCHOR.search(data) or data[:1] in (b"\xff", b"\xfe"):  # the latter begin UTF-16, which libyaml reads
        raise UncertainError
    if event_parser.Parser is event_parser.PureParser and b"\\" in data:  # it makes half surrogates of escapes
        raise UncertainError
    event_of: Callable[[], Any] = event_parser.Parser(data).get_event
    keys, plain = KEYS, VALUES
    documents: list[Any] = []
    event_of()  # the start of the stream
    while event_of().__class__ is DocumentStartEvent:
        # Below, `within` is the mapping or list that is being filled, and `above` are those around it. The document
        # itself is the only item of a list that no event opened, so that the first container is nothing special.
        root: list[Any] = []
        within: Any = root
        above: list[Any] = []
        while True:
            event = event_of()
            kind = event.__class__
            if within.__class__ is dict:
                if kind is ScalarEvent:
                    key = event.value if event.style else keys[event.value]
                    if key in within or (event.style and len(key) > MAX_KEY):
                        raise UncertainError(key)
                    event = event_of()
                    kind = event.__class__
                    if kind is ScalarEvent:
                        within[key] = event.value if event.style else plain[event.value]
                        continue
                    above.append(within)
                    if kind is MappingStartEvent:
                        within[key] = within = {}
                    elif kind is SequenceStartEvent:
                        within[key] = within = []
                    else:
                        raise UncertainError
                    if len(above) > MAX_DEPTH:
                        raise UncertainError
                    continue
                if kind is not MappingEndEvent:
                    raise UncertainError
                within = above.pop()
            elif kind is ScalarEvent:
                within.append(event.value if event.style else plain[event.value])
            elif kind is SequenceEndEvent:
                within = above.pop()
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                above.append(within)
                inner: Any = {} if kind is MappingStartEvent else []
                within.append(inner)
                within = inner
                if len(above) > MAX_DEPTH:
                    raise UncertainError
            elif not above and root:
                break  # the end of the document
            else:
                raise UncertainError
        documents.append(root[0])
    return documents
