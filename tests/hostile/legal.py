"""Hostile text that the schemas take: in fields of documents that render, and in objects beside them."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from functools import cache
from random import Random
from typing import Any, TypeAlias

from renderer import schema_validation
from tests.hostile import words
from tests.hostile.text_fields import KINDS, Field, at, fields, put

Node: TypeAlias = Any
TRIES = 6
# Keys whose values have to fit something else: other text there is for the wild inputs.
BOUND = frozenset(
    """
    accelerator apiVersion backend backendName claimName configName dir familyName filename hostname image
    inferenceFlavors key kind layout list mode modelHub modelID modelName mountPath name namespace operator path
    playground policy port protocol provider registry role schema scheme secretName size source strategy style type uri
    version when
    """.split()  # noqa: SIM905 - read as words
)
# Fields that take any text and change nothing but what is written out.
FREE = frozenset(
    (
        "openmodel.metadata.annotations.*",
        "openmodel.spec.facts.source",
        "openmodel.spec.facts.licence",
        "openmodel.spec.ownedBy",
        "openmodel.spec.servedModelName",
        "playground.metadata.annotations.*",
        "playground.spec.servedModelName",
        "playground.spec.podTemplate.metadata.annotations.*",
        "playground.spec.backendRuntimeConfig.envs.0.value",
        "playground.spec.podTemplate.spec.containers.0.env.0.value",
        "playground.spec.podTemplate.spec.initContainers.0.args.0",
        "service.metadata.annotations.*",
        "service.spec.servedModelName",
        "backendruntime.metadata.annotations.*",
        "backendruntime.spec.envs.0.value",
        "renderconfig.metadata.annotations.*",
        "renderconfig.spec.pods.annotations.*",
        "renderconfig.spec.pods.env.0.value",
        "modelroute.metadata.annotations.*",
        "modelroute.spec.modelName",
    )
)


@cache
def free_fields(kind: str) -> Sequence[Field]:
    """The fields of a kind that take any text."""
    return [field for field in fields(kind) if field.name in FREE and not field.is_key]


def _is_input(document: Node) -> bool:
    """Whether it is one of our kinds, and valid."""
    kind = str(document.get("kind")).lower() if isinstance(document, dict) else ""
    return kind in KINDS and schema_validation.is_valid(f"input/{kind}", document)


def disturb(documents: Sequence[Node], random: Random) -> None:
    """Writes hostile text into some fields of documents, which stay valid by their schemas."""
    inputs = [document for document in documents if _is_input(document)]
    for _ in range(random.choice([1, 1, 2, 4]) if inputs else 0):
        document = random.choice(inputs)
        for _ in range(TRIES):
            changed = copy.deepcopy(document)
            _change(changed, random)
            if schema_validation.is_valid(f"input/{changed['kind'].lower()}", changed):
                document.clear()
                document.update(changed)
                break


def _change(document: Node, random: Random) -> None:
    """Writes a hostile text into one field: one that is there, one that takes any text, or, now and then, any."""
    kind, text = document["kind"].lower(), words.text(random)
    present = [path for path in _text_paths(document) if not BOUND & {*path}]
    chance = random.random()
    if chance < 0.35 and present:
        *way, last = random.choice(present)
        at(document, way)[last] = text
    elif chance < 0.9 and free_fields(kind):
        _put(random.choice(free_fields(kind)), text, document)
    else:
        _put(random.choice(fields(kind)), text, document)


def _put(field: Field, text: str, document: Node) -> None:
    put(field, text, document)
    spec = document.get("spec") or {}
    for name in ("containers", "initContainers"):
        pod = (spec.get("podTemplate") or {}).get("spec") or {}
        if field.path[-1] != "name" and name in field.path and pod.get(name):
            pod[name][0]["name"] = "model-runner" if name == "containers" else "first"
            if name == "initContainers":
                pod[name][0].setdefault("image", "example.com/first:1")


def _text_paths(value: Node, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all texts in a document's spec, and in its annotations."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        if path or key == "spec":
            if isinstance(item, str):
                yield (*path, key)
            yield from _text_paths(item, (*path, key))


def objects(random: Random) -> list[Node]:
    """Objects that a cluster takes, with hostile text in what it does not read."""
    text = words.text(random)
    annotated = {"name": "beside", "namespace": "beside", "annotations": {"example.com/note": text}}
    container = {"name": "a", "image": "example.com/a:1", "args": [text], "env": [{"name": "A", "value": text}]}
    pod = {"metadata": {"labels": {"app": "beside"}}, "spec": {"containers": [container]}}
    deployment = {"selector": {"matchLabels": {"app": "beside"}}, "template": pod}
    return [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": annotated, "data": {"a": text}},
        {"apiVersion": "v1", "kind": "Secret", "metadata": annotated, "stringData": {"a": text}},
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": annotated, "spec": deployment},
    ][: random.randrange(1, 4)]
