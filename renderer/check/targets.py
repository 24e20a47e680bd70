"""What is too new for the versions that RenderConfig targets."""

from __future__ import annotations

from collections.abc import Iterator

from renderer import since
from renderer.check.finding import Body, Finding


def too_new(targets: since.Targets, late: since.Late, body: Body) -> Iterator[Finding]:
    """One finding for each field, value or kind, and component that is too old for it."""
    for path, field, value, needs in since.too_new(late.node, body):
        what = f"'{value}'" if value else f"'{field}'" if field else f"{body['kind']} of {body['apiVersion']}"
        for key, needed in needs.items():
            if key == since.GATE:
                newest = since.components()["kubernetes"].newest
                yield "W700", path, {"what": what, "gate": needed, "newest": newest, "key": not value}
                continue
            words = {"what": what, "name": since.components()[key].title, "needed": needed, "target": key}
            yield "E700", path, {**words, "said": targets.versions[key], "key": not value}
