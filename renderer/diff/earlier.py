"""The earlier side of a difference: what a commit's inputs render to, or the rendered files that it holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from functools import cached_property

from renderer import alike, git, load, pipeline
from renderer.api import Inputs, Known, Options, Scope
from renderer.emit import Text
from renderer.pipeline import Rendered
from renderer.problems import Problem, RenderError
from renderer.revision import Revision
from renderer.tree import MARK

_END = ". Do not edit."
_NOTES = 10  # errors of a base that are said; the rest is counted


class Earlier:
    """A commit, called `name`. `options`: to render it, None where nothing is there. `form`: `rendered` takes its files
    of ours, `inputs` renders it; '' takes the first where there are any.
    """

    def __init__(self, ground: Revision, options: Options | None, name: str, form: str) -> None:
        self._ground = ground
        self._options, self._name, self._form = options, name, form
        self._read: tuple[str, Scope, tuple[Inputs, list[Problem]]] | None = None
        self._alike: Set[alike.Key] = frozenset()
        self._scope: Scope | None = None

    def expects(self, inputs: Inputs) -> None:
        """Most files are the same on the later side, where this was read."""
        documents = (each.document.data for each in (*inputs.apps, *inputs.own, *inputs.traffic))
        self._ground.expect([each[0] for each in inputs.read.values()] or set(documents))

    def spared(self, inputs: Inputs) -> Set[alike.Key]:
        """The items of the later side of which the same comes here: nobody compares their files."""
        self.expects(inputs)
        try:
            if not self._options or self._committed:
                return frozenset()
            folder, (scope, *others) = load.scopes(self._options, self._scope)
            if others:
                return frozenset()
            self._read = folder, scope, load.inputs(scope._replace(options=scope.options._replace(read=inputs.read)))
        except git.Unreadable:
            raise
        except RenderError:  # said where this side is rendered
            return frozenset()
        self._alike = alike.items(inputs, self._read[2][0])
        return self._alike

    def made(self, others: Set[str], done: Rendered | None) -> tuple[list[Text], list[str]]:
        """Its files, and notes. `others`: the paths of the later side; `done`: what came of that when all was well."""
        if not self._options:
            return [], []
        if self._committed:
            scope, ours = self._committed
            return [each for each in ours if each.path in others or _made_from(each, scope.prunes)], []
        if self._form == "rendered":
            return [], [f"{self._name} holds no rendered files, so everything counts as added"]
        return self._rendered(self._options, f"base {self._name}", done)

    def _rendered(self, options: Options, name: str, done: Rendered | None) -> tuple[list[Text], list[str]]:
        """What the inputs render to, as far as they are valid, and notes about the rest."""
        options = options._replace(texts=True)
        try:
            if done and self._read:
                folder, scope, read = self._read
                known = Known(self._alike, alike.models(done.inputs, read[0], done.problems), done.spared)
                options = options._replace(known=known)
                made = pipeline.render(options, (folder, [scope._replace(options=options)]), lambda _: read)
            else:
                made = pipeline.render(options)
        except git.Unreadable:
            raise
        except RenderError as error:
            return [], [f"{name} cannot be rendered, so everything counts as added", *_said(error.problems)]
        wrong = [each for each in made.problems if each.forbids()]
        if not wrong:
            return made.texts, []
        return made.texts, [f"{name} has errors, and what is wrong there counts as added", *_said(wrong)]

    @cached_property
    def _committed(self) -> tuple[Scope, list[Text]] | None:
        """The files of ours that the commit holds in its output folder; None without any."""
        if not self._options or self._form == "inputs":
            return None
        try:
            scope = self._scope = load.scope(self._options)
        except git.Unreadable:
            raise
        except RenderError:
            return None
        listed = {
            path: entry
            for path, entry in self._ground.below(scope.folder).items()
            if entry.mode != "120000" and path.endswith((".yaml", ".yml", ".json"))
        }
        datas = self._ground.contents([entry.path for entry in listed.values()])
        mark = MARK.encode()
        ours = [(path, data) for path, data in zip(listed, datas, strict=True) if data.startswith(mark)]
        texts = [Text(path, data.decode("utf-8", "replace").replace("\r\n", "\n")) for path, data in ours]
        return (scope, texts) if ours else None


def _made_from(text: Text, prunes: Sequence[str]) -> bool:
    """Whether the file's first line names an input below these paths; all, where there are none."""
    line = text.text.partition("\n")[0]
    source = line[len(MARK) : -len(_END)] if line.endswith(_END) else ""
    return not prunes or any(source == path or source.startswith(f"{path}/") for path in prunes)


def _said(problems: Iterable[Problem]) -> list[str]:
    listed = [str(each).partition("\n")[0] for each in sorted(set(problems)) if each.forbids()]
    return listed[:_NOTES] + ([f"and {len(listed) - _NOTES} errors more"] if len(listed) > _NOTES else [])
