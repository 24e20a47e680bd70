"""Renders the request of a ResourceList, and returns the resulting ResourceList."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from renderer import yamlio
from renderer.api import RenderOptions
from renderer.diagnostics import Diagnostic, NamedSource, Origin, RenderError, has_errors, make_diagnostic
from renderer.integrations.kustomize.input_tree import CONFIG, RequestTree
from renderer.integrations.kustomize.marker import MARKER
from renderer.integrations.kustomize.request import (
    KIND,
    VERSION,
    FunctionRequest,
    Item,
    describe_item,
    is_our_kind,
    parse_request,
)
from renderer.integrations.kustomize.results import ItemPlaces, results
from renderer.kubernetes.json_values import map_at
from renderer.load import for_one_environment
from renderer.pipeline import render
from renderer.text import escapes


class FunctionResult(Struct, frozen=True):
    """A ResourceList as JSON, and the diagnostics."""

    text: str
    problems: list[Diagnostic]


def run_function(name: str, data: bytes, options: RenderOptions) -> FunctionResult:
    """The result for the ResourceList in `data`, called `name` in messages. With errors its items stay unchanged."""
    try:
        request = parse_request(name, data)
    except RenderError as error:
        return FunctionResult(_resource_list([], results(error.problems, ItemPlaces({}))), error.problems)
    items = [item for _, item in request.items]
    tree = RequestTree(request)
    places = ItemPlaces({CONFIG: request.config, **tree.items})
    try:
        objects, problems = ([], tree.problems) if tree.problems else _render_objects(request, tree, options)
    except RenderError as error:
        objects, problems = [], error.problems
    problems = sorted({places.strip_lines(problem) for problem in problems})
    if not has_errors(problems, options.strict):
        items = [item for item in items if request.paths is not None or not is_our_kind(item)] + objects + [MARKER]
    return FunctionResult(_resource_list(items, results(problems, places)), problems)


def _render_objects(
    request: FunctionRequest, tree: RequestTree, options: RenderOptions
) -> tuple[list[Item], list[Diagnostic]]:
    """The rendered objects, sorted by file, and diagnostics. Raises RenderError."""
    options = replace(options, file_system=tree, skipped_keys=("paths",), texts=True, allow_empty=True)
    result = render(for_one_environment(options, "llmaz kustomize"))
    # Of the same objects among the items E736 speaks.
    problems = [problem for problem in result.problems if request.paths is not None or problem.code != "W260"]
    objects: list[Item] = []
    if has_errors(problems, options.strict):
        return objects, problems
    for text in sorted(result.texts):
        documents, syntax_problems = yamlio.parse(text.path, text.text.encode())
        objects += [
            document.value
            for document in documents
            if isinstance(document.value, dict) and not _is_kustomization(document.value)
        ]
        problems += syntax_problems
        # Only files that passThrough copies can hold anything else than objects.
        if any(not isinstance(document.value, dict) for document in documents):
            file = NamedSource(text.path.rpartition("_extra/")[2])
            problems.append(make_diagnostic("E142", Origin(file), what="a document in it is not an object"))
    identities = {_identity(item) for _, item in request.items if not (request.paths is None and is_our_kind(item))}
    problems += [
        make_diagnostic("E736", Origin(NamedSource(describe_item(item))))
        for item in objects
        if _identity(item) in identities
    ]
    # Files that passThrough copies do not count: without objects nothing was rendered.
    if not result.objects and not has_errors(problems, options.strict):
        problems.append(make_diagnostic("E737", Origin(NamedSource(tree.config.name)), where=_describe_input(request)))
    return objects, problems


def _describe_input(request: FunctionRequest) -> str:
    if request.paths is not None:
        return f"below {', '.join(request.paths)}"
    return f"among {len(request.items)} item{'' if len(request.items) == 1 else 's'}"


def _is_kustomization(value: Item) -> bool:
    """Whether the object is a kustomization file, which is not for a cluster."""
    return str(value.get("apiVersion")).startswith("kustomize.config.k8s.io/")


def _identity(item: Item) -> tuple[str, ...]:
    """Group, kind, namespace and name, by which kustomize identifies an object."""
    metadata = map_at(item, "metadata")
    group = str(item.get("apiVersion")).rpartition("/")[0]
    return group, str(item.get("kind")), str(metadata.get("namespace") or "default"), str(metadata.get("name"))


def _resource_list(items: Sequence[Item], function_results: list[dict[str, object]]) -> str:
    """The ResourceList as JSON, which all YAML readers read the same: strings are quoted, and characters that YAML
    does not allow unescaped are escaped.
    """
    body: dict[str, object] = {"apiVersion": VERSION, "kind": KIND, "items": items}
    if function_results:
        body["results"] = function_results
    return escapes.json_text(body, indent=1, beyond_bmp=False) + "\n"
