"""What the two sides of a difference have in common is read and rendered once.

The files of a base are nearly all those of the later side, and most items render to the same objects on both. The later
side keeps its parsed files, and only lists the files of such items; the base takes over what it kept and found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from renderer import load, pipeline
from renderer.api import App, BackendRuntime, Inputs, ItemKey, OpenModel, RenderOptions, Scope, TrafficInput, TreeFile
from renderer.diagnostics import Diagnostic, Origin
from renderer.kubernetes.json_values import map_at
from renderer.loaded_tree import items
from renderer.pipeline import Selection
from renderer.resolve.engine.chat_template import FIELD, read_file
from renderer.result import RenderResult

if TYPE_CHECKING:
    from renderer.input_types import ChatTemplateSpec

T = TypeVar("T")
ParsedFiles = Mapping[tuple[str, bool], load.ParsedFile]  # by name, and whether the file lies outside PATHS


class BaseInputs(Struct, frozen=True):
    """The input of the base, read while the later side is rendered."""

    folder: str  # the output folder
    scope: Scope
    inputs: Inputs
    problems: list[Diagnostic]
    unchanged: Set[ItemKey]  # the items that render to the same objects on both sides


def render_later(opened: load.ReadAhead, find_unchanged: Callable[[Inputs, ParsedFiles], Set[ItemKey]]) -> RenderResult:
    """The result of the later side, of one environment; without texts of the items that `find_unchanged` returns."""
    parsed_files: ParsedFiles = {}

    def read(scope: Scope) -> tuple[Inputs, list[Diagnostic]]:
        nonlocal parsed_files
        parsed = list(opened.files)
        parsed_files = _problem_free(scope, parsed)
        return load.gather_inputs(scope, parsed)

    def select(inputs: Inputs) -> Selection:
        unchanged, everything = find_unchanged(inputs, parsed_files), items(inputs)
        listed = [item for item in everything if isinstance(item, (App, TrafficInput)) and item.key in unchanged]
        chosen = set(map(id, listed))
        return Selection([item for item in everything if id(item) not in chosen], listed)

    return pipeline.render(opened.scopes[0].options, (opened.folder, opened.scopes), read, select)


def read_base(folder: str, scope: Scope, later: Inputs, parsed_files: ParsedFiles) -> BaseInputs:
    """The input of the base. `later`, `parsed_files`: the input of the later side, and its files."""
    inputs, problems = load.gather_inputs(scope, read_changed(scope, parsed_files))
    return BaseInputs(folder, scope, inputs, problems, unchanged_items(later, inputs))


def render_base(base: BaseInputs, options: RenderOptions, later: RenderResult) -> RenderResult:
    """The result of the base; without texts of unchanged items, as `later` has none."""
    models = unchanged_models(later.inputs, base.inputs, later.problems)

    def select(inputs: Inputs) -> Selection:
        rendered = [
            item
            for item in items(inputs)
            if (item.key not in base.unchanged if isinstance(item, (App, TrafficInput)) else item.name not in models)
        ]
        return Selection(rendered, parts=later.listed_parts, compares_foreign=False)

    scopes = base.folder, [replace(base.scope, options=options)]
    return pipeline.render(options, scopes, lambda _: (base.inputs, [*base.problems]), select)


def read_changed(scope: Scope, parsed_files: ParsedFiles) -> Iterator[load.ParsedFile]:
    """The parsed files of a run in order: those of another run where the contents are the same."""
    files = load.scoped_files(scope)
    earlier = {} if load.environment_of(scope) else parsed_files  # an environment patches what it parses
    known = [earlier.get((file.name, outside)) for file, outside in files] if earlier else []
    unchanged = {i: parsed for i, parsed in enumerate(known) if parsed and parsed.data == files[i][0].read()}
    changed = load.read_files(scope, [entry for i, entry in enumerate(files) if i not in unchanged])
    for i in range(len(files)):
        yield unchanged[i] if i in unchanged else next(changed)


def _problem_free(scope: Scope, parsed_files: Sequence[load.ParsedFile]) -> ParsedFiles:
    """The parsed files without problems: these hold places, so they are found anew. None of an environment."""
    if load.environment_of(scope):
        return {}
    return {
        (file.name, outside): parsed
        for (file, outside), parsed in zip(load.scoped_files(scope), parsed_files, strict=True)
        if parsed.data and not parsed.problems
    }


def unchanged_items(later: Inputs, base: Inputs) -> set[ItemKey]:
    """The items that render to the same objects on both sides."""
    if not _same_surroundings(later, base):
        return set()
    later_items, base_items = _items(later), _items(base)
    changed = _changed_keys(_models(later), _models(base))
    different = _changed_keys(later_items, base_items)
    if changed:
        different |= {key for key, content in base_items.items() if changed.intersection(_claimed_models(content.spec))}
    # Traffic may depend on any app of its namespace, and apps on the traffic there.
    traffic_namespaces = {traffic_input.namespace for side in (later, base) for traffic_input in side.traffic}
    affected_namespaces = traffic_namespaces & {namespace for _, namespace, _ in different}
    return {key for key in base_items if key not in different and key[1] not in affected_namespaces}


def unchanged_models(later: Inputs, base: Inputs, problems: Iterable[Diagnostic]) -> set[str]:
    """The user's models that are the same on both sides, and had none of these `problems` on the later side."""
    if not _same_surroundings(later, base):
        return set()
    faulty = {problem.file for problem in problems}
    faultless = {item.name for item in later.definitions if item.document.name not in faulty}
    changed = _changed_keys(_models(later), _models(base))
    return faultless - changed


