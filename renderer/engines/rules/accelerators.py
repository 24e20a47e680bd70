"""Whether an engine uses the accelerators of its pod, all of them and no more."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from renderer.diagnostics import Diagnostic, make_diagnostic, rule
from renderer.engines.dialect import Dialect
from renderer.engines.given_options import (
    given_options,
    last_given_number,
    last_number,
    whole_number,
    written_options,
)
from renderer.engines.handwritten_command import table_entry
from renderer.engines.running_engine import EngineLine, KnownEngine, RunningEngine
from renderer.kubernetes.json_values import as_map, as_text, map_at, maps_at, number_at, text_at, texts_at, value_at
from renderer.preset_tables import preset_table
from renderer.text import patterns

_USUAL_MOST = 8  # accelerators of a machine
_DIGITS = re.compile(r"[0-9]{1,6}")
_DEVICE_FIELDS = ("resourceClaims", "runtimeClassName", "resources")  # of a pod


@rule(of=EngineLine, when=lambda line: line.shared.accelerator.resource)
def wrong_number(line: EngineLine) -> Iterator[Diagnostic]:
    """An error where the arguments use more accelerators than the pod has, a warning where they leave some unused."""
    engine, written, accelerator, subject = line.engine, line.written, line.shared.accelerator, line.subject
    if line.shared.hosts > 1 or not engine.size_options:
        return
    count = accelerator.number if accelerator.group else 1
    overridden = _is_overridden(line)
    last = last_given_number(engine.style, written, engine.size_options) if overridden else None
    if last is not None and last.value > count:
        yield make_diagnostic("E416", last.origin, option=last.option, **_words_of_too_many(line, last.value))
        return
    used = used_accelerators(line)
    if used is None or used == count:
        return
    multipliers = frozenset(engine.multipliers)
    if used == 0:
        for size in written_options(engine.style, written, engine.size_options | multipliers):
            if whole_number(size.value) == 0 and not _refuses_zero(line, size.name):  # else it is told with the options
                yield make_diagnostic("E253", size.origin, name=size.text.partition("=")[0], value=0)
        return
    shared = (last_given_number(engine.style, written, multipliers) if overridden else None) or last
    if used > count and shared is not None:
        yield make_diagnostic("E416", shared.origin, option=shared.option, **_words_of_too_many(line, used))
    elif used < count and (origin := shared.origin if shared else line.shared.origin):
        hint = f"lower {subject.limits}, or use all of them with {subject.ways} parallelism"
        if shared and last is None:
            option = min(engine.size_options)
            hint = f"your own size removes the derived one: set {option} too, or lower {subject.limits}"
        yield make_diagnostic("W236", origin, size=used, count=count, name=accelerator.resource, hint=hint)


def _refuses_zero(line: EngineLine, name: str) -> bool:
    """Whether the engine's parser is known to refuse 0 as the number of an option."""
    option = line.option_rules.option_list.options.get(name) if line.option_rules else None
    return option is not None and any(bound in ((">", 0), (">=", 1)) for bound in option.bounds)


def _words_of_too_many(line: EngineLine, size: int) -> dict[str, object]:
    """The words of the error about a number of accelerators that the pod does not have."""
    accelerator, subject = line.shared.accelerator, line.subject
    words = {"size": size, "count": accelerator.number, "name": accelerator.resource}
    if not accelerator.group:
        words["name"] = f"{accelerator.resource}, which count as one: parts of accelerators cannot work together"
        return {**words, "hint": "request 1 of them and lower the number to 1, or request whole accelerators"}
    way = subject.raised(size) if subject.raised else ""
    return {**words, "hint": f"{way or f'raise {subject.limits}'}, or lower the number{subject.over_pods}"}


def _is_overridden(line: EngineLine) -> bool:
    """Whether users say how many accelerators work."""
    options = line.engine.parallel_options
    if line.options.isdisjoint(options):  # the preset gives some, too
        return False
    return not given_options(line.engine.style, line.written).isdisjoint(options)


def used_accelerators(line: EngineLine) -> int | None:
    """The number of accelerators that a line uses, those of all hosts; None where it cannot be told."""
    return accelerators_used(line.engine, line.args) if _is_overridden(line) else line.shared.size


