"""Where the weights that loaders bring are kept: `modelCache` of an OpenModel, else of RenderConfig
(docs/caching.md).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from renderer.diagnostics import Collector, Origin
from renderer.kubernetes import quantity
from renderer.plan import Body
from renderer.resolve.weight_sources import ModelCache, Weights

if TYPE_CHECKING:
    from renderer.api import Inputs, OpenModel

PER_POD, HOST_PATH, SHARED = "perPod", "hostPath", "pvc"
_MANY = "ReadWriteMany"
_LONGEST = 63  # the name of a Job becomes a label of its pods
FLOATING_REVISIONS = ("", "main", "master")  # revisions that are no fixed state of a repository


def read_cache(inputs: Inputs, model: OpenModel, weights: Weights, diagnostics: Collector) -> ModelCache | None:
    """The cache of a model; None without one, and for weights that no loader brings."""
    own = model.spec.get("modelCache")
    settings: Mapping[str, Any] | None = own or inputs.config.get("modelCache")
    if not settings:
        return None
    origin = Origin(model.document, ("spec", "modelCache")) if own else inputs.config.origin("modelCache")
    if not weights.loader:
        if own:
            diagnostics.add("E317", Origin(origin.source, origin.path, key=True))
        return None
    kind = next(iter(settings))
    values: Mapping[str, Any] = settings[kind]
    cache = ModelCache(kind=kind, folder=_folder(weights), origin=origin.at(kind))
    if kind == PER_POD:
        return replace(cache, spec=_claim_spec(values, origin.at(kind), "ReadWriteOnce", diagnostics))
    if weights.hub and weights.revision in FLOATING_REVISIONS and not model.ours:
        place = weights.origin.at("revision") if weights.revision else weights.origin
        diagnostics.add("W311", place, name=model.name, revision=weights.revision or "the hub's default")
    if kind == HOST_PATH:
        return replace(cache, path=str(values["path"]))
    if "claimName" in values:
        return replace(cache, claim=str(values["claimName"]))
    if (modes := values.get("accessModes")) and _MANY not in modes:
        diagnostics.add("E320", origin.at(kind, "accessModes"), modes=", ".join(modes))
    return replace(
        cache,
        spec=_claim_spec(values, origin.at(kind), _MANY, diagnostics),
        claim=fitting_name(f"{model.name}-weights"),
    )


def fitting_name(name: str, suffix: str = "") -> str:
    """The name with the suffix; a long one is cut, and made unique by a hash, to 63 characters."""
    if len(name) + len(suffix) <= _LONGEST:
        return name + suffix
    import hashlib  # few runs need it

    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name[: _LONGEST - len(suffix) - 9].rstrip('-.')}-{digest}{suffix}"


def _folder(weights: Weights) -> str:
    """A name that only equal files have: of the source, the revision, the filename and the patterns."""
    import hashlib  # few runs need it

    words: list[object] = [weights.hub or weights.scheme, weights.address, weights.revision, weights.filename]
    words += [weights.endpoint, *(weights.words.get(word, "") for word in ("AllowPatterns", "IgnorePatterns"))]
    words += [list(weights.files)] if weights.files else []
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()[:16]


def _claim_spec(values: Mapping[str, object], origin: Origin, access_mode: str, diagnostics: Collector) -> Body:
    """The spec of a PersistentVolumeClaim."""
    try:
        size = quantity.canonical(values["size"])
    except ValueError:
        diagnostics.add("E305", origin.at("size"), value=values["size"], hint=quantity.hint(values["size"]))
        size = "1"
    if quantity.nanos(size) <= 0:
        diagnostics.add("E321", origin.at("size"), value=values["size"])
    modes = values.get("accessModes") or [access_mode]
    spec = {"accessModes": modes, "resources": {"requests": {"storage": size}}}
    return {**spec, "storageClassName": values["storageClassName"]} if "storageClassName" in values else spec


def claim_template(name: str, caches: list[ModelCache]) -> Body:
    """The claim template of a workload whose loaders fill one volume: as large as the caches of its models together."""
    first = caches[0].spec
    if len(caches) > 1:
        total = sum(quantity.nanos(cache.size) for cache in caches)
        whole = -(-total // (10**9 * 2**30))
        first = {**first, "resources": {"requests": {"storage": quantity.canonical(f"{whole}Gi")}}}
    return {"metadata": {"name": name}, "spec": first}
