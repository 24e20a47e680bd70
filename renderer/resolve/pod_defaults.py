"""RenderConfig's `pods`: defaults of every pod (docs/design/contract.md#pod-template)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from renderer import template
from renderer.api import App, ConfigPart, RenderConfig
from renderer.diagnostics import Collector, Diagnostic, Origin, WholeOrigin, make_diagnostic
from renderer.kubernetes import disaggregated_sets, wellknown
from renderer.kubernetes.json_values import list_at
from renderer.plan import Body
from renderer.resolve.kube import api_defaults
from renderer.resolve.layers import merge_items
from renderer.yamlio import SharedMap

_SCALARS = ("serviceAccountName", "priorityClassName")
_OWN_DOMAINS = ("llmaz.io", "leaderworkerset.sigs.k8s.io")
_OWN_LABELS = "app.kubernetes.io"
_SET_LABELS = tuple(wellknown.own_labels("name", "component"))  # on every object


CA_VOLUME = "ca-bundle"
_CA_FOLDER = "/etc/ca-bundle"
CA_VARIABLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "AWS_CA_BUNDLE")
"""By which programs are told the file of the certificates that they trust: OpenSSL, Go, Rust and httpx; Python's
requests; curl; AWS' libraries.
"""


class CaBundle(Struct, frozen=True):
    """A file with the certificates of authorities, in place of those of images."""

    env: tuple[Body, ...]
    origin: Origin
    mount: Body
    volume: Body


class PodDefaults(Struct, frozen=True, eq=False):
    """RenderConfig's `pods`, normalized once a run."""

    labels: Body = {}
    annotations: Body = {}
    env: tuple[Body, ...] = ()  # may hold a name twice
    ca: CaBundle | None = None
    tolerations: tuple[Body, ...] = ()
    spread: tuple[Body, ...] = ()
    fields: Body = {}  # of a pod spec, the same for all apps
    part: ConfigPart | None = None  # their origin


def pod_defaults(config: RenderConfig, diagnostics: Collector) -> PodDefaults:
    """RenderConfig's `pods`. An error for each reserved label and annotation."""
    spec, origin = config.get("pods") or {}, config.origin("pods")
    for key in ("labels", "annotations"):
        diagnostics.problems += reserved_keys(
            spec.get(key) or {}, config.origin("pods", key), reserve_common=key == "labels"
        )
    parts = {
        key: template.share_maps(api_defaults.normalize_part(value, config.origin("pods", key), diagnostics))
        for key, value in spec.items()
        if value and key not in ("env", "networkPolicy", "listenAddress", "caBundle")
    }
    if "imagePullSecrets" in parts:
        parts["imagePullSecrets"] = list(merge_items([parts["imagePullSecrets"]]).items)
    env = []
    for i, variable in enumerate(spec.get("env") or ()):
        before = len(diagnostics.problems)
        entry = api_defaults.default_env_entry(variable, origin.at("env", i), diagnostics)
        # An invalid entry is reported here, once; its name stays, so that the indexes of the others do not change.
        env.append(
            template.share_maps(dict(entry) if len(diagnostics.problems) == before else {"name": variable["name"]})
        )
    return PodDefaults(
        labels=parts.get("labels", {}),
        annotations=parts.get("annotations", {}),
        env=tuple(env),
        ca=_ca_bundle(spec["caBundle"], config.origin("pods", "caBundle")) if "caBundle" in spec else None,
        tolerations=tuple(parts.get("tolerations", ())),
        spread=tuple(parts.get("topologySpreadConstraints", ())),
        part=ConfigPart(config, ("pods",)),
        fields={key: parts[key] for key in (*_SCALARS, "imagePullSecrets") if key in parts},
    )


def _ca_bundle(spec: Mapping[str, Any], origin: Origin) -> CaBundle:
    key = spec.get("key", "ca.crt")
    items = {"items": [{"key": key, "path": key}]}
    source = {"configMap": {"name": spec["configMap"], **items}} if "configMap" in spec else {}
    source = source or {"secret": {"secretName": spec["secret"], **items}}
    return CaBundle(
        env=tuple([SharedMap({"name": name, "value": f"{_CA_FOLDER}/{key}"}) for name in CA_VARIABLES]),
        origin=WholeOrigin(origin.source, origin.path),
        mount=SharedMap({"name": CA_VOLUME, "mountPath": _CA_FOLDER, "readOnly": True}),
        volume=template.share_maps({"name": CA_VOLUME, **source}),
    )


