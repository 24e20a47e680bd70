"""Groups of several hosts that share each layer over the network of all pods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from renderer import load
from renderer.diff.gpus import count_gpus
from renderer.diff.models import ModelChange, ModelSummary
from renderer.diff.risks.kinds import Risk
from renderer.engines.given_options import last_number
from renderer.engines.known_engine import build_dialect, size_options

if TYPE_CHECKING:
    from renderer.input_types import BackendRuntimeSpec


def tensor_over_hosts(models: Iterable[ModelChange]) -> Iterator[Risk]:
    """Models of another number of hosts than before, whose tensor parallel group is more than the accelerators of one,
    and whose pods name no network for it. Their nodes may have RDMA all the same.
    """
    for change in models:
        after = change.after
        if not after or not after.has_plain_network or (change.before and change.before.size == after.size):
            continue
        count, _ = count_gpus(after.gpus)
        tensor = _tensor_size(after)
        if tensor > count // after.size:
            text = (
                f"{after.size} hosts exchange after each layer (tensor {tensor}), by TCP unless their nodes have RDMA"
            )
            yield Risk("group-network", change.object_key, text)


def _tensor_size(model: ModelSummary) -> int:
    """The tensor parallel size on the command line of a backend that is a preset; 0 without one."""
    backend = model.annotations.get("backend", "")
    if backend not in load.preset_names("backends"):
        return 0
    spec: BackendRuntimeSpec = load.preset(f"backends/{backend}").value["spec"]
    style = build_dialect(spec, None)
    return last_number(style, model.leader.args, size_options(style, spec.get("engine") or {}).size) or 0
