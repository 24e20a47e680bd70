"""Reads the values of a file from libyaml's events; UncertainError for what is not supported."""

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


def read(data: bytes) -> list[object]:
    """The values of all documents of a file without tags and anchors; UncertainError otherwise."""
    try:
        return _documents(data)
    except YAMLError as wrong:
        raise UncertainError from wrong


def _documents(data: bytes) -> list[object]:
    if _TAG_OR_ANCHOR.search(data) or data[:1] in (b"\xff", b"\xfe"):  # the latter begin UTF-16, which libyaml reads
        raise UncertainError
    if event_parser.Parser is event_parser.PureParser and b"\\" in data:  # it makes half surrogates of escapes
        raise UncertainError
    next_event: Callable[[], Any] = event_parser.Parser(data).get_event
    keys, plain = KEYS, VALUES
    documents: list[Any] = []
    next_event()  # the start of the stream
    while next_event().__class__ is DocumentStartEvent:
        # `container` is the mapping or list that is being filled, `parents` are those around it. The document
        # itself is the only item of a list `root` without events of its own.
        root: list[object] = []
        container: Any = root
        parents: list[object] = []
        while True:
            event = next_event()
            kind = event.__class__
            if container.__class__ is dict:
                if kind is ScalarEvent:
                    key = event.value if event.style else keys[event.value]
                    if key in container or (event.style and len(key) > MAX_KEY):
                        raise UncertainError(key)
                    event = next_event()
                    kind = event.__class__
                    if kind is ScalarEvent:
                        container[key] = event.value if event.style else plain[event.value]
                        continue
                    parents.append(container)
                    if kind is MappingStartEvent:
                        container[key] = container = {}
                    elif kind is SequenceStartEvent:
                        container[key] = container = []
                    else:
                        raise UncertainError
                    if len(parents) > MAX_DEPTH:
                        raise UncertainError
                    continue
                if kind is not MappingEndEvent:
                    raise UncertainError
                container = parents.pop()
            elif kind is ScalarEvent:
                container.append(event.value if event.style else plain[event.value])
            elif kind is SequenceEndEvent:
                container = parents.pop()
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                parents.append(container)
                child: object = {} if kind is MappingStartEvent else []
                container.append(child)
                container = child
                if len(parents) > MAX_DEPTH:
                    raise UncertainError
            elif not parents and root:
                break  # the end of the document
            else:
                raise UncertainError
        documents.append(root[0])
    return documents
