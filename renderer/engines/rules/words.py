"""Words of a command line that belong to no option: a command that is repeated, the model in the wrong place, and no
model at all. presets/engine_commands.yaml says how each program reads them, with its sources.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from renderer.diagnostics import Diagnostic, make_diagnostic, rule
from renderer.engines.handwritten_command import Word, is_shell
from renderer.engines.option_rules import OptionRules
from renderer.engines.option_validation import positional_indexes
from renderer.engines.running_engine import EngineLine, LineStart, RunningEngine


def free_words(line: EngineLine) -> int:
    """How many words without an option the program takes behind what stands in front: the model, or what it ignores."""
    start = line.start
    if start is None or start.first_model is not None:
        return 0
    is_named = start.program.words == "any" and _named_by_option(line, start)
    return int(start.program.words in ("any", "ignored") and not is_named)


def unused_model_option(line: EngineLine) -> str:
    """The option by which a line without a model has to name it; '' where it is named, or need not be an option."""
    start = line.start
    if start is None or start.program.words == "any" or start.first_model or _named_by_option(line, start):
        return ""
    return "".join(start.program.model[:1])


def _judged(line: EngineLine) -> object:
    return line.start and line.option_rules and line.is_own_image()


@rule(of=EngineLine, when=_judged)
def repeated_command(line: EngineLine) -> Iterator[Diagnostic]:
    """An error for a command behind itself, or behind an entrypoint that is the same: each program takes it for a
    model, or refuses it.
    """
    start, rules = line.start, line.option_rules
    if not (start and rules and start.repeated):
        return
    words = " ".join(word.text for word in start.repeated)
    giver = "the image's entrypoint is" if start.is_entrypoint else "the line begins with"
    hint = f"leave '{words}' out"
    if start.first_model and start.program.words in ("none", "ignored"):
        hint += f", and write {_option_and_model(start, start.first_model.text)} in place of '{start.first_model.text}'"
    params = {"of": rules.engine, "words": words, "giver": giver, "command": start.shown, "hint": hint}
    yield make_diagnostic(rules.code("E465"), start.repeated[0].origin, **params)


@rule(of=EngineLine, when=_judged)
def misplaced_model(line: EngineLine) -> Iterator[Diagnostic]:
    """An error for a model that the program ignores or refuses where it stands."""
    start, rules = line.start, line.option_rules
    if not (start and rules):
        return
    model = start.first_model
    if model and start.is_entrypoint and is_shell(model.text):
        what = f"'{model.text}' is an argument of the image's entrypoint, '{start.shown}'"
        hint = f"write '{model.text}' and what follows it under command, not under args"
        yield make_diagnostic(rules.code("E466"), model.origin, of=rules.engine, what=what, hint=hint)
    if line.hides_options:
        return
    if model and start.program.words in ("none", "ignored") and not start.repeated:
        yield from _without_option(line, start, rules, model)
        return
    layer = line.written[0]
    if model is None and start.program.words == "ignored":
        for i in positional_indexes(rules, layer.args)[:1]:
            yield from _without_option(line, start, rules, Word(layer.args[i], layer.origin_of(i)))
    for i, arg in enumerate(layer.args):
        if arg in start.program.refused and not (start.program.required and _has_model(line, start, rules)):
            text = "".join(layer.args[i + 1 : i + 2])
            what = f"'{start.shown}' does not start with {arg}"
            hint = f"write '{text}' in front of all options, without {arg}"
            if start.program.model:
                hint = f"write {start.program.model[0]} in place of {arg}"
            elif _has_model(line, start, rules):
                hint = f"leave {arg} and its value out"
            yield make_diagnostic(rules.code("E466"), layer.origin_of(i), of=rules.engine, what=what, hint=hint)
            return
    beside = [arg for arg in layer.args if arg.partition("=")[0].replace("_", "-") in start.program.first_beside]
    if model is None and beside and not _named_by_option(line, start) and not _names_file(line, start):
        for i in positional_indexes(rules, layer.args)[:1]:
            what = f"beside {beside[0]}, '{start.shown}' takes the model as its first argument alone"
            hint = f"write '{layer.args[i]}' in front of all options"
            yield make_diagnostic(rules.code("E466"), layer.origin_of(i), of=rules.engine, what=what, hint=hint)


def _without_option(line: EngineLine, start: LineStart, rules: OptionRules, model: Word) -> Iterator[Diagnostic]:
    """The error for a model that stands where the program reads none."""
    hint = f"write {_option_and_model(start, model.text)} in place of it"
    if start.program.words == "none":
        what = f"'{start.shown}' takes no argument without an option, such as '{model.text}'"
    else:
        what = f"'{start.shown}' ignores '{model.text}', and serves its own default model"
    if _named_by_option(line, start):
        hint = "leave it out: an option names the model"
        if start.program.words == "ignored":
            return
    yield make_diagnostic(rules.code("E466"), model.origin, of=rules.engine, what=what, hint=hint)


@rule(of=RunningEngine, when=lambda running: _judged(running.line))
def unnamed_model(running: RunningEngine) -> Iterator[Diagnostic]:
    """An error where nothing names the model: the program does not start, or serves one of its own. Not where nobody
    wrote a line at all: that may be a patch, or an operator may write it.
    """
    line = running.line
    start, rules = line.start, line.option_rules
    if not (start and rules and (start.program.required or start.program.default)) or line.hides_options:
        return
    if not (running.container.command or running.container.args):
        return
    if start.program.words == "none" and positional_indexes(rules, line.written[0].args):
        return  # its hint says how to name it
    if _has_model(line, start, rules) or _named_by_option(line, start) or _names_file(line, start):
        return
    layer, program = line.written[0], start.program
    if _named_by_variable(running, start) or any(arg in program.refused for arg in layer.args):
        return
    beside = any(arg.partition("=")[0].replace("_", "-") in program.first_beside for arg in layer.args)
    what = f"'{start.shown}' {'does not start' if program.required or beside else 'serves a default of its own'}"
    why, model = "", ""
    origin = layer.origin_of(0) if layer.args else running.origin_of((*running.path, "args"))
    if indexes := _taken_model(rules, layer.args):
        option, model = layer.args[indexes[0]].partition("=")[0], layer.args[indexes[1]]
        why, origin = f", since {option} takes '{model}' as one of its values", layer.origin_of(indexes[1])
    hint = f"write '{model}' in front of all options" if model else "write the model in front of all options"
    if program.words in ("none", "ignored"):
        hint = (
            f"write {_option_and_model(start, model)} in place of it"
            if model
            else f"add {program.model[0]} with the model"
        )
    if origin is not None:
        yield make_diagnostic(rules.code("E467"), origin, of=rules.engine, why=why, what=what, hint=hint)


def _has_model(line: EngineLine, start: LineStart, rules: OptionRules) -> bool:
    """Whether a word without an option is the model."""
    takes = start.program.words in ("any", "ignored")
    return start.first_model is not None or (takes and bool(positional_indexes(rules, line.written[0].args)))


def _taken_model(rules: OptionRules, args: Sequence[str]) -> tuple[int, int] | None:
    """The index of an option that takes several values, and that of the last, which looks like the model; None without
    one.
    """
    style = rules.style
    for i, arg in enumerate(args):
        option = rules.option_list.options.get(style.head(arg)[0]) if arg.startswith("-") else None
        if option is None or option.arity not in "+*" or option.type or option.choices.values:
            continue
        end = next((n for n in range(i + 1, len(args)) if style.is_option(args[n])), len(args))
        if end > i + 2 and "/" in args[end - 1] and "=" not in args[end - 1]:
            return i, end - 1
    return None


def _named_by_option(line: EngineLine, start: LineStart) -> bool:
    """Whether an option names the model."""
    style, program = line.engine.style, start.program
    names = {*program.model, *map(style.name, program.model)}
    glued = () if program.required else tuple(f"{option}=" for option in program.refused)
    options = [arg for arg in line.args if arg[:1] == "-" and arg.partition("=")[0] not in program.refused]
    return any(arg.partition("=")[0] in names or style.name(arg) in names for arg in options) or (
        bool(glued) and any(arg.startswith(glued) for arg in line.args)
    )


def _names_file(line: EngineLine, start: LineStart) -> bool:
    """Whether an option names a file in which the model may stand."""
    return any(arg.partition("=")[0] in start.program.files for arg in line.args)


def _named_by_variable(running: RunningEngine, start: LineStart) -> bool:
    """Whether a variable may name the model."""
    variables = start.program.variables
    return bool(variables and (running.container.rest.get("envFrom") or running.has_variable(variables)))


def _option_and_model(start: LineStart, model: str) -> str:
    return f"'{start.program.model[0]}', '{model}'"
