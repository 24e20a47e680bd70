"""Texts that the formats of an upgrade share."""

from __future__ import annotations

from collections.abc import Sequence

from renderer.diagnostics import counted
from renderer.upgrade.engine_upgrade import Break, EngineUpgrade
from renderer.upgrade.moved_defaults import AppDefault
from renderer.upgrade.version_places import VersionPlace


def title(upgrade: EngineUpgrade) -> str:
    """The engine and its versions."""
    versions = sorted({place.version for place in upgrade.changed})
    before = f"{versions[0]} → " if len(versions) == 1 else ""
    return f"{upgrade.target.name} {before}{upgrade.target.version}"


def summary(upgrade: EngineUpgrade) -> str:
    """How many places change, and how much breaks, in one line."""
    certain, possible = upgrade.certain, upgrade.possible
    parts = [f"{counted(len(certain), 'break')}{_mended(certain)}"] if certain else []
    parts += [f"{len(possible):,} may break{_mended(possible)}"] if possible else []
    breaks = " · ".join(parts) or "nothing breaks"
    moved = len({default for it in upgrade.environments for default, _ in grouped_defaults(it.defaults)})
    defaults = f" · {counted(moved, 'default')} moved" if moved else ""
    return f"{counted(len(upgrade.changed), 'place')} · {breaks}{defaults}"


def _mended(breaks: Sequence[Break]) -> str:
    """How many of them are mended; '' for none."""
    count = sum(broken.is_mended for broken in breaks)
    return f", {count:,} mended" if count else ""


def change_of(place: VersionPlace) -> str:
    """What stands there, before and after."""
    return f"{place.text} → {place.new_text}"


def owners_of(place: VersionPlace) -> str:
    """What runs in that version."""
    return ", ".join(place.owners)


def mending_of(broken: Break) -> str:
    """What mends a break; '' for one that is left to people."""
    if not broken.is_mended:
        return ""
    return ", ".join(f"'{edit.text}'" for edit in broken.problem.edits) or "what mends another one"


def grouped_defaults(defaults: Sequence[AppDefault]) -> list[tuple[tuple[str, str, str], list[str]]]:
    """Each default that moves, as option and both values, and the workloads of which it does; sorted."""
    workloads: dict[tuple[str, str, str], list[str]] = {}
    for default in defaults:
        workloads.setdefault((default.option, default.before, default.after), []).append(default.workload)
    return sorted(workloads.items())
