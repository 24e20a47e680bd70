"""Parses a question: KIND/NAMESPACE/NAME, KIND/NAME, NAMESPACE/NAME or NAME, optionally followed by a field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from renderer.diagnostics import Diagnostic, NamedSource, Origin, Path, RenderError, dotted, make_diagnostic, suggestion

MODELS = ("Playground", "Service")  # kinds of input that run models
APPS = (*MODELS, "ModelRoute", "InferenceModel")  # kinds of input that are rendered into objects
_SHORT_NAMES: Mapping[str, tuple[str, ...]] = {
    "AIGatewayRoute": (),
    "AIServiceBackend": (),
    "Backend": (),
    "BackendSecurityPolicy": (),
    "BackendTrafficPolicy": ("btp",),
    "ClientTrafficPolicy": ("ctp",),
    "ConfigMap": ("cm",),
    "Deployment": ("deploy",),
    "DisaggregatedSet": (),
    "EnvoyProxy": ("eproxy",),
    "Gateway": ("gtw",),
    "GatewayClass": ("gc",),
    "HorizontalPodAutoscaler": ("hpa",),
    "InferenceModel": (),
    "InferenceModelRewrite": (),
    "InferenceObjective": (),
    "InferencePool": ("infpool",),
    "InterceptorRoute": (),
    "Job": (),
    "LeaderWorkerSet": ("lws",),
    "ModelRoute": (),
    "NetworkPolicy": ("netpol",),
    "OpenModel": ("om",),
    "PersistentVolumeClaim": ("pvc",),
    "Playground": ("pl",),
    "PodDisruptionBudget": ("pdb",),
    "PodMonitor": ("pmon",),
    "ReferenceGrant": ("refgrant",),
    "ResourceClaimTemplate": (),
    "Role": (),
    "RoleBinding": (),
    "SecurityPolicy": ("sp",),
    "ScaledObject": ("so",),
    "Service": ("svc", "isvc"),
    "ServiceAccount": ("sa",),
    "ServiceMonitor": ("smon",),
}
KINDS = tuple(_SHORT_NAMES)


class Question(Struct, frozen=True):
    """A parsed question."""

    text: str
    kind: str  # '' where it names none
    namespace: str  # '' where it names none
    rest: str  # name and field, not yet split, since a name may hold dots

    def names(self) -> Iterator[str]:
        """The possible names, shortest first."""
        head = self.rest.partition("[")[0]
        parts = head.split(".")
        for length in range(1, len(parts) + 1):
            if name := ".".join(parts[:length]):
                yield name

    def field(self, name: str) -> str:
        """The field that follows the name."""
        return self.rest[len(name) :].removeprefix(".")

    @property
    def origin(self) -> Origin:
        """Its Origin in diagnostics: the text itself."""
        return Origin(NamedSource(self.text))


def parse_question(text: str) -> Question:
    """The parsed question. A blank behind the kind counts as a slash: routes and differences name objects so. Raises
    RenderError for bad syntax, or an unknown kind before a namespace.
    """
    head, bracket, tail = text.partition("[")
    *place, name = head.replace(" ", "/", 1).split("/")
    parsed = Question(text, place[0] if place else "", place[1] if len(place) > 1 else "", name + bracket + tail)
    if len(place) > 2 or not all(place) or not name.strip(".") or name.startswith("."):
        raise RenderError([make_diagnostic("E770", parsed.origin)])
    if not place:
        return parsed
    kind = _resolve_kind(parsed)
    if not kind and len(place) > 1:
        raise RenderError([unknown_kind(parsed, parsed.kind)])
    return replace(parsed, kind=kind, namespace=parsed.namespace if kind else place[0])


def _resolve_kind(question: Question) -> str:
    """The kind by its full, plural or short name, in any case; '' for an unknown one."""
    word = question.kind.partition(".")[0].lower()  # kubectl's leaderworkersets.leaderworkerset.x-k8s.io
    for name, short in _SHORT_NAMES.items():
        lower = name.lower()
        plural = f"{lower[:-1]}ies" if lower.endswith("y") else f"{lower}{'es' if lower.endswith('s') else 's'}"
        if word in (lower, plural, *short):
            return name
    return ""


def unknown_kind(question: Question, word: str) -> Diagnostic:
    """The error for a word that stands for a kind, and is none."""
    return make_diagnostic("E771", question.origin, kind=word, hint=_suggest_kind(word))


def _suggest_kind(word: str) -> str:
    short = [name for names in _SHORT_NAMES.values() for name in names]
    return suggestion(
        word, [*KINDS, *short], ("LeaderWorkerSet", "Service", "HorizontalPodAutoscaler", "AIGatewayRoute")
    )


def split_field(question: Question, field: str) -> tuple[str, ...]:
    """The parts of a field path: `spec.args[2]` is spec, args, 2; brackets may hold dots. Raises RenderError."""
    parts: list[str] = []
    rest = field
    while rest:
        if rest[0] == "[":
            inside, closed, rest = rest[1:].partition("]")
            if not closed or not inside:
                raise RenderError([make_diagnostic("E772", question.origin, field=field)])
            parts.append(inside.strip("'\""))
        else:
            part = rest.split(".")[0].split("[")[0]
            if not part:
                raise RenderError([make_diagnostic("E772", question.origin, field=field)])
            parts.append(part)
            rest = rest[len(part) :]
        if rest[:1] == ".":
            rest = rest[1:] or "."
            if rest[0] in ".[":
                raise RenderError([make_diagnostic("E772", question.origin, field=field)])
        elif rest and rest[0] != "[":
            raise RenderError([make_diagnostic("E772", question.origin, field=field)])
    return tuple(parts)


class MissingField(Struct, frozen=True):
    """The error for a field that does not exist."""

    problem: Diagnostic
    depth: int  # the length of the part of the path that exists


def find_path(question: Question, body: object, parts: Sequence[str], object_name: str) -> Path | MissingField:
    """The path of a field in a body; list items are given by index, name, key or mount path."""
    value: object = body
    path: Path = ()
    for part in parts:
        parent = f"{dotted(path)} of {object_name}" if path else object_name
        if isinstance(value, dict):
            if part not in value:
                hint = suggestion(part, [str(item) for item in value])
                diagnostic = make_diagnostic("E773", question.origin, here=parent, field=part, hint=hint)
                return MissingField(diagnostic, len(path))
            path, value = (*path, part), value[part]
        elif isinstance(value, list):
            index = _index(value, part)
            if index is None:
                item_names = [name for item in value for name in names_of_item(item)]
                count = f"{len(value)} item{'' if len(value) == 1 else 's'}, counted from 0"
                hint = suggestion(part, item_names) if item_names and not part.isdigit() else ""
                diagnostic = make_diagnostic("E774", question.origin, here=parent, item=part, hint=hint or count)
                return MissingField(diagnostic, len(path))
            path, value = (*path, index), value[index]
        else:
            return MissingField(
                make_diagnostic("E775", question.origin, here=parent, value=value, field=part), len(path)
            )
    return path


def _index(items: Sequence[object], part: str) -> int | None:
    if part.isascii() and part.isdigit() and len(part) < 10:
        return int(part) if int(part) < len(items) else None
    return next((i for i, item in enumerate(items) if part in names_of_item(item)), None)


def names_of_item(item: object) -> list[str]:
    """The texts that identify a list item; a string identifies itself."""
    if isinstance(item, dict):
        return [item[key] for key in ("name", "mountPath", "key") if isinstance(item.get(key), str)]
    return [item] if isinstance(item, str) else []
