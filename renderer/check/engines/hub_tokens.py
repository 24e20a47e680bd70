"""Secrets with the credentials that hubs and buckets ask for before they give away the weights of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from renderer.check.engines.containers import EngineContainer
from renderer.check.engines.neighbours import Neighbours
from renderer.check.graph.pod_references import named_objects
from renderer.diagnostics import Diagnostic, Origin, make_diagnostic
from renderer.engines.catalog import EngineCatalog
from renderer.engines.container_engine import known_facts
from renderer.kubernetes.json_values import maps_at, text_at
from renderer.kubernetes.secret_makers import SECRET_MAKERS, made_secret

_TOKEN = "TOKEN"  # noqa: S105 - in the key, as in HF_TOKEN
_BUCKET = "ACCESS_KEY"  # in the key, as in AWS_ACCESS_KEY_ID: without it nothing is loaded


def unseen_tokens(
    engines: Iterable[EngineContainer],
    catalog: EngineCatalog,
    neighbours: Neighbours,
    declared: Callable[[str, str, str], bool],
) -> Iterator[Diagnostic]:
    """A note, at the first of them, about Secrets that pods take the token for a gated model from, or the keys of a
    bucket, and that neither are in the set, nor made by an object of it, nor `declared` (kind, namespace and name) to
    exist elsewhere.
    """
    made_secrets = set(_made_secrets(neighbours))
    unseen: dict[tuple[str, str], Origin] = {}
    for engine in engines:
        is_gated = _is_gated(engine, catalog)
        for reference in named_objects(engine.pod, engine.pod_path):
            place, key = (engine.namespace, reference.name), reference.key.upper()
            is_asked = reference.kind == "Secret" and ((is_gated and _TOKEN in key) or _BUCKET in key)
            if not is_asked or place in made_secrets or neighbours.find("Secret", *place) or declared("Secret", *place):
                continue
            unseen.setdefault(place, engine.document.origin(*reference.path))
    if unseen:
        secrets = ["/".join(filter(None, place)) for place in sorted(unseen)]
        words = {"secrets": ", ".join(secrets), "declare": ", ".join(f"Secret/{secret}" for secret in secrets)}
        yield make_diagnostic("N533", next(iter(unseen.values())), **words)


def _is_gated(engine: EngineContainer, catalog: EngineCatalog) -> bool:
    """Whether the command line, or a variable of the pod such as MODEL_ID of a loader, names a gated model."""
    if known_facts(catalog, engine.recognised).get("gated"):
        return True
    containers = [*maps_at(engine.pod, "initContainers"), *maps_at(engine.pod, "containers")]
    values = {text_at(variable, "value") for container in containers for variable in maps_at(container, "env")}
    return any(catalog.model_facts(value).get("gated") for value in values if "/" in value)


def _made_secrets(neighbours: Neighbours) -> Iterator[tuple[str, str]]:
    """The Secrets that controllers make of objects of the set."""
    for kind in SECRET_MAKERS:
        for namespace, document in neighbours.all(kind):
            yield namespace, made_secret(document.value)
