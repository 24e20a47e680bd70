"""Secrets of the set, and what controllers make Secrets of, that lack the keys for which others ask, or are of a type
that the kubelet does not take for a registry's credentials.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from renderer.check.finding import Body
from renderer.check.graph.pod_references import named_objects
from renderer.check.graph.pods import KINDS, view_templates
from renderer.check.graph.policies import credential_references, secret_references
from renderer.check.graph.rules import side_rules
from renderer.check.graph.view import ObjectView, Place, kind_in, named_place
from renderer.diagnostics import Finding, Path, quoted
from renderer.kubernetes.json_values import map_at, maps_at, text_at
from renderer.kubernetes.secret_makers import made_secret, secret_contents
from renderer.kubernetes.workloads import is_rendered

MAKERS = (kind_in("external-secrets.io", "ExternalSecret"), kind_in("bitnami.com", "SealedSecret"))
"""Kinds of which a controller makes Secrets with keys that are known."""
_ACCOUNT = kind_in("", "ServiceAccount")
_SECRET = "Secret"  # noqa: S105 - a kind
# By Kubernetes 1.34, pkg/credentialprovider/secrets/secrets.go: the key that a Secret of each type has.
_REGISTRY = {"kubernetes.io/dockerconfigjson": ".dockerconfigjson", "kubernetes.io/dockercfg": ".dockercfg"}
# Where a kind has the keys, and the type.
_PLACES: Mapping[str, tuple[Path, Path]] = {
    "ExternalSecret": (("spec", "data"), ("spec", "target")),
    "SealedSecret": (("spec", "encryptedData"), ("spec", "template")),
    _SECRET: (("data",), ("type",)),
}

_TRIGGERS = kind_in("keda.sh", "TriggerAuthentication")
_POLICIES = {"BackendSecurityPolicy": credential_references, "SecurityPolicy": secret_references}


class _Ask(NamedTuple):
    """What something asks of a Secret."""

    who: str  # kind and name
    key: str = ""  # '' for the whole Secret
    optional: bool = False
    pulls: bool = False  # images, with its credentials
    at_reference: bool = False  # other rules tell there what a Secret lacks


@side_rules.about(*MAKERS, _SECRET)
def validate_secret_keys(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A finding for each key of which something asks this Secret, or the one that is made of this object, and that it
    lacks; and one where it is named for the credentials of a registry, and has another type. Optional keys are
    told where nothing of it is used.
    """
    contents = secret_contents(body)
    secret = made_secret(body) or name
    asks = view.once("asked of secrets", _asks).get((namespace, secret), ())
    if not contents or not asks:
        return
    kind = text_at(body, "kind")
    words: dict[str, object] = {"name": secret}
    pullers = [ask for ask in asks if ask.pulls]
    if pullers and contents.type not in _REGISTRY:
        where = {"ExternalSecret": " below target.template", "SealedSecret": " below template"}.get(kind, "")
        words_ = {**words, "who": pullers[0].who, "type": contents.type, "where": where}
        yield Finding("W579", _existing(body, _PLACES[kind][1]), words_)
    keys = contents.keys
    lacking = [*dict.fromkeys(_lacking(asks, keys, contents.type, is_secret=kind == _SECRET))] if keys else ()
    if keys and lacking:
        told_keys = [*dict.fromkeys(ask.key or _REGISTRY[contents.type] for ask in lacking)]
        words |= {"who": lacking[0].who, "keys": quoted(told_keys), "known": quoted(sorted(keys)[:5])}
        yield Finding("W578", _existing(body, _PLACES[kind][0]), words)


def _lacking(asks: Sequence[_Ask], keys: frozenset[str], secret_type: str, *, is_secret: bool) -> Iterator[_Ask]:
    """What asks for a key that is not among `keys`. `is_secret`: they are those of a Secret, of which other rules tell
    at the reference what a hand-written pod or a policy lacks.
    """
    is_used = any((ask.key in keys or not ask.key) and not ask.pulls for ask in asks)
    for ask in asks:
        key = _REGISTRY.get(secret_type, "") if ask.pulls else ask.key
        if not key or key in keys or (ask.optional and is_used):
            continue
        if is_secret and (ask.at_reference or ask.pulls):
            continue
        yield ask


def _existing(body: Body, path: Path) -> Path:
    """The path where the body has it, else that of the object's name."""
    return path if map_at(body, *path[:-1]).get(str(path[-1])) is not None else ("metadata", "name")


def _asks(view: ObjectView) -> dict[Place, list[_Ask]]:
    """What the objects of a set ask of Secrets, by namespace and name of these."""
    asks: dict[Place, list[_Ask]] = {}
    for (kind, namespace, name), body in view.objects.items():
        who = f"{text_at(body, 'kind')} '{name}'"
        if kind in KINDS and body:
            rendered = is_rendered(body)
            for template in view_templates(view, body):
                for reference in named_objects(template.spec, template.path):
                    if reference.kind == _SECRET:
                        pulls = "imagePullSecrets" in reference.path
                        at_reference = not (rendered or reference.optional)
                        ask = _Ask(who, reference.key, reference.optional, pulls, at_reference)
                        asks.setdefault((namespace, reference.name), []).append(ask)
        elif kind == _ACCOUNT:
            for entry in maps_at(body, "imagePullSecrets"):
                asks.setdefault((namespace, text_at(entry, "name")), []).append(_Ask(who, pulls=True))
        for named, key in _keys_of_policies(kind, map_at(body, "spec")):
            ask = _Ask(who, key, at_reference=kind != _TRIGGERS)
            asks.setdefault(named_place(named, namespace), []).append(ask)
    return asks


def _keys_of_policies(kind: str, spec: Body) -> Iterator[tuple[Body, str]]:
    """The references to Secrets in an object that runs no pods, each with a key."""
    if kind in _POLICIES:
        yield from ((reference, key) for _, reference, key in _POLICIES[kind](spec) if key)
    elif kind == "Gateway":
        for listener in maps_at(spec, "listeners"):
            for certificate in maps_at(listener, "tls", "certificateRefs"):
                yield from ((certificate, key) for key in ("tls.crt", "tls.key"))
    elif kind == _TRIGGERS:
        yield from ((reference, text_at(reference, "key")) for reference in maps_at(spec, "secretTargetRef"))
