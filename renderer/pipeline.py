"""The whole renderer: files → Inputs → Plans → Manifests → texts, and their folder, in each environment."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack, closing
from functools import partial
from operator import add

from renderer import check, emit, expand, load, resolve
from renderer.api import Options, Scope
from renderer.parallel import Team
from renderer.plan import Joint
from renderer.problems import Problem, failing
from renderer.work import Items, Made, Read, each, files, gathered, judged, over, parted, share, together
from renderer.work import Rendered as Rendered
from renderer.writer import OutputFolder


def apps(outside: check.Outside, memo: resolve.Memo, scope: Scope, items: Items, texts: bool) -> list[Made]:
    """Playgrounds, Services and what leads to them, from what the user wrote to `texts`, if wanted: stage by stage."""
    plans, problems = zip(*each(items, partial(resolve.plan, memo)), strict=True)
    made = each(items, expand.manifests, plans)
    wrong = each(items, check.batch(made, outside), made, each(items, resolve.leans, plans))
    files = each(items, partial(emit.texts if texts else emit.bare, layout=scope.layout), plans, made)
    return list(map(Made, made, files, map(add, problems, wrong), each(items, resolve.needs, plans)))


def shared(outside: check.Outside, joint: Joint) -> Made:
    """What apps share of one namespace, or of the cluster."""
    made = expand.shared(joint)
    return Made(made, emit.shared(joint, made), check.manifests(made, targets=outside.targets))


def render(options: Options, found: tuple[str, list[Scope]] | None = None, read: Read = load.inputs) -> Rendered:
    """Made and checked in each environment; written (`options.write`) when all is well. Raises RenderError."""
    folder, scopes = found or load.scopes(options)
    with ExitStack() as stack:
        alone = len(scopes) == 1
        turns = [stack.enter_context(closing(made(scope, read, alone))) for scope in scopes]
        done, gone = over(options, folder, scopes, [next(turn) for turn in turns])
        if options.write and not failing(done.problems, options.strict):
            with check.writable(scopes[0]):
                for turn in turns:
                    next(turn, None)
                emit.settle(scopes[0]._replace(folder=folder), (), {}, gone)
    return done


def made(scope: Scope, read: Read, alone: bool = True) -> Generator[Rendered]:
    """Everything is read, made and checked, then handed over; it is written when it is its turn again. Where there are
    other environments the workers have ended by then, for one a core is enough; they write where this one is `alone`.
    """
    options, (inputs, problems) = scope.options, read(scope)
    memo, outside = resolve.memo(inputs), check.around(inputs)
    problems += [*memo.problems, *resolve.dangling(memo), *resolve.clashes(inputs)]
    items, spared, known = parted(inputs, options)
    with Team(partial(share, partial(apps, outside), memo, scope, spared), items) as team:
        shares, aside = gathered(team.results(), known)
        problems += [Problem(*each) for made in shares for each in made["problems"]]
        states = {path: state for made in shares for path, state in made["states"]}
        joint, apart, found = together(partial(shared, outside), memo, scope, shares)
        common, odd = emit.common(scope, states, [text for made in joint for text in made.texts])
        problems += found + odd + load.nothing(inputs, scope, problems) + check.folder(scope, states)
        problems += check.charts(scope)
        if options.kubeconform and not failing(problems, options.strict):
            problems += [Problem(*each) for part in team.tell("kubeconform") for each in part] + judged(options, joint)
        problems += emit.findings(scope, beside := emit.leftovers(scope, states))
        made_texts = files(team.tell("texts")) if options.texts or (options.write and not alone) else []
        count = sum(made["objects"] for made in shares) + sum(len(made.manifests) for made in joint)
        states |= dict.fromkeys(beside.stale, "gone")
        texts = made_texts + common if options.texts else []
        done = Rendered(scope.folder, problems, states, texts, count, inputs, apart, aside)
        if alone:
            yield done
            team.tell("write")
    if not alone:
        yield done
        emit.write(OutputFolder(scope.folder), made_texts)
    emit.settle(scope, common, states, (*beside.stale, *beside.temporary))
