"""On which types of accelerators a model preset fits, and on how many."""

from __future__ import annotations

from msgspec.structs import replace

from renderer import load
from renderer.fit.accelerator_types import AcceleratorType
from renderer.fit.attention import read_attention
from renderer.fit.budget import Budget
from renderer.fit.kv_cache import CacheSettings
from renderer.fit.verdict import CONTEXT, FITS, TIGHT, WEIGHTS, FitQuestion, judge_fit
from renderer.fit.weights import read_weights
from renderer.kubernetes.json_values import map_at, number_at, text_at
from renderer.load import PresetRefused
from renderer.load.preset_files import accelerator_types
from renderer.schema_validation import spec_default

COUNTS = (1, 2, 4, 8, 16)
_WORDS = {TIGHT: "tight", CONTEXT: "context", WEIGHTS: "weights"}
_LEGEND = """\
A number is how many requests of that length fit at once. tight: within 5 % of the memory, nobody knows. context: a
shorter one may fit. weights: they do not fit. -: the attention heads cannot be shared out alike.
"""


def fit_table(name: str, backend: str = "") -> str:
    """A table of types and counts that share each layer, for the model preset `name` with its longest context on a
    backend as it is shipped; '': that of Playgrounds that name none. Raises PresetRefused for a name that is not known,
    for a model without the facts, and for a backend that says nothing of memory.
    """
    backend = backend or str(spec_default("Playground", "backendRuntimeConfig", "backendName"))
    path = load.find_preset(name, load.preset_paths())
    if not path.startswith("models/"):
        raise PresetRefused(f"'{name}' is not a model")
    if backend not in load.preset_names("backends"):
        raise PresetRefused(f"no backend is named '{backend}'")
    runtime = load.preset(f"backends/{backend}").value["spec"]
    facts, memory = map_at(load.preset(path).value, "spec", "facts"), map_at(runtime, "engine", "memory")
    weights = read_weights(facts)
    if memory.get("offload") != "none":
        raise PresetRefused(f"'{backend}' says nothing of what it leaves for the KV cache")
    if weights is None:
        raise PresetRefused(f"'{name}' lacks facts.weightsGiB, and parameters with a precision that is known")
    question = FitQuestion(
        AcceleratorType("", "", 0),
        Budget(text_at(memory, "budget"), number_at(memory, "fraction", "default", default=1)),
        weights,
        CacheSettings(batched_tokens=int(number_at(memory, "batchedTokens", "default", default=2048))),
        read_attention(facts),
        int(number_at(facts, "contextLength")),
    )
    heads = int(number_at(facts, "attention", "heads"))
    size = f"{weights.gib:.1f} GiB of weights" if weights.is_measured else f"about {weights.gib:.0f} GiB of weights"
    head = f"{path.partition('/')[2]} on {backend} {text_at(runtime, 'version')}: {size}, {question.length:,} tokens\n"
    known = sorted(accelerator_types().by_name.values(), key=lambda known: (known.memory_gib, known.name))
    width = max(len(accelerator.name) for accelerator in known)
    titles = "".join(f"{count:>9}" for count in COUNTS)
    lines = [f"  {'type':<{width}}  {'GiB':>6}{titles}\n"]
    for accelerator in known:
        cells = "".join(f"{_cell(replace(question, accelerator=accelerator), count, heads):>9}" for count in COUNTS)
        lines.append(f"  {accelerator.name:<{width}}  {accelerator.memory_gib:>6.1f}{cells}\n")
    return f"{head}\n{''.join(lines)}\n{_LEGEND}"


def _cell(question: FitQuestion, count: int, heads: int) -> str:
    """The answer for accelerators that share each layer. `heads`: of the model, 0 where nobody says it."""
    if heads % count:
        return "-"
    verdict = judge_fit(replace(question, settings=replace(question.settings, tensor=count)))
    if verdict.kind != FITS:
        return _WORDS[verdict.kind]
    return f"{verdict.requests:.1f}" if verdict.requests else "fits"
