"""Several main models in one server that reads the options of each from a file (`engine.models.file` of the preset;
docs/sources.md#several-models-in-one-server): a section for each, and one with what all of them share.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from renderer.diagnostics import Collector, Origin
from renderer.engines.dialect import ArgLayer
from renderer.engines.given_options import option_names
from renderer.engines.models_file import ON, SHARED, header_line, pair_line
from renderer.resolve import claims, tasks
from renderer.resolve.engine import arg_merge
from renderer.resolve.engine.backend_runtime import RunnerSize, model_settings
from renderer.resolve.workload.engine_process import EngineProcess, ModelFile
from renderer.resolve.workload.engine_run import EngineChoice, EngineRun, MainModel, run_engine


class FileOption(Struct, frozen=True):
    """An option of a model's section."""

    option: str  # in the preset's spelling
    values: Sequence[str]
    origin: Origin

    @property
    def key(self) -> str:
        """Its key in the file."""
        return self.option.lstrip("-")


class ModelSection(Struct, frozen=True, eq=False):
    """The section of a main model."""

    main: MainModel
    process: EngineProcess  # the whole command line that it stands for

    @property
    def options(self) -> list[FileOption]:
        """Its options, without those of the server itself."""
        return list(_options(self.process))


def model_sections(
    run: EngineRun, choice: EngineChoice, size: RunnerSize, mode: str, diagnostics: Collector
) -> list[tuple[MainModel, EngineRun]]:
    """Each main model, with how the engine would serve it alone. Raises Stop as `run_engine` does."""
    base = choice.base
    alone = []
    for i, main in enumerate(run.mains):
        model = main.claimed.model
        claim = replace(base.claim, models=(main.claimed,), main=model, task=tasks.task_of(model), mains=1, loaded=1)
        # The flavors are the first model's, and what is wrong with them is told of it.
        placement = replace(base.placement, flavors=()) if i else base.placement
        sources, weights = base.sources[i : i + 1], base.weights[i : i + 1]
        own_base = replace(base, claim=claim, sources=sources, weights=weights, placement=placement)
        own_choice = replace(choice, base=own_base, model_settings=model_settings(model, choice.engine))
        alone.append((main, run_engine(own_choice, size, mode, diagnostics)))
    return alone


def server_process(process: EngineProcess, sections: Sequence[ModelSection]) -> EngineProcess:
    """The command line of the server, beside its file. `process`: that of the first model alone."""
    run = process.run
    fill, path = run.engine.args_of_several, run.engine.spec["models"]["file"]["path"]
    layer = ArgLayer(list(fill(run.words)) if fill else [], run.engine.origin.at("engine", "models", "file", "args"))
    args, form = arg_merge.merge_args(run.engine.style, [layer])
    return replace(
        process,
        layers=[layer],
        user_layers=[],
        args=args,
        form=form,
        user_options=frozenset(),
        left_out=(),
        model_file=ModelFile(path, tuple(_lines(run, sections))),
    )


def _options(process: EngineProcess) -> Iterator[FileOption]:
    engine, rules = process.run.engine, process.option_rules
    style, own = engine.style, engine.spec["models"]["file"]["args"]
    on_line, listed = option_names(style, own), rules.option_list.options if rules else {}
    option, values, origin, due = "", list[str](), engine.origin, 0
    for arg, (place, _) in zip(process.args, process.arg_origins(), strict=True):
        if due or not style.is_option(arg):  # a value that is due may begin with a dash
            values.append(arg)
            due = max(due - 1, 0)
            continue
        if option and option not in on_line:
            yield FileOption(option, values, origin)
        option, values, origin = style.name(arg), [], place
        entry = listed.get(style.head(arg)[0])
        due = int(entry.arity) if entry and entry.arity.isdigit() else 0
    if option and option not in on_line:
        yield FileOption(option, values, origin)


def _lines(run: EngineRun, sections: Sequence[ModelSection]) -> Iterator[tuple[str, Origin]]:
    """The lines of the file, and what each is of."""
    pairs = [
        {option.key: (" ".join(option.values) or ON, option.origin) for option in section.options}
        for section in sections
    ]
    first, *others = pairs
    shared = {
        key: value
        for key, value in first.items()
        if all(key in other and other[key][0] == value[0] for other in others)
    }
    preload, app = run.engine.spec["models"]["file"].get("preload", ""), run.base.app
    yield from _section(SHARED, shared, claims.claim_origin(app))
    for section, own in zip(sections, pairs, strict=True):
        origin = app.origin(*section.main.claimed.path)
        left = {key: value for key, value in own.items() if key not in shared}
        if preload and section.main.preload:
            left[preload] = ON, app.origin(*section.main.claimed.path[:-1], "preload")
        yield "", origin
        yield from _section(section.main.claimed.model.name, left, origin)


def _section(name: str, pairs: Mapping[str, tuple[str, Origin]], origin: Origin) -> Iterator[tuple[str, Origin]]:
    yield header_line(name), origin
    for key, (value, value_origin) in pairs.items():
        yield pair_line(key, value), value_origin
