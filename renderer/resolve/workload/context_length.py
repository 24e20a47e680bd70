"""The longest request of an engine."""

from __future__ import annotations

from renderer.engines.given_options import last_number, option_names
from renderer.kubernetes.json_values import number_at, text_at
from renderer.resolve.workload.engine_process import EngineProcess


def longest_context(command: EngineProcess) -> int:
    """Its tokens, by the command line, else by what is known of the model; 0 where nobody knows."""
    engine, base = command.run.engine, command.run.base
    if (tokens := last_number(engine.style, command.args, engine.length_options)) is not None:
        return 0 if engine.shared_tokens and engine.shared_tokens.options & command.user_options else tokens
    if engine.shared_tokens or not engine.length_options.isdisjoint(option_names(engine.style, command.args)):
        return 0
    spec = base.claim.main.spec
    facts = spec.get("facts") or base.context.known_engines.model_facts(text_at(spec, "source", "modelHub", "modelID"))
    return int(number_at(facts, "contextLength"))