def _same_surroundings(later: Inputs, base: Inputs) -> bool:
    """Whether all that any item may use is the same: the configuration, backends, foreign objects."""
    return (
        later.config.spec == base.config.spec
        and later.option_files.learnt() == base.option_files.learnt()
        and later.foreign_objects == base.foreign_objects
        # A user's backend may have lists of options in other files, which are not compared.
        and all(isinstance(item, OpenModel) for side in (later, base) for item in side.definitions)
        and not any(side.unreadable or side.broken or side.outside_apps for side in (later, base))
    )


class _Content(Struct, frozen=True):
    """The input of an item: its file, spec, annotations or API version, and the file of its chat template."""

    file: str
    spec: object
    annotations: object
    template: TreeFile | None = None


def _items(inputs: Inputs) -> dict[ItemKey, _Content]:
    apps = {app.key: _Content(app.file, app.spec, app.annotations, _template(inputs, app)) for app in inputs.apps}
    return apps | {
        traffic.key: _Content(traffic.file, traffic.spec, traffic.version) for traffic in inputs.rendered_traffic
    }


def _template(inputs: Inputs, app: App) -> TreeFile | None:
    if FIELD not in app.spec:
        return None
    return read_file(inputs.template_files, app.spec["chatTemplate"], app.origin("spec", FIELD))


def _models(inputs: Inputs) -> dict[str, object]:
    return {
        item.name: (item.spec, item.document.value.get("metadata"), *_templates(inputs, item))
        for item in inputs.definitions
    }


def _templates(inputs: Inputs, item: OpenModel | BackendRuntime) -> Iterator[TreeFile | None]:
    """The files of a model's chat templates for engines."""
    for name, settings in map_at(item.spec, "engines").items() if isinstance(item, OpenModel) else ():
        if template := map_at(settings, FIELD):
            origin = Origin(item.document, ("spec", "engines", name, FIELD))
            yield read_file(inputs.template_files, cast("ChatTemplateSpec", template), origin)


def _claimed_models(spec: Any) -> Iterator[str]:
    """The models that an app claims."""
    if "modelClaim" in spec:
        yield spec["modelClaim"]["modelName"]
    for model in (spec.get("modelClaims") or {}).get("models") or ():
        yield model["name"]


def _changed_keys(later: Mapping[T, object], base: Mapping[T, object]) -> set[T]:
    """The keys whose values differ, or are missing on one side."""
    return {key for key in later.keys() | base.keys() if later.get(key) != base.get(key)}
