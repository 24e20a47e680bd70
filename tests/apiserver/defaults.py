"""Whether the API server fills in what renderer/kubernetes/server_defaults.py says, entry by entry.

Each object of defaults.yaml is created in a dry run. What comes back has to be the object as admission sees it, but for
what the server assigns; and each entry of the table has to be among what was filled in.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from renderer import yamlio
from renderer.admission.server_view import server_view
from renderer.kubernetes.api_types import api_types, types_below
from renderer.kubernetes.server_defaults import constants
from tests.apiserver.server import Body, CannotJudge, Client

FILE = Path(__file__).with_name("defaults.yaml")
# What the server assigns, or admission plugins of its own add, by what the places begin with.
ASSIGNED = {
    "Job": ("spec.selector", "spec.template.metadata"),
    "Pod": ("spec.preemptionPolicy", "spec.priority", "spec.tolerations"),
    "Service": ("spec.clusterIP", "spec.ipFamil", "spec.ports.0.nodePort"),
}
ENTRIES = [
    (name, field)
    for name, shapes in api_types().types.items()
    for field, default in constants(name).items()
    if default or shapes[field][0] != "?" or "*" in shapes[field]  # else it is written as nothing
]


def about_defaults(client: Client, say: Callable[[str], None]) -> tuple[int, int, int]:
    """The objects that were asked about, those refused, and the differences, each of which is said."""
    start = time.monotonic()
    documents, problems = yamlio.parse(FILE.name, FILE.read_bytes())
    assert problems == []
    seen: set[tuple[str, str]] = set()
    refused, differences = 0, []
    for document in documents:
        body = document.value
        name = f"{body['kind']} {body['metadata']['name']}"
        answer = _created(client, body)
        if isinstance(answer, str):
            say(f"  {name}: {answer}")
            refused += 1
            continue
        seen |= set(_filled(api_types().kinds[f"{body['apiVersion']}/{body['kind']}"], body, answer))
        view = {key: item for key, item in server_view(body).items() if key not in ("metadata", "status")}
        stored = {key: item for key, item in answer.items() if key not in ("metadata", "status")}
        assigned = ASSIGNED.get(body["kind"], ())
        places = [place for place in _differences(stored, view) if not place.startswith(assigned)]
        differences += [f"{name}: {place}" for place in places]
    differences += [f"{entry}.{field} was never filled in" for entry, field in ENTRIES if (entry, field) not in seen]
    for difference in differences:
        say(f"  {difference}")
    say(
        f"defaults: {len(ENTRIES)} entries in {len(documents)} objects, {refused} refused,"
        f" different on {len(differences)} ({time.monotonic() - start:.0f} s)"
    )
    return len(documents), refused, len(differences)


def _created(client: Client, body: Body) -> Body | str:
    """The object as the server would store it, or why it refuses."""
    resource = client.resource(body["apiVersion"], body["kind"])
    if resource is None:
        raise CannotJudge(f"no kind {body['kind']} in {body['apiVersion']}")
    root = f"/apis/{body['apiVersion']}" if "/" in body["apiVersion"] else "/api/v1"
    namespace = "/namespaces/default" if resource.namespaced else ""
    answer = client("POST", f"{root}{namespace}/{resource.plural}", json.dumps(body), dryRun="All")
    return answer.message or answer.body


def _filled(type_name: str, sent: Any, stored: Any) -> Iterator[tuple[str, str]]:
    """The entries of the table that the server has filled into a value of a type."""
    if isinstance(stored, list):
        items = sent if isinstance(sent, list) else [{}] * len(stored)
        for sent_item, item in zip(items, stored, strict=True):
            yield from _filled(type_name, sent_item, item)
    if not isinstance(stored, dict):
        return
    sent = sent if isinstance(sent, dict) else {}
    for field, default in constants(type_name).items():
        if field not in sent and (stored.get(field) == default or (default == {} and field in stored)):
            yield type_name, field
    for field, below in types_below(type_name).items():
        if field in stored:
            yield from _filled(below, sent.get(field), stored[field])


def _differences(stored: Any, view: Any, path: str = "") -> Iterator[str]:
    """The places at which two values differ."""
    if isinstance(stored, dict) and isinstance(view, dict):
        for key in sorted({*stored, *view}):
            yield from _differences(stored.get(key), view.get(key), f"{path}.{key}".lstrip("."))
    elif isinstance(stored, list) and isinstance(view, list) and len(stored) == len(view):
        for i, (there, seen) in enumerate(zip(stored, view, strict=True)):
            yield from _differences(there, seen, f"{path}.{i}")
    elif stored != view:
        yield path
