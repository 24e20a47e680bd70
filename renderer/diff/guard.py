"""What keeps a change from loosening what judges it: files that nobody may bring along, and changed settings as risks.

The settings of the base hold beside those of the later side (docs/security.md); a change of what is judged stands at
the top of the comment, whatever it allows.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

from msgspec import Struct

from renderer import yamlio
from renderer.api import RenderOptions
from renderer.diagnostics import Diagnostic, Origin, has_errors, make_diagnostic
from renderer.diff.charts import find_chart, judge_charts
from renderer.diff.fields import format_path, same
from renderer.diff.folder_contents import path_in_commit
from renderer.diff.objects import ObjectKey
from renderer.diff.output_folders import LaterRun, Side, judge_folders
from renderer.diff.output_settings import OutputSettings
from renderer.diff.risks import GUARD, NAME, Risk
from renderer.diff.submodules import SubmoduleJudgement
from renderer.diff.unread import attribute_risks, unread
from renderer.integrations.helm.files import files
from renderer.kubernetes.json_values import as_map
from renderer.result import RenderResult
from renderer.secrets.detection import ANOTHER, HIDDEN, hide_secrets
from renderer.source.commit import CommitTree
from renderer.source.paths import CONFIG, tree_root
from renderer.source.tree import FileSystem, InputFile
from renderer.text import escapes

POLICY: Final = "llmaz-policy.yaml"
_LISTS = "optionLists"
_JUDGING = (  # keys that decide what is judged
    "output",
    "ignore",
    "passThrough",
    "external",
    "hardening",
    "targets",
    _LISTS,
)
_LONG = 120  # characters of a list that is shown as a whole
_Leaves = dict[tuple[str, ...], object]


class Judgement(Struct, frozen=True):
    """What the settings of both sides say about the later one."""

    problems: Sequence[Diagnostic]  # files that must not be there
    risks: tuple[Risk, ...]  # changed settings
    notes: Sequence[str]  # what could not be compared


class Guard:
    """Both sides of a difference with their settings; `before` holds the options of the base, `top` is that of the
    repository. Raises RenderError.
    """

    def __init__(self, before: RenderOptions, now: RenderOptions, top: str) -> None:
        self._now, self._top = now, top
        self.base, self.later = (
            Side(options.file_system, OutputSettings(options), unread(options.file_system, top))
            for options in (before, now)
        )

    @cached_property
    def has_chart(self) -> bool:
        """Whether the later side holds a chart of ours, so that all of its files are needed to judge it."""
        root, environment = self.later.settings.root, self._now.env
        return find_chart(self.later, environment, f"{root}/{environment}" if environment else root) is not None

    def judge(self, result: RenderResult | None) -> Judgement:
        """What the settings of both sides say about the later one. `result`: of the later side, None where it has
        nothing of what is compared. Raises RenderError.
        """
        run = self._run(result)
        problems, notes = judge_folders(self.base, self.later, run)
        chart_problems, chart_notes = judge_charts(self.base, self.later, run, self._expected_chart(result, run))
        links = _config_links(self.base, self.later)
        submodules = SubmoduleJudgement(self.base, self.later, run, self._top)
        problems += [*chart_problems, *submodules.problems(), *links]
        conversions = attribute_risks(self.base, self.later, self._top)
        settings = (*setting_risks(self.base, self.later), *list_risks(self.base, self.later))
        risks = (*settings, *submodules.risks(), *conversions)
        return Judgement(problems, risks, [*notes, *chart_notes, *submodules.notes()])

    def _run(self, result: RenderResult | None) -> LaterRun:
        is_complete = result is None or not has_errors(problem for problem in result.problems if problem.code != "E123")
        base = self.later.settings.base
        paths = tuple(os.path.relpath(path, base).replace(os.sep, "/") for path in self._now.paths)
        rendered = frozenset(result.states if result else ())
        return LaterRun(self._now.env, rendered, () if "." in paths else paths, is_complete)

    def _expected_chart(self, result: RenderResult | None, run: LaterRun) -> Mapping[str, str]:
        """The files of the chart that the later side's inputs make; none where that is unknown, or there is no
        chart.
        """
        if not result or not run.is_complete or run.paths or not self.has_chart:
            return {}
        return dict(files(result.texts, result.inputs.config)[0])


def _config_links(base: Side, later: Side) -> Iterator[Diagnostic]:
    """An error where `llmaz.yaml` has become a link, whose target no commit is asked for."""
    path = os.path.normpath(os.path.join(later.settings.base, CONFIG))
    nearest = os.path.normpath(os.path.join(base.settings.base, CONFIG))
    for candidate in dict.fromkeys((path, nearest)):
        if _is_link(later.file_system, candidate) and not _is_link(base.file_system, candidate):
            yield make_diagnostic("E864", Origin(InputFile(candidate, "", "")))


def _is_link(file_system: FileSystem, path: str) -> bool:
    if not isinstance(file_system, CommitTree):
        return os.path.islink(path)
    entry = file_system.entries.get(path_in_commit(file_system, path))
    return entry is not None and entry.mode == "120000"


# --- changed settings -------------------------------------------------------------------------------------------------


def setting_risks(base: Side, later: Side) -> Iterator[Risk]:
    """A risk for each setting that decides what is judged, and differs; with both values, but for secrets."""
    for name in (CONFIG, POLICY):
        old_path, new_path = (os.path.normpath(os.path.join(side.settings.base, name)) for side in (base, later))
        old, new = _text(base.file_system, old_path), _text(later.file_system, new_path)
        if old == new and old_path == new_path:
            continue
        path = new_path if new is not None else old_path
        key = ObjectKey("", "File", "", path)
        if old is not None and new is not None and old_path != new_path:
            yield Risk(GUARD, key, f"moved here from {_mark(old_path)}")
        for text in _changes(name, old, new):
            yield Risk(GUARD, key, text)


def list_risks(base: Side, later: Side) -> Iterator[Risk]:
    """A risk for each list of options that differs, in the folders that RenderConfig of either side names."""
    sides = (base, later)
    paths = {
        os.path.join(folder, name)
        for side in sides
        for folder in _list_folders(side)
        for other in sides
        for name in other.file_system.names(folder, tree_root(side.settings.base) or side.settings.base)
        if name.endswith(".txt")
    }
    for path in sorted(paths):
        old, new = (_text(side.file_system, path) for side in sides)
        if old != new:
            change = "added" if old is None else "removed" if new is None else "changed"
            yield Risk(GUARD, ObjectKey("", "File", "", path), f"a list of options: {change}")


def _list_folders(side: Side) -> Iterator[str]:
    """The folders with lists of options that RenderConfig and its environments name."""
    spec = _spec(_text(side.file_system, os.path.normpath(os.path.join(side.settings.base, CONFIG)))) or {}
    configs = [as_map(as_map(environment).get("config")) for environment in as_map(spec.get("environments")).values()]
    for config in (spec, *configs):
        if isinstance(folder := config.get(_LISTS), str):
            yield os.path.normpath(os.path.join(side.settings.base, folder))


def _text(file_system: FileSystem, path: str) -> bytes | None:
    """The bytes of a file; None without one. What cannot be read is one that is not YAML."""
    if not file_system.isfile(path):
        return None
    try:
        return file_system.read(path, tree_root(os.path.dirname(path)) or os.path.dirname(path))
    except OSError:
        return b"\0"


def _changes(name: str, old: bytes | None, new: bytes | None) -> Iterator[str]:
    """Each change of a setting, in words."""
    before, after = _spec(old), _spec(new)
    if before is None or after is None:
        states = ("valid YAML" if spec is not None else "not valid YAML" for spec in (before, after))
        yield " → ".join(states)
    select = _judging_leaves if name == CONFIG else lambda spec: dict(_leaves(spec))
    old_leaves, new_leaves = select(before or {}), select(after or {})
    for path in dict.fromkeys([*old_leaves, *new_leaves]):
        values = old_leaves.get(path), new_leaves.get(path)
        if not same(*values):
            yield from _change(path, *_hidden(*values))
    if name == POLICY and (old is None) != (new is None):
        yield "added" if old is None else "removed"


def _spec(data: bytes | None) -> Mapping[str, object] | None:
    """The spec of the first document, {} without one; None for what is not YAML."""
    documents, problems = yamlio.parse("", data or b"")
    if problems:
        return None
    bodies = [as_map(document.value) for document in documents]
    body = next((body for body in bodies if body.get("kind") == "RenderConfig"), bodies[0] if bodies else {})
    return as_map(body.get("spec"))


def _judging_leaves(spec: Mapping[str, object]) -> _Leaves:
    """The settings of RenderConfig that decide what is judged, by path, those of environments too."""
    leaves = {path: value for key in _JUDGING if key in spec for path, value in _leaves(spec[key], (key,))}
    environments = as_map(spec.get("environments"))
    if environments:
        leaves["environments",] = [*environments]
    for name, environment in environments.items():
        path = ("environments", name)
        if "from" in as_map(environment):
            leaves[*path, "from"] = as_map(environment)["from"]
        config = as_map(as_map(environment).get("config"))
        for key in _JUDGING:
            leaves |= dict(_leaves(config[key], (*path, "config", key))) if key in config else {}
    return leaves


def _leaves(value: object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    """What a map holds, by path, down to lists and single values."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves(inner, (*path, str(key)))
    elif path:
        yield path, value


