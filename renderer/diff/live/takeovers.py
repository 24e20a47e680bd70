"""Workloads that are rendered under another name than those that run and that they take the place of, as `llmaz adopt`
writes them: beside the input lie the Services of clients, which lead to the new pods later.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from renderer import yamlio
from renderer.kubernetes.json_values import map_at, maps_at, text_at
from renderer.kubernetes.workloads import WORKLOADS, kind_of, made_pods, selects
from renderer.yamlio import Document

if TYPE_CHECKING:
    from renderer.output.manifest_files import OutputFile
    from renderer.source.tree import ReadableFile

Body = Mapping[str, Any]
Name = tuple[str, str]
"""Namespace and name."""
LATER: Final = "later"
"""The folder of what is applied when the new pods are ready."""
SUFFIX: Final = "-llmaz"
"""What is added to the name of a workload whose name cannot stay."""


class Replacement(Struct, frozen=True):
    """A rendered workload that takes the place of one that runs."""

    running: Body
    rendered: Body
    services: Sequence[Body]  # that lead to its pods later


def moving_services(files: Iterable[ReadableFile]) -> list[Document]:
    """The Services of the folders `later` among the files of a tree."""
    later = (file for file in files if os.path.basename(os.path.dirname(file.path)) == LATER)
    documents = yamlio.find_objects(yamlio.read_files(later), b"Service")
    return [document for document in documents if text_at(document.value, "kind") == "Service"]


def rendered_bodies(texts: Iterable[OutputFile]) -> list[Body]:
    """The objects of rendered files."""
    return [
        document.value
        for text in texts
        for document in yamlio.parse(text.path, text.text.encode("utf-8", "surrogateescape"))[0]
    ]


def find_takeovers(live: Sequence[Body], rendered: Sequence[Body], services: Sequence[Body]) -> list[Replacement]:
    """What takes the place of which workload: the one to which a Service of clients leads later, the one that has the
    name of what made it, or the one that is named after it. `services`: those of clients, as they are later.
    """
    running = {name_of(body): body for body in live if kind_of(body) in WORKLOADS}
    new = {name_of(body): body for body in rendered if kind_of(body) in WORKLOADS}
    led: dict[Name, list[Body]] = {}
    pairs: dict[Name, Name] = {}
    of_clients = {name_of(body): body for body in live if kind_of(body) == ("", "Service")}
    for service in services:
        old = of_clients.get(name_of(service))
        befores = [*_led(old, running)] if old else []
        afters = [*_led(service, new)]
        if len(afters) == 1:
            led.setdefault(afters[0], []).append(service)
        if len(befores) == len(afters) == 1 and befores[0] != afters[0]:
            pairs.setdefault(befores[0], afters[0])
    for (namespace, name), body in running.items():
        for owner in maps_at(body, "metadata", "ownerReferences"):
            made_by = (namespace, text_at(owner, "name"))
            if made_by in new and made_by not in running and kind_of(owner) not in WORKLOADS:
                pairs.setdefault((namespace, name), made_by)
        named_after = (namespace, f"{name}{SUFFIX}")
        if named_after in new and named_after not in running and (namespace, name) not in new:
            pairs.setdefault((namespace, name), named_after)
    return [Replacement(running[old], new[name], led.get(name, ())) for old, name in pairs.items() if old not in new]


def name_of(body: Body) -> Name:
    """Namespace, `default` where it says none, and name."""
    return text_at(body, "metadata", "namespace") or "default", text_at(body, "metadata", "name")


def _led(service: Body, workloads: Mapping[Name, Body]) -> Iterator[Name]:
    """The workloads of its namespace to whose pods a Service leads."""
    selector = map_at(service, "spec", "selector")
    for name, body in workloads.items():
        is_near = selector and name[0] == name_of(service)[0]
        if is_near and any(selects({"matchLabels": selector}, pods.labels) for pods in made_pods(body)):
            yield name
