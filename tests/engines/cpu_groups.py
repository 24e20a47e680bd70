"""A plugin of vLLM, in its own process: what its builds for CPUs lack where several pods share a model.

Builds for GPUs have all of it, so nothing of this says that a GPU's works. Missing are two collectives of data parallel
experts, the map of experts that lie on other ranks, and the insight that pods of one rendezvous share no memory.
"""

from __future__ import annotations

import importlib
import inspect
import socket
from collections.abc import Sequence
from functools import wraps
from pathlib import Path
from typing import Any

GROUP = "vllm.general_plugins"


def register() -> None:
    """Puts it in place. vLLM calls this in each of its processes."""
    communicators = importlib.import_module("vllm.distributed.device_communicators.cpu_communicator")
    communicators.CpuCommunicator.all_gatherv = all_gatherv
    communicators.CpuCommunicator.reduce_scatterv = reduce_scatterv
    memory = communicators._CPUSHMDistributed
    name = memory.make_group_name
    memory.make_group_name = staticmethod(lambda communicator: f"{name(communicator)}-{socket.gethostname()}")
    experts = importlib.import_module("vllm.model_executor.layers.fused_moe.experts.cpu_moe").CPUUnquantizedExperts
    experts.apply = with_own_experts_only(experts.apply)


def all_gatherv(group: Any, own: Any, dim: int = 0, sizes: Sequence[int] | None = None) -> Any:
    """The tensors of all ranks one below the other, `sizes` their rows; of a list, each of its tensors so."""
    if isinstance(own, list):
        return [all_gatherv(group, one, dim, sizes) for one in own]
    torch = importlib.import_module("torch")
    own = own.contiguous()
    parts = []
    for number, rank in enumerate(group.ranks):
        rows = sizes[number] if sizes else own.shape[0]
        part = own if number == group.rank_in_group else own.new_empty((rows, *own.shape[1:]))
        torch.distributed.broadcast(part, src=rank, group=group.device_group)
        parts.append(part)
    return torch.cat(parts)


def reduce_scatterv(group: Any, own: Any, dim: int = -1, sizes: Sequence[int] | None = None) -> Any:
    """This rank's part of the sum over all ranks, which have `sizes` of it along a dimension."""
    torch = importlib.import_module("torch")
    total = own.clone()
    torch.distributed.all_reduce(total, group=group.device_group)
    sizes = sizes or [total.shape[dim] // group.world_size] * group.world_size
    start = sum(sizes[: group.rank_in_group])
    return total.narrow(dim, start, sizes[group.rank_in_group]).contiguous()


def with_own_experts_only(apply: Any) -> Any:
    """The method, for tokens whose experts may lie on other ranks: their share is nothing here."""
    signature = inspect.signature(apply)

    @wraps(apply)
    def mapped(*positional: Any, **named: Any) -> Any:
        call = signature.bind(*positional, **named)
        places = call.arguments["expert_map"]
        if places is not None:
            chosen = call.arguments["topk_ids"]
            local = places[chosen.long()]
            call.arguments["topk_weights"] = call.arguments["topk_weights"].masked_fill(local < 0, 0)
            call.arguments["topk_ids"] = local.clamp(min=0).to(chosen.dtype)
        return apply(*call.args, **call.kwargs)

    return mapped


def write_plugin(folder: Path) -> None:
    """Writes a folder for PYTHONPATH in which vLLM finds this module as a plugin."""
    name = Path(__file__).stem
    information = folder / f"{name}-1.dist-info"
    information.mkdir(parents=True)
    (folder / f"{name}.py").write_text(Path(__file__).read_text("utf-8"), "utf-8")
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n", "utf-8")
    (information / "entry_points.txt").write_text(f"[{GROUP}]\n{name} = {name}:{register.__name__}\n", "utf-8")
