"""On which types of accelerators a model fits, and on how many."""

from __future__ import annotations

from renderer.fit.accelerator_types import AcceleratorType
from renderer.fit.verdict import ACTIVATIONS, CONTEXT, FITS, TIGHT, WEIGHTS
from renderer.load.preset_files import accelerator_types
from renderer.preset_catalog.model_fit import COUNTS, ModelFit, model_fit

_WORDS = {TIGHT: "tight", ACTIVATIONS: "step", CONTEXT: "context", WEIGHTS: "weights"}
_LEGEND = """\
A number is how many requests of that length fit at once. tight: within 5 % of the memory, uncertain. step: the
activations of a step may take what a request needs. context: a shorter one may fit. weights: they do not fit. -: the
attention heads cannot be divided evenly. More than a host has are several hosts, which exchange after each layer: they
need RDMA or NVLink between them (docs/parallelism.md).
"""
_OF_WEIGHTS = """\
fits: the weights do; without facts.{fact} the memory of a request is unknown. tight: within 5 % of the memory,
uncertain. step: the activations of a step may take the rest. weights: they do not fit. -: the attention heads cannot
be divided evenly. More than a host has are several hosts, which exchange after each layer: they need RDMA or NVLink
between them (docs/parallelism.md).
"""
_OF_EXPERTS = """\
Not checked: whether several accelerators divide the blocks of its FP8 experts, of whose width there is no fact. Engines
end where they do not; with params.EP each accelerator has whole experts.
"""


def fit_table(name: str, backend: str = "") -> str:
    """A table of types and counts that share each layer, for the model `name`. Raises PresetRefused and
    RenderError as `model_fit` does.
    """
    fit = model_fit(name, backend)
    weights, length = fit.question.weights, fit.question.length
    size = f"{weights.gib:.1f} GiB of weights" if weights.is_measured else f"about {weights.gib:.0f} GiB of weights"
    tokens = f"{length:,} tokens" if length else "tokens not known"
    head = f"{fit.name} on {fit.backend} {fit.version}: {size}, {tokens}\n"
    known = sorted(accelerator_types().by_name.values(), key=lambda known: (known.memory_gib, known.name))
    width = max(len(accelerator.name) for accelerator in known)
    titles = "".join(f"{count:>9}" for count in COUNTS)
    lines = [f"  {'type':<{width}}  {'GiB':>6}{titles}\n"]
    for accelerator in known:
        cells = "".join(f"{_cell(fit, accelerator, count):>9}" for count in COUNTS)
        lines.append(f"  {accelerator.name:<{width}}  {accelerator.memory_gib:>6.1f}{cells}\n")
    legend = _OF_WEIGHTS.format(fact=fit.missing_fact) if fit.missing_fact else _LEGEND
    return f"{head}\n{''.join(lines)}\n{legend}{_OF_EXPERTS if fit.divides_experts else ''}"


def _cell(fit: ModelFit, accelerator: AcceleratorType, count: int) -> str:
    """The answer for accelerators that share each layer."""
    verdict = fit.verdict(accelerator, count)
    if verdict is None:
        return "-"
    if verdict.kind != FITS:
        return _WORDS[verdict.kind]
    return f"{verdict.requests:.1f}" if verdict.requests else "fits"
