"""What the command line asks for: KIND/NAMESPACE/NAME, KIND/NAME or NAME, and a field behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from renderer.diagnostics import Diagnostic, Origin, Path, RenderError, dotted, make_diagnostic, suggestion
from renderer.diagnostics.rule import NamedSource

APPS = ("Playground", "Service", "ModelRoute", "InferenceModel")  # the input that is rendered object by object
_SHORT: Mapping[str, tuple[str, ...]] = {
    "AIGatewayRoute": (),
    "AIServiceBackend": (),
    "Backend": (),
    "BackendSecurityPolicy": (),
    "BackendTrafficPolicy": ("btp",),
    "ClientTrafficPolicy": ("ctp",),
    "ConfigMap": ("cm",),
    "Deployment": ("deploy",),
    "EnvoyProxy": ("eproxy",),
    "Gateway": ("gtw",),
    "GatewayClass": ("gc",),
    "HorizontalPodAutoscaler": ("hpa",),
    "InferenceModel": (),
    "InferenceModelRewrite": (),
    "InferenceObjective": (),
    "InferencePool": ("infpool",),
    "LeaderWorkerSet": ("lws",),
    "ModelRoute": (),
    "OpenModel": ("om",),
    "Playground": ("pl",),
    "PodDisruptionBudget": ("pdb",),
    "PodMonitor": ("pmon",),
    "ReferenceGrant": ("refgrant",),
    "Role": (),
    "RoleBinding": (),
    "SecurityPolicy": ("sp",),
    "Service": ("svc", "isvc"),
    "ServiceAccount": ("sa",),
}
KINDS = tuple(_SHORT)


class Question(Struct, frozen=True):
    """`kind` and `namespace` are empty where nothing is said of them. `rest`: name and field, not yet told apart, since
    a name may hold dots.
    """

    text: str
    kind: str
    namespace: str
    rest: str

    def names(self) -> Iterator[str]:
        """What the name may be, the shortest first."""
        head = self.rest.partition("[")[0]
        parts = head.split(".")
        for length in range(1, len(parts) + 1):
            if name := ".".join(parts[:length]):
                yield name

    def field(self, name: str) -> str:
        """What stands behind the name."""
        return self.rest[len(name) :].removeprefix(".")

    @property
    def origin(self) -> Origin:
        """The place of what is wrong with it: the command line."""
        return Origin(NamedSource(self.text))


def parse_question(text: str) -> Question:
    """What is asked for. Raises RenderError for what cannot be read, or a kind that there is none of."""
    head, bracket, tail = text.partition("[")
    *place, name = head.split("/")
    parsed = Question(text, place[0] if place else "", place[1] if len(place) > 1 else "", name + bracket + tail)
    if len(place) > 2 or not all(place) or not name.strip(".") or name.startswith("."):
        raise RenderError([make_diagnostic("E770", parsed.origin)])
    return replace(parsed, kind=kind(parsed)) if place else parsed


def kind(asked: Question) -> str:
    """The kind that is meant. Raises RenderError."""
    word = asked.kind.partition(".")[0].lower()  # kubectl's leaderworkersets.leaderworkerset.x-k8s.io
    for name, short in _SHORT.items():
        whole = name.lower()
        plural = f"{whole[:-1]}ies" if whole.endswith("y") else f"{whole}{'es' if whole.endswith('s') else 's'}"
        if word in (whole, plural, *short):
            return name
    raise RenderError([make_diagnostic("E771", asked.origin, kind=asked.kind, hint=_meant(asked.kind))])


def _meant(word: str) -> str:
    short = [name for names in _SHORT.values() for name in names]
    return suggestion(
        word, [*KINDS, *short], ("LeaderWorkerSet", "Service", "HorizontalPodAutoscaler", "AIGatewayRoute")
    )


def steps(asked: Question, field: str) -> tuple[str, ...]:
    """A field path taken apart: `spec.args[2]` is spec, args, 2; what stands in brackets may hold dots. Raises
    RenderError.
    """
    parts: list[str] = []
    rest = field
    while rest:
        if rest[0] == "[":
            inside, closed, rest = rest[1:].partition("]")
            if not closed or not inside:
                raise RenderError([make_diagnostic("E772", asked.origin, field=field)])
            parts.append(inside.strip("'\""))
        else:
            part = rest.split(".")[0].split("[")[0]
            if not part:
                raise RenderError([make_diagnostic("E772", asked.origin, field=field)])
            parts.append(part)
            rest = rest[len(part) :]
        if rest[:1] == ".":
            rest = rest[1:] or "."
            if rest[0] in ".[":
                raise RenderError([make_diagnostic("E772", asked.origin, field=field)])
        elif rest and rest[0] != "[":
            raise RenderError([make_diagnostic("E772", asked.origin, field=field)])
    return tuple(parts)


class MissingField(Struct, frozen=True):
    """Why a field is not there; `deep`: how far the path led."""

    problem: Diagnostic
    deep: int


def path_in(asked: Question, body: Any, parts: Sequence[str], what: str) -> Path | MissingField:
    """The path of a field in a body; items of lists by number, name, key or mount path."""
    value: Any = body
    path: Path = ()
    for part in parts:
        parent = f"{dotted(path)} of {what}" if path else what
        if isinstance(value, dict):
            if part not in value:
                hint = suggestion(part, [str(item) for item in value])
                diagnostic = make_diagnostic("E773", asked.origin, here=parent, field=part, hint=hint)
                return MissingField(diagnostic, len(path))
            path, value = (*path, part), value[part]
        elif isinstance(value, list):
            index = _index(value, part)
            if index is None:
                named = [name for item in value for name in _names(item)]
                count = f"{len(value)} item{'' if len(value) == 1 else 's'}, counted from 0"
                hint = suggestion(part, named) if named and not part.isdigit() else ""
                diagnostic = make_diagnostic("E774", asked.origin, here=parent, item=part, hint=hint or count)
                return MissingField(diagnostic, len(path))
            path, value = (*path, index), value[index]
        else:
            return MissingField(make_diagnostic("E775", asked.origin, here=parent, value=value, field=part), len(path))
    return path


def _index(items: Sequence[Any], part: str) -> int | None:
    if part.isascii() and part.isdigit() and len(part) < 10:
        return int(part) if int(part) < len(items) else None
    return next((i for i, item in enumerate(items) if part in _names(item)), None)


def _names(item: Any) -> list[str]:
    """By what an item of a list is known; an argument by itself."""
    if isinstance(item, dict):
        return [item[key] for key in ("name", "mountPath", "key") if isinstance(item.get(key), str)]
    return [item] if isinstance(item, str) else []