def _change(path: tuple[str, ...], old: object, new: object) -> Iterator[str]:
    """Both values of a setting; of a long list what was taken from it and what came to it, the shortest first, since a
    short pattern allows most.
    """
    key = _mark(format_path(path))
    words = [_value(value) for value in (old, new)]
    if words[0] == words[1]:
        words = [HIDDEN, ANOTHER]
    if max(map(len, words)) <= _LONG or not (isinstance(old, list) or isinstance(new, list)):
        yield f"{key}: {_mark(words[0])} → {_mark(words[1])}"
        return
    before, after = (dict.fromkeys(map(_value, value)) if isinstance(value, list) else {} for value in (old, new))
    for sign, items, others in (("without", before, after), ("with", after, before)):
        for item in sorted((item for item in items if item not in others), key=lambda item: (len(item), item)):
            yield f"{key}: {sign} {_mark(item)}"
    if before.keys() == after.keys():
        yield f"{key}: the order changed"


def _hidden(old: object, new: object) -> tuple[object, object]:
    """Both values without what looks like a secret; the name of the key is one of ours, and makes none of it."""
    before, after = {"value": old}, {"value": new}
    return hide_secrets(before)["value"], hide_secrets(after, before)["value"]


def _value(value: object) -> str:
    return "none" if value is None else escapes.json_text(value, default=str)


def _mark(text: str) -> str:
    """A text from the input between NAME marks."""
    return f"{NAME}{text.replace(NAME, '')}{NAME}"
