"""What does not go with the options of the version that runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from renderer.diagnostics import Diagnostic, Origin, make_diagnostic, meant_name, rule
from renderer.engines.dialect import ArgLayer
from renderer.engines.given_options import json_map, option_values, value_or_key, with_whole, written_options
from renderer.engines.handwritten_command import option_variable, table_entry
from renderer.engines.option_rules import OptionFinding, OptionRules
from renderer.engines.option_validation import plugged_options, validate_options
from renderer.engines.rules.words import free_words, unused_model_option
from renderer.engines.running_engine import EngineLine, RunningEngine
from renderer.engines.version_order import in_range
from renderer.kubernetes.json_values import as_map, map_at, maps_at, text_at, texts_at
from renderer.text.suggestions import closest

_NEAR = 0.9  # one letter in ten may be wrong or missing
_NEAR_KEY = 0.75  # how similar a key has to be that is proposed
# What somebody else's image may know is a warning.
_KNOWN_BY_OTHERS = {"E440": "W440", "E477": "W477", "E478": "W478"}


@rule(of=EngineLine)
def refused_options(line: EngineLine) -> Iterator[Diagnostic]:
    """What the engine's own parser would refuse: unknown options, values that are missing, too many or none of those
    that an option takes. Only a warning for such a value where somebody else's image may know it.
    """
    if (rules := line.option_rules) is None:
        return
    plugged = plugged_options(rules, (arg for layer in line.written for arg in layer.args))
    free = free_words(line)
    model_option = unused_model_option(line)
    findings_by_args = line.engine.option_findings
    for layer in line.written:
        key = line.version, plugged, free, model_option, tuple(layer.args)
        findings = findings_by_args.get(key)
        if findings is None:
            findings = findings_by_args[key] = validate_options(
                rules, layer.args, free, plugged=plugged, model_option=model_option
            )
        for finding in findings:
            words = finding.words
            if finding.code == "E440" and (own_option := _given_before(line, layer, str(words["option"]))):
                words = {**words, "hint": f"leave it out: the model has '{own_option}' of its own"}
            code = _KNOWN_BY_OTHERS.get(finding.code, "")
            code = code if code and not line.is_own_image() else finding.code
            if code == "W478" and not line.is_own_image() and _is_of_a_module(rules, finding):
                continue
            yield make_diagnostic(code, layer.origin_of(finding.index), **words)


def _is_of_a_module(rules: OptionRules, finding: OptionFinding) -> bool:
    """Whether a value of a key that modules add to is unlike what the version itself has: an image may have modules."""
    words = {name: str(word) for name, word in finding.words.items()}
    place = f"{rules.style.name(words['option'])}.{words['key']}"
    if not any(place in places for places in rules.plugins.values()):
        return False
    return not closest(words["value"], sorted(rules.keys()[f"{place}="].names), _NEAR)


def _given_before(line: EngineLine, layer: ArgLayer, option: str) -> str:
    """An option with its value as a layer before this one gives it, such as that of a model; '' where none does."""
    style = line.engine.style
    for earlier in line.written[: next(i for i, other in enumerate(line.written) if other is layer)]:
        for token, value in zip(earlier.args, (*earlier.args[1:], ""), strict=True):
            if style.name(token) == style.name(option):
                return token if "=" in token else f"{token} {value}"
    return ""


def _has_refused(running: RunningEngine) -> bool:
    """Whether the line has an option that the engine may refuse without another one."""
    rules = running.line.option_rules
    return rules is not None and not running.line.options.isdisjoint(rules.requires)


@rule(of=RunningEngine, when=_has_refused)
def options_without_companions(running: RunningEngine) -> Iterator[Diagnostic]:
    """An error for each option that the engine refuses without another one, which is not there."""
    line, rules = running.line, running.line.option_rules
    if rules is None:
        return
    for origin, words in _lonely_options(running, rules, line.written, rules.requires):
        hint = f"write {words['missing']} beside it, or leave it out"
        yield make_diagnostic(rules.code("E443"), origin, hint=hint, **words)


@cache
def _keyed_options(backend: str) -> frozenset[str]:
    """The options with JSON of which a key takes another one, as a whole and by that key."""
    rows = [(text_at(row, "option"), text_at(row, "key")) for row in maps_at(table_entry(backend), "requiredKeys")]
    return frozenset(name for option, key in rows for name in (option, f"{option}.{key}"))


@rule(of=EngineLine, when=lambda line: not line.options.isdisjoint(_keyed_options(line.backend)))
def keys_without_companions(line: EngineLine) -> Iterator[Diagnostic]:
    """An error for each key of an option's JSON that the engine refuses without another one, which is not there."""
    rules = line.option_rules
    for row in maps_at(table_entry(line.backend), "requiredKeys") if rules else ():
        option, key, needed = (text_at(row, name) for name in ("option", "key", "needs"))
        content = _json_of(line, option)
        if rules is None or not content.get(key) or closest(needed, [*content], _NEAR):
            continue  # or it is misspelt, which is said elsewhere
        if "values" in row and content[key] not in texts_at(row, "values"):
            continue
        if line.version and not in_range(row, line.version):
            continue
        names = (option, f"{option}.{key}")
        for written in written_options(line.engine.style, line.written, names):
            if written.name == option and key not in json_map(written.value):
                continue
            spelled = written.text.partition("=")[0]
            is_key = written.name != option
            missing = f"{option}.{needed}" if is_key else f"the key {needed}"
            hint = f"write {missing} beside it" if is_key else f"add {needed} to its JSON"
            words = {"of": rules.engine, "option": spelled, "missing": missing, "hint": f"{hint}, or leave it out"}
            yield make_diagnostic(rules.code("E443"), written.origin, **words)
            break