def accelerators_used(engine: KnownEngine, args: Sequence[str]) -> int | None:
    """The number of accelerators that a command line uses; None where it cannot be told."""
    options = {engine.style.name(token) for token in args if token[:1] == "-"}
    known = engine.size_options | engine.multipliers.keys()
    if options & engine.uncountable_options or options & engine.parallel_options - known:
        return None
    size = 1
    for alternatives in (engine.size_options, *(frozenset([share]) for share in engine.multipliers)):
        excluding = frozenset().union(*(engine.multipliers.get(option, ()) for option in alternatives))
        if options & alternatives and not options & excluding:
            number = last_number(engine.style, args, alternatives)
            if number is None:
                return None
            size *= number
    return size


def undivided_heads(attention: Mapping[str, object], size: int) -> dict[str, object]:
    """The words of what is told of heads that a tensor parallel size does not divide; {} where it divides them, or
    nobody knows how many there are. Of KV heads it may be a multiple too, and each accelerator then has a copy of one
    (QKVParallelLinear in both engines that refuse heads). `attention`: as in facts.
    """
    heads, kv_heads = _heads_of(attention)
    if heads and heads % size:
        words = {"heads": f"{heads} attention heads", "count": heads, "field": "heads"}
    elif kv_heads and max(kv_heads, size) % min(kv_heads, size):
        words = {"heads": f"{kv_heads} KV heads", "count": kv_heads, "field": "kvHeads"}
    else:
        return {}
    return {**words, "size": size, "fits": fitting_size(attention, size)}


def fitting_size(attention: Mapping[str, object], size: int) -> int:
    """The largest tensor parallel size up to `size` that divides the heads, as far as these are known."""
    heads, kv_heads = _heads_of(attention)
    return max(
        divisor
        for divisor in range(1, size + 1)
        if heads % divisor == 0 and (not kv_heads or max(kv_heads, divisor) % min(kv_heads, divisor) == 0)
    )


def _heads_of(attention: Mapping[str, object]) -> tuple[int, int]:
    """The attention heads, and the KV heads, which latent attention has none of; 0 where they are not known."""
    kv_heads = 0 if attention.get("latentDim") else int(number_at(attention, "kvHeads"))
    return int(number_at(attention, "heads")), kv_heads


@rule(of=RunningEngine, when=lambda running: running.line.shared.accelerator.number > _USUAL_MOST)
def more_than_a_machine(running: RunningEngine) -> Iterator[Diagnostic]:
    """A warning for a pod with at least twice as many accelerators of a type as the largest machine of a cloud has:
    other servers have a few more, and none so many.
    """
    line, cards = running.line, running.cards()
    accelerator, most = line.shared.accelerator, max((card.per_machine for card in cards), default=0)
    is_whole = accelerator.group and not any(card.is_instance or not card.per_machine for card in cards)
    if not most or not is_whole or accelerator.number < 2 * most or running.takes_turns():
        return
    if _gke_label() in running.pod.node_selector:
        return  # which machines GKE has is known better (find_missing_nodes of renderer/check/kinds/pod_nodes.py)
    if origin := line.shared.where():
        types = " or ".join(sorted(card.name for card in cards))
        words = {"what": f"{accelerator.number} of {accelerator.resource}", "where": f"any server with {types}"}
        hint = f"request at most {most}{line.subject.over_pods}"
        yield make_diagnostic("W532", origin, has=f"{most} in clouds", hint=hint, **words)


@cache
def _gke_label() -> str:
    return text_at(preset_table("accelerator_types"), "labels", "gke")


@cache
def _device_options(backend: str, style: Dialect) -> dict[str, Mapping[str, object]]:
    """By name of an option that names accelerators of the container, its row in the table."""
    rows = maps_at(table_entry(backend), "devices")
    return {style.name(option): row for row in rows for option in texts_at(row, "options")}


