"""The function itself: what a ResourceList asks for is rendered, and answered with another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from renderer import escapes, yamlio
from renderer.api import Options
from renderer.krm.asking import KIND, MARKER, VERSION, Asked, Item, asked, called, ours
from renderer.krm.results import Places, results
from renderer.krm.standing import CONFIG, Standing
from renderer.load import alone
from renderer.load.rule import Rule
from renderer.pipeline import render
from renderer.problems import Origin, Problem, RenderError, failing, problem
from renderer.records import NamedTuple


class Answer(NamedTuple):
    """A ResourceList as JSON, and what was found wrong."""

    text: str
    problems: list[Problem]


def answer(name: str, data: bytes, options: Options) -> Answer:
    """Answers the ResourceList in `data`, called `name` in messages. With errors the items stay as they are."""
    try:
        wanted = asked(name, data)
    except RenderError as error:
        return Answer(_list([], results(error.problems, Places({}))), error.problems)
    items = [item for _, item in wanted.items]
    standing = Standing(wanted)
    places = Places({CONFIG: wanted.config, **standing.items})
    try:
        made, problems = ([], standing.problems) if standing.problems else _made(wanted, standing, options)
    except RenderError as error:
        made, problems = [], error.problems
    problems = sorted({places.said(each) for each in problems})
    if not failing(problems, options.strict):
        items = [each for each in items if wanted.paths is not None or not ours(each)] + made + [MARKER]
    return Answer(_list(items, results(problems, places)), problems)


def _made(wanted: Asked, standing: Standing, options: Options) -> tuple[list[Item], list[Problem]]:
    """The objects, in the order of their files, and what is wrong. Raises RenderError."""
    options = options._replace(ground=standing, beside=("paths",), texts=True, allow_empty=True)
    done = render(alone(options, "llmaz kustomize"))
    problems = list(done.problems)
    objects: list[Item] = []
    if failing(problems, options.strict):
        return objects, problems
    for text in sorted(done.texts):
        documents, wrong = yamlio.parse(text.path, text.text.encode())
        objects += [each.value for each in documents if isinstance(each.value, dict) and not _about_files(each.value)]
        problems += wrong
        if any(not isinstance(each.value, dict) for each in documents):  # passed through: what we make are objects
            file = Rule(text.path.rpartition("_extra/")[2])
            problems.append(problem("E142", Origin(file), what="a document in it is no object"))
    there = {_identity(each): each for _, each in wanted.items if not (wanted.paths is None and ours(each))}
    problems += [problem("E736", Origin(Rule(called(each)))) for each in objects if _identity(each) in there]
    if not done.objects and not failing(problems, options.strict):  # what passes through is nobody's model
        problems.append(problem("E737", Origin(Rule(standing.config.name)), where=_where(wanted)))
    return objects, problems


def _where(wanted: Asked) -> str:
    if wanted.paths is not None:
        return f"below {', '.join(wanted.paths)}"
    return f"among {len(wanted.items)} item{'' if len(wanted.items) == 1 else 's'}"


def _about_files(value: Item) -> bool:
    """Whether it is the kustomization of the output folder, and nothing for a cluster."""
    return str(value.get("apiVersion")).startswith("kustomize.config.k8s.io/")


def _identity(item: Item) -> tuple[str, ...]:
    """What kustomize knows an object by."""
    metadata = item.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    group = str(item.get("apiVersion")).rpartition("/")[0]
    return group, str(item.get("kind")), str(metadata.get("namespace") or "default"), str(metadata.get("name"))


def _list(items: Sequence[Item], found: list[dict[str, Any]]) -> str:
    """The answer's text. JSON: a YAML writer's choice of quotes is nothing to leave to others' readers, and what no
    YAML reader takes raw is escaped.
    """
    body: dict[str, Any] = {"apiVersion": VERSION, "kind": KIND, "items": items}
    if found:
        body["results"] = found
    return escapes.json_text(body, indent=1, beyond_bmp=False) + "\n"
