"""Whether an engine asks of a model what it cannot do, as the facts of our model presets say."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.check.engines.neighbours import PlacedEngine
from renderer.diagnostics import Diagnostic, make_diagnostic, rule
from renderer.engines.container_engine import known_facts
from renderer.engines.given_options import last_given_number
from renderer.engines.longer_context import beyond_context
from renderer.engines.rules.accelerators import undivided_heads
from renderer.kubernetes.json_values import map_at, maps_at, number_at


@rule(of=PlacedEngine)
def beyond_the_model(placed: PlacedEngine) -> Iterator[Diagnostic]:
    """A warning where attention heads are not divisible by the tensor parallel size, or the context is longer than that
    of the model.
    """
    container, line = placed.container, placed.line
    facts = known_facts(placed.catalog, container.recognised)
    if not facts or not line.args:
        return
    size = last_given_number(line.engine.style, line.written, line.engine.size_options)
    if size and size.value and (words := undivided_heads(map_at(facts, "attention"), size.value)):
        yield make_diagnostic("W226", size.origin, **words)
    length = last_given_number(line.engine.style, line.written, line.engine.length_options)
    longest = number_at(facts, "contextLength")
    if length and longest and length.value > longest:
        variables = [variable.get("name") for variable in maps_at(container.body, "env")]
        if beyond := beyond_context(line.backend, line.args, variables, length.value, longest):
            yield make_diagnostic("W227", length.origin, **beyond)
