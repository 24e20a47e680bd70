"""What the command line asks for: KIND/NAMESPACE/NAME, KIND/NAME or NAME, and a field behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from renderer.load.rule import Rule
from renderer.problems import Origin, Path, Problem, RenderError, dotted, guess, problem
from renderer.records import NamedTuple

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


class Asked(NamedTuple):
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
        return Origin(Rule(self.text))


def asked(text: str) -> Asked:
    """What is asked for. Raises RenderError for what cannot be read, or a kind that there is none of."""
    head, bracket, tail = text.partition("[")
    *place, name = head.split("/")
    made = Asked(text, place[0] if place else "", place[1] if len(place) > 1 else "", name + bracket + tail)
    if len(place) > 2 or not all(place) or not name.strip(".") or name.startswith("."):
        raise RenderError([problem("E770", made.origin)])
    return made._replace(kind=kind(made)) if place else made


def kind(given: Asked) -> str:
    """The kind that is meant. Raises RenderError."""
    word = given.kind.partition(".")[0].lower()  # kubectl's leaderworkersets.leaderworkerset.x-k8s.io
    for each, short in _SHORT.items():
        whole = each.lower()
        plural = f"{whole[:-1]}ies" if whole.endswith("y") else f"{whole}{'es' if whole.endswith('s') else 's'}"
        if word in (whole, plural, *short):
            return each
    raise RenderError([problem("E771", given.origin, kind=given.kind, hint=_meant(given.kind))])


def _meant(word: str) -> str:
    short = [each for names in _SHORT.values() for each in names]
    return guess(word, [*KINDS, *short], ("LeaderWorkerSet", "Service", "HorizontalPodAutoscaler", "AIGatewayRoute"))


def steps(given: Asked, field: str) -> tuple[str, ...]:
    """A field path taken apart: `spec.args[2]` is spec, args, 2; what stands in brackets may hold dots. Raises
    RenderError.
    """
    made: list[str] = []
    rest = field
    while rest:
        if rest[0] == "[":
            inside, closed, rest = rest[1:].partition("]")
            if not closed or not inside:
                raise RenderError([problem("E772", given.origin, field=field)])
            made.append(inside.strip("'\""))
        else:
            part = rest.split(".")[0].split("[")[0]
            if not part:
                raise RenderError([problem("E772", given.origin, field=field)])
            made.append(part)
            rest = rest[len(part) :]
        if rest[:1] == ".":
            rest = rest[1:] or "."
            if rest[0] in ".[":
                raise RenderError([problem("E772", given.origin, field=field)])
        elif rest and rest[0] != "[":
            raise RenderError([problem("E772", given.origin, field=field)])
    return tuple(made)


class Missing(NamedTuple):
    """Why a field is not there; `deep`: how far the path led."""

    problem: Problem
    deep: int


def path_in(given: Asked, body: Any, parts: Sequence[str], what: str) -> Path | Missing:
    """The path of a field in a body; items of lists by number, name, key or mount path."""
    value: Any = body
    made: Path = ()
    for part in parts:
        here = f"{dotted(made)} of {what}" if made else what
        if isinstance(value, dict):
            if part not in value:
                hint = guess(part, [str(each) for each in value])
                said = problem("E773", given.origin, here=here, field=part, hint=hint)
                return Missing(said, len(made))
            made, value = (*made, part), value[part]
        elif isinstance(value, list):
            index = _index(value, part)
            if index is None:
                named = [name for each in value for name in _names(each)]
                count = f"{len(value)} item{'' if len(value) == 1 else 's'}, counted from 0"
                hint = guess(part, named) if named and not part.isdigit() else ""
                said = problem("E774", given.origin, here=here, item=part, hint=hint or count)
                return Missing(said, len(made))
            made, value = (*made, index), value[index]
        else:
            return Missing(problem("E775", given.origin, here=here, value=value, field=part), len(made))
    return made


def _index(items: Sequence[Any], part: str) -> int | None:
    if part.isascii() and part.isdigit() and len(part) < 10:
        return int(part) if int(part) < len(items) else None
    return next((i for i, each in enumerate(items) if part in _names(each)), None)


def _names(item: Any) -> list[str]:
    """By what an item of a list is known; an argument by itself."""
    if isinstance(item, dict):
        return [item[key] for key in ("name", "mountPath", "key") if isinstance(item.get(key), str)]
    return [item] if isinstance(item, str) else []
