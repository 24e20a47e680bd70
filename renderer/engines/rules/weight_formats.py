"""Whether the engine loads the weights of the model, in the format in which they are stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from renderer.diagnostics import Diagnostic, make_diagnostic, rule
from renderer.engines.given_options import written_options
from renderer.engines.handwritten_command import table_entry
from renderer.engines.running_engine import RunningEngine
from renderer.kubernetes.json_values import map_at, maps_at, text_at, texts_at

# Precisions, and formats of weights that no option of `storedFormats` loads.
_OTHER_FORMATS = frozenset(("bf16", "bfloat16", "fp16", "float16", "fp32", "float32", "fp8", "mxfp4", "nvfp4"))


@cache
def _option(backend: str) -> str:
    """The option that names a format in which the weights have to be stored; '' where the engine has none."""
    return text_at(table_entry(backend), "storedFormats", "option")


def _formats(backend: str) -> Mapping[str, Sequence[str]]:
    """By format, the values of that option that need weights stored so."""
    formats = map_at(table_entry(backend), "storedFormats", "formats")
    return {name: texts_at(formats, name) for name in formats}


@rule(of=RunningEngine, when=lambda running: _option(running.line.backend) in running.line.options)
def other_format(running: RunningEngine) -> Iterator[Diagnostic]:
    """A warning for a format of weights that those of the model have not, as far as its facts say: the engine looks for
    the settings of that format beside them, and does not start.
    """
    line, facts = running.line, running.facts()
    stored = (text_at(facts, "quantization") or text_at(facts, "precision")).lower()
    formats = _formats(line.backend)
    for option in written_options(line.engine.style, line.written, (_option(line.backend),)):
        needed_format = next((name for name, values in formats.items() if option.value in values), "")
        texts = [*line.args, *running.container.args]
        others = " ".join(word for word in texts if word != option.value and not word.startswith(option.name)).lower()
        if not needed_format or needed_format in others:
            continue  # the name of the model, or of its repository, says that format
        named = next((name for name in formats if name in others), "")
        known_format = named or (stored if stored in formats or stored in _OTHER_FORMATS else "")
        is_alike = map_at(table_entry(line.backend), "storedFormats").get("alike") is True and known_format in formats
        if known_format and known_format != needed_format and not is_alike:
            words = {"option": option.name, "value": option.value, "format": needed_format, "stored": known_format}
            yield make_diagnostic("W482", option.origin, engine=line.engine.names.engine or line.backend, **words)


@cache
def _random_options(backend: str) -> Mapping[str, Sequence[str]]:
    """By option, the values with which an engine loads no weights."""
    rows = maps_at(table_entry(backend), "randomWeights")
    return {text_at(row, "option"): texts_at(row, "values") for row in rows}


@rule(of=RunningEngine, when=lambda running: not running.line.options.isdisjoint(_random_options(running.line.backend)))
def random_weights(running: RunningEngine) -> Iterator[Diagnostic]:
    """A warning for an engine that loads no weights."""
    line, options = running.line, _random_options(running.line.backend)
    for option in written_options(line.engine.style, line.written, options):
        if option.value in options[option.name]:
            yield make_diagnostic("W498", option.origin, option=option.name, value=option.value)
