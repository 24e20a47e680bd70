"""Who made one field of a rendered object: a line that says it, a line of which it is made, or a rule of ours.

Nothing is claimed that cannot be seen: a line counts as saying a value when the same field, followed step by step in
its document, holds that value, or a template for it; items of lists are followed by their names. Which layers set a
field, and where, comes with the plan (resolve/workload/field_origins.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, takewhile
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from renderer.diagnostics import Origin, Path, Source, dotted
from renderer.explain import field_descriptions
from renderer.explain.rendered_objects import ExplainRun, RenderedObject
from renderer.kubernetes import quantity
from renderer.kubernetes.workloads import LEADER_WORKER_SET, WORKLOADS, pod_templates
from renderer.plan import Manifest, Plan
from renderer.template import matches_template, split_template
from renderer.yamlio import ChangedDocument, Document

SAID, FILLED, MADE, RULE = "said", "filled", "made", "rule"
_OFFLOADED: Path = ("spec", "kvCacheOffloading", "cpu")
_KEDA_HPA: Path = ("spec", "advanced", "horizontalPodAutoscalerConfig")
_OWN_TEMPLATES: Mapping[str, str] = {
    path.rpartition(".")[2]: f"{role}_layers" for path, role in WORKLOADS[LEADER_WORKER_SET].templates.items()
}
"""By template of a LeaderWorkerSet, the layers of its pods in a plan."""
_COPIES = ("ConfigMap", "Deployment", "LeaderWorkerSet", "OpenModel", "PodMonitor")  # what they hold was said as it is
_EXACT = ("modelNameOverride", "weight")  # another name is not made of one


class InputLine(Struct, frozen=True):
    """A line of input."""

    file: str
    line: int
    column: int
    field: str  # the path in its document
    preset: bool  # the file is one of ours
    text: str  # the line itself


class Reason(Struct, frozen=True):
    """Why a field has its value."""

    # One of: said (the line holds the value), filled (the line is a template of it), made (the rule works it out from
    # the line), or rule (it comes from no line).
    how: str
    place: InputLine | None
    rule: str = ""
    others: tuple[InputLine, ...] = ()  # all lines that speak of the field, the one that wins last
    # Those of a template, each with the line that its value comes from, None for the renderer's own.
    words: tuple[tuple[str, InputLine | None], ...] = ()


class _Match(Struct, frozen=True):
    """What an origin comes to: how it makes the value, where exactly, and what stands there."""

    how: str
    origin: Origin
    value: Any = None


class ReasonFinder:
    """Answers for the objects of one run."""

    def __init__(self, run: ExplainRun) -> None:
        self._run = run
        self._lines: dict[Document, list[str]] = {}
        self._pods: dict[int, Mapping[Path, Origin]] = {}
        self._known: dict[int, tuple[Manifest, Mapping[Path, Origin]]] = {}

    def _origins(self, rendered: RenderedObject) -> Mapping[Path, Origin]:
        key = id(rendered.manifest)
        if key not in self._known:
            self._known[key] = rendered.manifest, rendered.manifest.origins()
        return self._known[key][1]

    def of(self, rendered: RenderedObject, path: Path) -> Reason:
        """Who made the field at this path, which must be there."""
        if rendered.roles and path[1:2] in (("labels",), ("annotations",)):  # those of both roles are the set's
            return self.of(rendered.roles[0], path)
        if rendered.roles and path[3:4] == ("spec",):
            return self.of(rendered.roles[int(path[2])], path[3:])
        if rendered.roles and path[:2] == ("spec", "roles"):
            rendered = replace(rendered, plan_origins=rendered.roles[int(path[2])].plan_origins)
        others, rest = self._speakers(rendered, path)
        match = self._match(rendered, path, others, rest)
        rule = field_descriptions.rule(rendered.key[0], path, rendered.body)
        if match is None or match.how == MADE:
            if rule and field_descriptions.OWN in rule.of:
                match = None
            for key in rule.of if rule else ():
                better_match = self._match_related(rendered, key, _value(rendered.body, path))
                if better_match and (better_match.how != MADE or path[-1] not in _EXACT):
                    match = better_match
                    break
        text = rule.text if rule else ""
        if match and match.how == MADE and match.origin.path == _OFFLOADED and path[-1] == "memory":
            text = field_descriptions.SUM
        if match is None:
            return Reason(RULE, None, text or f"made for {rendered.owner}")
        place = self._place(match.origin)
        listed = tuple(self._place(other) for other in others) if len(others) > 1 else ()
        words = self._words(rendered, path, match.value) if match.how == FILLED else ()
        return Reason(match.how, place, text if match.how == MADE else "", listed, words)

    def of_line(self, rendered: RenderedObject, path: Path, line: int) -> Reason | None:
        """Who made a line, from 0, of the text at this path; None where nobody knows more than of the whole text."""
        origin = self._origins(rendered).get((*path, line))
        located = self._locate(origin) if origin else None
        return Reason(MADE, self._place(located[0])) if located else None

    def _words(self, rendered: RenderedObject, path: Path, template: str) -> tuple[tuple[str, InputLine | None], ...]:
        """The words of a template, and what they are made of."""
        words = []
        index = _loader(rendered.body, path)
        for word in _words_of(template):
            key: Path = ("explain", "word", word) if index is None else ("explain", "source", index)
            located = self._locate(rendered.plan_origins[key]) if key in rendered.plan_origins else None
            words.append((word, self._place(located[0]) if located else None))
        return tuple(words)

    # Who it may be

    def _match(self, rendered: RenderedObject, path: Path, others: Sequence[Origin], below: Path) -> _Match | None:
        """The first that says the value, else the first of which it is made."""
        value, first = _value(rendered.body, path), None
        for origin, rest, field in self._candidates(rendered, path, others, below):
            match = self._follow(origin, rest, _value(rendered.body, field))
            if match is None and (rendered.key[0] not in _COPIES or "affinity" in field):
                located = self._locate(origin)
                match = _Match(MADE, *located) if located else None
            if match and (match.how != MADE or (path[-2] == "args" and not rest)):
                return match
            if not rendered.is_workload or path[-2] not in ("labels", "annotations") or not rest:
                first = first or match
        if path == ("metadata", "namespace"):
            match = self._follow(self._run.inputs.config.origin("namespace"), (), value)
            first = match if match and match.how == SAID else None
        return first

    def _candidates(
        self, rendered: RenderedObject, path: Path, others: Sequence[Origin], rest: Path
    ) -> Iterator[tuple[Origin, Path, Path]]:
        """Origins with the steps that are left behind them, and the field that they are of; the surest first."""
        if others and path[-2] != "args":  # who speaks of an argument speaks of its option
            yield others[-1], rest, path[: len(path) - len(rest)]
        tables = [self._pod_field_origins(rendered), self._origins(rendered)]
        if rendered.key[0] == "AIGatewayRoute" and rendered.item is None:
            tables.append(self._packed_route_origins(rendered, path))
        for length in range(len(path), 0, -1):
            for table in tables:
                if path[:length] in table:
                    yield table[path[:length]], path[length:], path[:length]

    def _pod_field_origins(self, rendered: RenderedObject) -> Mapping[Path, Origin]:
        """What the plan knows of the fields of a workload."""
        if not rendered.is_workload:
            return {}
        roots = _roots(rendered)
        key = id(rendered.manifest)
        if key not in self._pods:
            field_origins: dict[Path, Origin] = {}
            own: dict[Path, Origin] = {}  # of one of the templates
            for key_path, origin in rendered.plan_origins.items():
                if key_path[:2] == ("explain", "template"):
                    field_origins |= {(*root, *key_path[2:]): origin for root in roots}
                elif key_path[:1] == ("explain",) and key_path[1] in _OWN_TEMPLATES:
                    # All pods of a Deployment have one template. The leader's comes first.
                    for root in (root for root in roots if root[-1] in (key_path[1], "template")):
                        own.setdefault((*root, *key_path[2:]), origin)
                elif key_path[:2] == ("explain", "annotations"):
                    field_origins["metadata", *key_path[1:]] = origin
            field_origins |= own
            for root in roots:
                field_origins |= _loaders(rendered, root)
            self._pods[key] = field_origins
        return self._pods[key]

    def _packed_route_origins(self, rendered: RenderedObject, path: Path) -> dict[Path, Origin]:
        """A rule of several models belongs to the one that it names."""
        index = path[2] if path[:2] == ("spec", "rules") and len(path) > 2 else 0
        rule = rendered.body["spec"]["rules"][index]
        route_origins = self._run.route_of(rendered.key[1], rule["matches"][0]["headers"][0]["value"])
        if not route_origins:
            return {}
        head: Path = ("spec", "rules", index)
        model = route_origins["spec", "rules", 0, "matches"]
        field_origins = {
            ("metadata", "namespace"): route_origins["metadata", "namespace"],
            (*head, "matches"): model,
            (*head, "matches", 0, "headers", 0, "value"): model,
        }
        field_origins[*head, "timeouts", "request"] = route_origins["explain", "request"]
        for i in range(len(rule["backendRefs"])):
            field_origins[*head, "backendRefs", i, "name"] = route_origins["metadata", "name"]
            field_origins[*head, "backendRefs", i, "modelNameOverride"] = model
        return field_origins

    def _speakers(self, rendered: RenderedObject, path: Path) -> tuple[list[Origin], Path]:
        """All who speak of the field or of one that it is in, the one that wins last; and the steps from there."""
        keys: list[tuple[Path, Path]] = []
        roots = _roots(rendered) if rendered.is_workload else ()
        if root := next((root for root in roots if path[: len(root)] == root), None):
            inside, heads = path[len(root) :], (_OWN_TEMPLATES.get(str(root[-1]), "layers"), "layers")
            keys = [((head, *inside[:i]), inside[i:]) for i in range(len(inside), 0, -1) for head in heads]
        elif isinstance(rendered.plan, Plan) and (scaler := rendered.plan.scaler) and scaler.layers:
            says = [layer.origin for layer in scaler.layers]
            if rendered.key[0] == "HorizontalPodAutoscaler" and path[:2] in (("spec", "metrics"), ("spec", "behavior")):
                return says, path[1:]
            if rendered.key[0] == "ScaledObject" and path[:4] == (*_KEDA_HPA, "behavior"):
                return says, path[3:]
        for key, rest in keys:
            numbered = takewhile(rendered.plan_origins.__contains__, ((*key, i) for i in count()))
            if speakers := [rendered.plan_origins[known] for known in numbered]:
                return speakers, rest
        return [], ()

    def _match_related(self, rendered: RenderedObject, key: Path, value: object) -> _Match | None:
        """The origin of another field of object or app, or of what the plan or Gateway knows by this name."""
        origin = self._origins(rendered).get(key) or rendered.plan_origins.get(key)
        if key[0] == field_descriptions.INPUT and isinstance(rendered.plan, Plan):
            origin = rendered.plan.origin.at(*key[1:])
        if origin is None:
            return None
        return self._follow(origin, (), value)

    # Whether it is

    def _follow(self, origin: Origin, rest: Path, field_value: Any) -> _Match | None:
        """The origin and its value, followed by the steps that lead on from the field `made`; None where nothing is
        there, or it is about something else.
        """
        located = self._locate(origin)
        if located is None:
            return None
        origin, value = located
        for step in rest:
            below = _below(value, field_value, step)
            if below is None:
                return None
            origin, value, field_value = origin.at(below), value[below], field_value[step]
        return _Match(_derivation(field_value, value, exact=not rest), origin, value)

    def _locate(self, origin: Origin) -> tuple[Origin, Any] | None:
        """The origin with its value; None where nothing stands there."""
        config = self._run.inputs.config
        if origin.source is config.document or any(
            origin.source is source_document for source_document in config.sources.values()
        ):
            path = origin.path[1:]
            value = _value_at(config.spec, path)
            source = config.origin(*(str(source_document) for source_document in path)).source
            return None if value is _NOTHING else (Origin(source, origin.path, origin.key), value)
        if isinstance(origin.source, Document):
            value = _value_at(origin.source.value, origin.path)
            return None if value is _NOTHING else (origin, value)
        return None

    def _place(self, origin: Origin) -> InputLine:
        source, path = origin.behind
        line, column = source.locate(path, key=origin.key)
        text = ""
        if isinstance(source, Document) and line:
            lines = self._lines.get(source)
            if lines is None:
                lines = self._lines[source] = source.data.decode("utf-8", "replace").splitlines()
            text = lines[line - 1] if line <= len(lines) else ""
        return InputLine(
            source.name,
            line,
            column,
            dotted(path),
            source.name.startswith("presets/") and self._ours(origin.source),
            text,
        )

    def _ours(self, source: Source) -> bool:
        """Whether it is one of our presets."""
        document = source.whole if isinstance(source, ChangedDocument) else source
        if not isinstance(document, Document):
            return False
        inputs, name = self._run.inputs, str((document.value.get("metadata") or {}).get("name"))
        shelves: Mapping[str, Mapping[str, Any]] = {
            "OpenModel": inputs.models,
            "BackendRuntime": inputs.runtimes,
            "Loader": inputs.loaders,
            "Picker": inputs.pickers,
        }
        preset = shelves.get(str(document.value.get("kind")), {}).get(name)
        return document is (preset if isinstance(preset, Document) else preset and preset.ours and preset.document)


def _roots(rendered: RenderedObject) -> list[Path]:
    """The pod templates of a workload, that of the workers first."""
    return [template.path for template in pod_templates(rendered.body)][::-1]


def _words_of(template: str) -> list[str]:
    """The words between the braces of a template, in their order and each once; filters and quoted texts are none."""
    codes = (re.sub(r"'[^']*+'|\"[^\"]*+\"", "", code) for code in split_template(template)[1::2])
    return list(dict.fromkeys(word for code in codes for word in re.findall(r"\b[A-Z]\w*", code)))


def _loaders(rendered: RenderedObject, root: Path) -> dict[Path, Origin]:
    """What the plan knows of the loaders in the pod below a root, by their fields."""
    field_origins: dict[Path, Origin] = {}
    try:
        containers = _value(rendered.body, (*root, "spec", "initContainers"))
    except KeyError:
        return field_origins
    for i, container in enumerate(containers):
        container_path: Path = (*root, "spec", "initContainers", i)
        variables = {variable["name"]: j for j, variable in enumerate(container.get("env") or ())}
        position = _loader(rendered.body, container_path)
        for plan_path, origin in rendered.plan_origins.items():
            if position is None or plan_path[:1] != ("explain",):
                continue
            steps = plan_path[2:] if plan_path[1] == root[-1] else plan_path[1:]  # of this template, or of all
            if steps[:2] != ("loader", position):
                continue
            field = steps[2:]
            if field[0] != "env":
                field_origins[*container_path, *field] = origin
            elif field[1] in variables:
                field_origins[*container_path, "env", variables[field[1]], *field[2:]] = origin
    return field_origins


class _Nothing:
    pass


_NOTHING = _Nothing()


def _value_at(value: Any, path: Path) -> object:
    for part in path:
        listed = isinstance(value, (list, tuple)) and isinstance(part, int) and part < len(value)
        if not listed and not (isinstance(value, Mapping) and part in value):
            return _NOTHING
        value = value[part]
    return value


def _loader(body: object, path: Path) -> int | None:
    """Which of the loaders a field is of."""
    if "initContainers" not in path:
        return None
    at = path.index("initContainers")
    name = str(_value(body, path[: at + 2])["name"])
    if not name.startswith("model-loader"):
        return None
    number = name.removeprefix("model-loader").removeprefix("-")
    return int(number) if number.isdigit() else 0


def _value(body: Any, path: Path) -> Any:
    for part in path:
        body = body[part]
    return body


def _below(value: object, rendered_value: Any, step: str | int) -> str | int | None:
    """The key or index in `value` of what `step` leads to in `made`."""
    if isinstance(step, str):
        return step if isinstance(value, Mapping) and step in value else None
    if not isinstance(value, (list, tuple)) or step >= len(rendered_value):
        return None
    item = rendered_value[step]
    for key in ("mountPath", "name"):  # one volume may be mounted twice
        if isinstance(item, Mapping) and key in item and key in (value[0] if value and _is_map(value[0]) else {}):
            return next((i for i, entry in enumerate(value) if _is_map(entry) and entry.get(key) == item[key]), None)
    if step < len(value) and _is_same_item(item, value[step]):
        return step
    plain = not isinstance(item, (Mapping, list))  # a template that stands elsewhere may be anything's
    return next(
        (
            i
            for i, entry in enumerate(value)
            if (_derivation(item, entry) == SAID if plain else _is_same_item(item, entry))
        ),
        None,
    )


def _is_map(value: object) -> bool:
    return isinstance(value, Mapping)


def _is_same_item(rendered_value: object, written: object) -> bool:
    """Whether the whole item is the one that was said, but for what is filled in."""
    if isinstance(rendered_value, Mapping) and isinstance(written, Mapping):
        return all(
            key in rendered_value and _is_same_item(rendered_value[key], part)
            for key, part in written.items()
            if part is not None
        )
    if isinstance(rendered_value, (list, tuple)) and isinstance(written, (list, tuple)):
        return len(rendered_value) == len(written) and all(
            _is_same_item(*part) for part in zip(rendered_value, written, strict=True)
        )
    return _derivation(rendered_value, written) != MADE


def _derivation(rendered_value: object, written: object, *, exact: bool = False) -> str:
    """How a value follows from what stands there. `exact`: it surely does."""
    if rendered_value == written or (not isinstance(written, (Mapping, list)) and str(rendered_value) == str(written)):
        return SAID
    if isinstance(written, str) and "{{" in written:
        if exact:
            return FILLED
        return FILLED if matches_template(written, str(rendered_value)) else MADE
    if isinstance(rendered_value, str) and isinstance(written, (str, int, float)):
        try:
            return SAID if quantity.canonical(written) == quantity.canonical(rendered_value) else MADE
        except ValueError:
            return MADE
    return MADE
