"""What may surprise at the next rollout of an engine that others deploy: other code than was read, and accelerators
that are in use. Both hold of nearly every tree, and are told with --strict alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from renderer.check.engines.neighbours import PlacedEngine
from renderer.diagnostics import Diagnostic, make_diagnostic, rule
from renderer.engines.given_options import option_values
from renderer.engines.handwritten_command import table_entry
from renderer.kubernetes.json_values import map_at, number_at, text_at, texts_at

_COMMIT = re.compile(r"[0-9a-f]{7,40}")
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
_QUARTER = 25  # percent of the replicas, rounded down, that may be down by default


@rule(of=PlacedEngine)
def moving_code(placed: PlacedEngine) -> Iterator[Diagnostic]:
    """A note for an option that runs code of the model's repository where no commit of it is named."""
    command, line = placed.container.recognised.command, placed.line
    engine, style = placed.container.recognised.engine.runtime, line.engine.style
    options = {*texts_at(engine.spec, "engine", "options", "runsCode")}
    index = next((i for i, arg in enumerate(line.args) if arg[:1] == "-" and style.name(arg) in options), None)
    if index is None:
        return
    entry = table_entry(engine.name)
    names = {field: frozenset(map(style.name, entry.get(field) or ())) for field in ("revision", "weights")}
    values = {field: option_values(style, line.args, options) for field, options in names.items()}
    model = command.first_model.text if command.first_model else "".join(values["weights"].values())
    revisions = values["revision"].values()
    if _HUB_ID.fullmatch(model) and entry.get("revision") and not any(map(_COMMIT.fullmatch, revisions)):
        words = {"option": line.args[index], "model": model, "revision": entry["revision"][0]}
        yield make_diagnostic("N472", line.written[0].origin_of(index), **words)


@rule(of=PlacedEngine, when=lambda placed: placed.line.shared.accelerator.number)
def waiting_rollout(placed: PlacedEngine) -> Iterator[Diagnostic]:
    """A note for a Deployment that by default ends no pod before another one is ready: it waits for accelerators that
    are free. Whoever says how many pods may be down has chosen.
    """
    document, accelerator = placed.container.document, placed.line.shared.accelerator
    value = document.value
    strategy = map_at(value, "spec", "strategy")
    if text_at(value, "kind") != "Deployment" or text_at(strategy, "type") not in ("", "RollingUpdate"):
        return
    replicas = int(number_at(value, "spec", "replicas", default=1))
    if "maxUnavailable" not in map_at(strategy, "rollingUpdate") and replicas and replicas * _QUARTER // 100 == 0:
        words = {"name": text_at(value, "metadata", "name"), "count": accelerator.number, "of": accelerator.resource}
        yield make_diagnostic("N473", document.origin("spec", "strategy"), **words)