@rule(of=EngineLine, when=lambda line: line.shared.accelerator.number and "devices" in table_entry(line.backend))
def unseen_devices(line: EngineLine) -> Iterator[Diagnostic]:
    """A warning for an option that names an accelerator which the container does not have."""
    options, count = _device_options(line.backend, line.engine.style), line.shared.accelerator.number
    if line.options.isdisjoint(options):
        return
    for option in written_options(line.engine.style, line.written, options):
        row = options[option.name]
        names = texts_at(row, "names") or ("",)
        parts = [part.strip() for part in option.value.split(",")]
        rests = [part.removeprefix(name) for part in parts for name in names if part.startswith(name)]
        numbers = [int(rest) for rest in rests if _DIGITS.fullmatch(rest)]
        last = max(numbers, default=0)
        if row.get("first") and line.shared.hosts == 1 and numbers:
            last += (used_accelerators(line) or 1) - 1
        if last >= count:
            what = f"names accelerator {last}" if last in numbers else f"{option.value} leads to accelerator {last}"
            what += f", and those of a container are numbered from 0: it has {count}"
            yield make_diagnostic("W494", option.origin, variable=option.text.partition("=")[0], what=what)


def _may_lack_accelerator(running: RunningEngine) -> object:
    shared = running.line.shared
    return not shared.accelerator.resource and shared.hosts == 1 and "accelerated" in table_entry(running.line.backend)


@rule(of=RunningEngine, when=_may_lack_accelerator)
def missing_accelerator(running: RunningEngine) -> Iterator[Diagnostic]:
    """A warning for an image that is built for accelerators in a pod that asks for none. Silent where anything may give
    it one: a claim, a runtime class, a resource or an annotation that nobody knows, devices of the node.
    """
    line, container, table = running.line, running.container, map_at(table_entry(running.line.backend), "accelerated")
    name, _, tag = container.image.partition("@")[0].rpartition("/")[2].partition(":")
    if not running.is_whole or not line.is_own_image() or name not in map_at(table, "images"):
        return
    if patterns.fits_any(tag, texts_at(table, "cpuTags")) or accelerators_used(line.engine, line.args) is None:
        return
    cpu_options = {line.engine.style.name(option) for option in texts_at(table, "cpuOptions")}
    if line.hides_options or not line.options.isdisjoint(cpu_options) or _has_device(running):
        return
    if origin := running.origin_of((*running.path, "image")) or line.shared.where():
        of_tag = (row for row in maps_at(table, "tags") if patterns.fits(tag, text_at(row, "tag")))
        resource = text_at(next(of_tag, {}), "resource") or value_at(table, "images", name)
        words = {
            "name": line.subject.name,
            "image": container.image,
            "engine": line.engine.names.engine or line.backend,
        }
        yield make_diagnostic("W496", origin, resource=resource, **words)


@cache
def _placing(backend: str) -> frozenset[str]:
    """The options of an engine that place work on accelerators."""
    return frozenset(map_at(table_entry(backend), "onCpus", "options"))


def _places_on_none(running: RunningEngine) -> bool:
    line = running.line
    return not line.shared.accelerator.resource and not line.options.isdisjoint(_placing(line.backend))


@rule(of=RunningEngine, when=_places_on_none)
def placed_on_nothing(running: RunningEngine) -> Iterator[Diagnostic]:
    """A warning for an option that places work on an accelerator, in an image for CPUs and a pod that has none."""
    line, table = running.line, map_at(table_entry(running.line.backend), "onCpus")
    tag = running.container.image.partition("@")[0].rpartition("/")[2].partition(":")[2]
    if not line.is_own_image() or not patterns.fits_any(tag, texts_at(table, "tags")):
        return
    for option in written_options(line.engine.style, line.written, _placing(line.backend)):
        if option.value not in texts_at(table, "options", option.name) and "$(" not in option.value:
            words = {"option": option.text.partition("=")[0], "value": option.value, "engine": line.backend}
            yield make_diagnostic("W833", option.origin, **words)


def _has_device(running: RunningEngine) -> bool:
    """Whether the pod may get an accelerator by something else than a limit that is known."""
    pod, container = running.pod, running.container
    if any(pod.rest.get(field) for field in _DEVICE_FIELDS) or pod.scheduler_name not in ("", "default-scheduler"):
        return True
    if any("/" in name for side in ("limits", "requests") for name in map_at(container.resources, side)):
        return True
    if container.resources.get("claims") or as_map(container.security_context).get("privileged"):
        return True
    sign_table = preset_table("accelerators")["given"]
    if any(patterns.fits_any(key.lower(), sign_table["metadata"]) for key in (*pod.annotations, *pod.labels)):
        return True
    if any(patterns.fits_any(as_text(variable.get("name")), sign_table["variables"]) for variable in container.env):
        return True
    return any(text_at(volume, "hostPath", "path").startswith("/dev") for volume in pod.volumes)