@cache
def _read_keys(backend: str) -> Mapping[str, frozenset[str]]:
    """The keys that are read of an option's JSON, by option."""
    return {
        text_at(row, "option"): frozenset(texts_at(row, "keys")) for row in maps_at(table_entry(backend), "ignoredKeys")
    }


@rule(of=EngineLine, when=lambda line: not line.options.isdisjoint(_read_keys(line.backend)))
def ignored_keys(line: EngineLine) -> Iterator[Diagnostic]:
    """A warning for each key of an option's JSON that nothing reads."""
    rules, read_keys = line.option_rules, _read_keys(line.backend)
    for option in written_options(line.engine.style, line.written, read_keys) if rules else ():
        known = read_keys[option.name]
        for key in json_map(option.value):
            if rules is None or key in known or "$(" in key:
                continue
            near = closest(key, sorted(known), _NEAR_KEY)
            hint = meant_name(key, near) if near else "leave it out: nothing reads it"
            yield make_diagnostic("W477", option.origin, of=rules.engine, option=option.name, key=key, hint=hint)


@cache
def _rope_options(backend: str) -> frozenset[str]:
    """The options whose JSON says how a context is stretched."""
    return frozenset(texts_at(table_entry(backend), "longerContext", "settings"))


@rule(of=EngineLine, when=lambda line: not line.options.isdisjoint(_rope_options(line.backend)))
def quoted_factors(line: EngineLine) -> Iterator[Diagnostic]:
    """A warning for a number in quotes among the settings that stretch a context: the engine multiplies by it."""
    rules = line.option_rules
    for option in written_options(line.engine.style, line.written, _rope_options(line.backend)) if rules else ():
        settings = json_map(option.value)
        for name, part in (("", settings), *((f"{name}.", as_map(part)) for name, part in settings.items())):
            value = part.get("factor") if "rope_type" in part or "type" in part else None
            if rules and isinstance(value, str) and "$(" not in value:
                words = {"of": rules.engine, "option": option.name, "key": f"{name}factor", "value": value}
                yield make_diagnostic("W478", option.origin, hint="write a number, without quotes", **words)


def _json_of(line: EngineLine, option: str) -> dict[str, object]:
    """The keys of an option's JSON, whether it is given as a whole or by key."""
    content: dict[str, object] = {}
    for i, token in enumerate(line.args):
        name, _, key = line.engine.style.name(token).partition(".") if token[:1] == "-" else ("", "", "")
        if name == option:
            value = token.partition("=")[2] if "=" in token else "".join(line.args[i + 1 : i + 2])
            content |= {key.partition(".")[0]: value} if key else json_map(value)
    return content


@cache
def _incompatible_options(backend: str) -> frozenset[str]:
    """The options that the engine refuses beside or without others, or for some models."""
    rows = maps_at(table_entry(backend), "incompatible")
    return frozenset(name for row in rows for name in with_whole(text_at(row, "option")))


