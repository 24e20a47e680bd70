"""An object as rules of a policy judge it, whether it is rendered, passed through or written by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from renderer.diagnostics import Origin, Path
from renderer.plan import Body
from renderer.yamlio import Document


def list_items(document: Document) -> Iterator[Document]:
    """The objects of a document: one, or the items of a list of any kind, which clients take apart."""
    value: Any = document.value
    items = value.get("items") if isinstance(value, dict) else None
    if isinstance(items, list) and str(value.get("kind")).endswith("List"):
        for item in document.parts("items"):
            yield from list_items(item)
    else:
        yield document


class JudgedObject(Struct, frozen=True):
    """An object, the place of its fields, and the input file that makes it, as the policy's globs are about it (None:
    of no single file).
    """

    body: Body
    origin: Callable[[Path], Origin]
    path: str | None

    @property
    def namespace(self) -> str:
        """Its namespace; '' without one."""
        metadata: Any = self.body.get("metadata")
        namespace = metadata.get("namespace") if isinstance(metadata, dict) else None
        return namespace if isinstance(namespace, str) else ""