def reserved_keys(
    keys: Iterable[str], origin: Origin, *, reserve_common: bool, limited_to: Sequence[str] = ()
) -> Iterator[Diagnostic]:
    """An error for each label or annotation that the renderer or LeaderWorkerSet sets.

    `reserve_common`: app.kubernetes.io is reserved too; of that domain only `limited_to`, where it is not empty.
    """
    for key in keys:
        domain = key.partition("/")[0] if "/" in key else ""
        is_reserved = any(domain == own_domain or domain.endswith(f".{own_domain}") for own_domain in _OWN_DOMAINS)
        if is_reserved or (reserve_common and domain == _OWN_LABELS and (not limited_to or key in limited_to)):
            yield make_diagnostic("E291", origin.at(key, key=True), name=key)


def reserved_metadata(spec: Mapping[str, Any], origin: Origin) -> Iterator[Diagnostic]:
    """An error for each of an object's own labels and annotations that the renderer or LeaderWorkerSet sets. `spec`:
    has `labels` and `annotations`.
    """
    for key in ("labels", "annotations"):
        yield from reserved_keys(
            spec.get(key) or {},
            origin.at(key),
            reserve_common=key == "labels",
            limited_to=_SET_LABELS,
        )


def own_pods(app: App) -> Body:
    """The labels that select the pods of a Playground or Service, by the kind of its workload."""
    if app.role_scaler:  # one workload runs both roles
        return {disaggregated_sets.SET: app.variant_of, disaggregated_sets.ROLE: app.role}
    if (app.spec.get("workload") or {}).get("kind") == wellknown.DEPLOYMENT:
        return {wellknown.WORKLOAD: app.name}
    return {wellknown.GROUPS: app.name}


def spread_selector(pods: Body, hosts: int) -> Body:
    """The labels that a topology spread constraint counts: of a replica of several pods its leader alone, or it would
    pull the pods of one replica apart. `pods`: the labels of all.
    """
    return {**pods, wellknown.WORKER_INDEX: "0"} if hosts > 1 else pods


def with_pod_selectors(constraints: Iterable[Body], labels: Body) -> list[Body]:
    """Topology spread constraints; those without a labelSelector select the pods with these labels."""
    selector = {"matchLabels": labels}
    return [
        constraint if "labelSelector" in constraint else {**constraint, "labelSelector": selector}
        for constraint in constraints
    ]


def generated_fields(defaults: PodDefaults, spread_over: Body, runtime_class: str) -> Body:
    """The fields of a pod spec that come from the defaults, and the runtime class. `spread_over`: the labels of the
    pods that a topology spread constraint counts.
    """
    if not defaults.spread and not runtime_class:
        return defaults.fields
    fields: dict[str, object] = dict(defaults.fields)
    if runtime_class:
        fields["runtimeClassName"] = runtime_class
    if defaults.spread:
        fields["topologySpreadConstraints"] = with_pod_selectors(defaults.spread, spread_over)
    return fields


def complete_pod_spec(
    defaults: PodDefaults, spec: Mapping[str, Any], spread_over: Body, tolerations: Sequence[Body], runtime_class: str
) -> dict[str, Any]:
    """A hand-written pod spec with the defaults for missing fields, pull secrets appended, and `tolerations`."""
    fields = dict(spec)
    for key, value in generated_fields(defaults, spread_over, runtime_class).items():
        if key == "imagePullSecrets":
            fields[key] = list(merge_items([spec.get(key, ()), list_at(defaults.fields, key)]).items)
        elif key != "serviceAccountName" or "serviceAccount" not in spec:  # the same field by its old name
            fields.setdefault(key, value)
    if tolerations:
        fields["tolerations"] = list(tolerations)
    return fields