@rule(
    of=RunningEngine,
    when=lambda running: not running.line.options.isdisjoint(_incompatible_options(running.line.backend)),
)
def incompatible_options(running: RunningEngine) -> Iterator[Diagnostic]:
    """An error for each option that the engine refuses beside or without another one, or for the architecture of the
    model.
    """
    line, rules = running.line, running.line.option_rules
    if rules is None or not rules.is_certain or not line.version or not line.is_own_image():
        return
    for row in maps_at(table_entry(line.backend), "incompatible"):
        option, other, values = text_at(row, "option"), text_at(row, "with"), texts_at(row, "values")
        names = frozenset((*with_whole(option), other))
        if line.options.isdisjoint(with_whole(option)) or not in_range(row, line.version):
            continue
        companions = texts_at(row, "without")
        heads = [name for companion in companions for name in with_whole(companion)]
        line_values = option_values(line.engine.style, line.args, names.union(heads))
        value = value_or_key(line_values, option)
        if values and not rules.is_among(option, value, values):
            continue
        if any(companion in line_values or value_or_key(line_values, companion) for companion in companions):
            continue
        vendor = text_at(row, "vendor", default=line.shared.accelerator.vendor)
        if vendor != line.shared.accelerator.vendor or _may_be_set(running, text_at(row, "unlessVariable")):
            continue
        beside = _other_option(rules, row, line_values) if other else _kind_of_model(row, running.facts())
        written = next(written_options(line.engine.style, line.written, names), None) if beside else None
        if written:
            hint = text_at(row, "hint") or ("leave one of the two out" if other else "leave it out")
            shown = f"{option} {value}" if values else option
            yield make_diagnostic("E499", written.origin, of=rules.engine, option=shown, beside=beside, hint=hint)


def _other_option(rules: OptionRules, row: Mapping[str, object], line_values: Mapping[str, str]) -> str:
    """The option beside which another one is refused, in words; '' where it is not there."""
    other = text_at(row, "with")
    if other not in line_values:
        return ""
    if "withValues" not in row:
        return f"beside {other}"
    value = line_values[other]
    return f"beside {other} {value}" if rules.is_among(other, value, texts_at(row, "withValues")) else ""


def _kind_of_model(row: Mapping[str, object], facts: Mapping[str, object]) -> str:
    """The kind of models for which an option is refused, in words, or where it is for all; '' where the model is none
    of them.
    """
    architecture, stored = text_at(facts, "architecture"), text_at(facts, "quantization").lower()
    if architecture in texts_at(row, "architectures"):
        return f"for {architecture}, {text_at(row, 'why')}"
    if stored in texts_at(row, "weights") and text_at(row, "unless") not in map_at(facts, "attention"):
        return f"for weights that are stored as {stored}"
    return "" if "architectures" in row or "weights" in row else text_at(row, "why")


def _may_be_set(running: RunningEngine, variable: str) -> bool:
    """Whether the container may have a variable."""
    return bool(variable) and (running.has_variable((variable,)) or "envFrom" in running.container.rest)


def _has_idle(running: RunningEngine) -> bool:
    """Whether the line has an option that may do nothing without another one."""
    rules = running.line.option_rules
    return rules is not None and not running.line.options.isdisjoint(rules.idle_without)


@rule(of=RunningEngine, when=_has_idle)
def idle_options(running: RunningEngine) -> Iterator[Diagnostic]:
    """A warning for each option that does nothing without another one, which is not there."""
    line, rules = running.line, running.line.option_rules
    if rules is None:
        return
    layers = [layer for layer in line.written if not any(layer.origin.source is source for source in line.shipped)]
    for origin, words in _lonely_options(running, rules, layers, rules.idle_without):
        yield make_diagnostic("W468", origin, **words)


def _lonely_options(
    running: RunningEngine, rules: OptionRules, layers: Iterable[ArgLayer], companions: Mapping[str, Sequence[str]]
) -> Iterator[tuple[Origin, dict[str, str]]]:
    """Where each option in the layers is that lacks one of its companions, on the line and in variables, and the words
    about it.
    """
    for option in written_options(running.line.engine.style, layers, companions):
        missing = " and ".join(other for other in companions[option.name] if not _is_said(running, other))
        if missing:
            spelled = option.text.partition("=")[0]
            yield option.origin, {"of": rules.engine, "option": spelled, "missing": missing}


def _is_said(running: RunningEngine, option: str) -> bool:
    """Whether the line has an option, or the beginning of it, or a variable may say it."""
    line = running.line
    known = line.option_rules.option_list.options if line.option_rules else {}
    if option in line.options or any(option.startswith(word) for word in line.options if word not in known):
        return True
    return _may_be_set(running, option_variable(table_entry(line.backend), option))
