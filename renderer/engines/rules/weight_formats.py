"""Whether the weights of the model are stored in the format that the command line names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from renderer.diagnostics import Diagnostic, make_diagnostic, rule
from renderer.engines.given_options import written_options
from renderer.engines.handwritten_command import table_entry
from renderer.engines.running_engine import RunningEngine
from renderer.kubernetes.json_values import map_at, text_at, texts_at

_UNQUANTIZED = frozenset(("bf16", "bfloat16", "fp16", "float16", "fp32", "float32"))


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
    stored, precision = (text_at(facts, key).lower() for key in ("quantization", "precision"))
    formats = _formats(line.backend)
    for option in written_options(line.engine.style, line.written, (_option(line.backend),)):
        needed_format = next((name for name, values in formats.items() if option.value in values), "")
        others = [word for word in (*line.args, *running.container.args) if word != option.value]
        if not needed_format or any(
            needed_format in word.lower() for word in others if not word.startswith(option.name)
        ):
            continue  # the name of the model, or of its repository, says that format
        if (stored in formats and stored != needed_format) or (not stored and precision in _UNQUANTIZED):
            words = {
                "option": option.name,
                "value": option.value,
                "format": needed_format,
                "stored": stored or precision,
            }
            yield make_diagnostic("W482", option.origin, engine=line.engine.names.engine or line.backend, **words)
