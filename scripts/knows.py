"""The tables of docs/knows.md: what this release knows, and how old that is. scripts/make_docs.py writes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from renderer import load
from renderer.preset_catalog.preset_list import newest_release, option_versions
from renderer.preset_tables import preset_table
from scripts import make_schemas

FLAGS = Path(__file__).resolve().parent.parent / "presets" / "backends" / "flags"
KINDS = ("architectures", "defaults", "keys", "metrics", "variables")
"""What lists say of an engine beside its options, by the last word of their names."""


def engine_table() -> str:
    """One row an engine: its newest version, the day of that, and how many versions each kind of list has."""
    rows = []
    for engine in load.preset_names("backends"):
        release, versions = newest_release(engine), option_versions(engine)
        counts = [str(len(listed_versions(engine, kind)) or "–") for kind in KINDS]
        rows.append((f"`{engine}`", release["version"], release["released"], str(len(versions) or "–"), *counts))
    return table(("engine", "newest version", "released", "options of", *KINDS), rows)


def source_list() -> str:
    """Where the day of each engine's newest version stands."""
    sources = (f"`{engine}`: {newest_release(engine)['source']}" for engine in load.preset_names("backends"))
    return f"{'; '.join(sources)}."


def listed_versions(engine: str, kind: str) -> list[str]:
    """The versions that a list of an engine is about, the oldest first; none where there is no such list."""
    path = FLAGS / f"{engine}.{kind}.txt"
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return next((line.split()[1:] for line in lines if line.startswith(("versions ", "samples "))), [])


def crd_table() -> str:
    """One row a Go module from which schemas are made."""
    module, _, version = make_schemas.KUBERNETES.partition("@")
    built_in = sum(map(len, make_schemas.BUILT_IN.values()))
    rows = [(f"`{module}`", version, f"{built_in} built-in ones")]
    for source in make_schemas.CRDS:
        module, _, version = source.module.partition("@")
        if module:
            rows.append((f"`{module}`", version, ", ".join(source.kinds) or "all"))
    return table(("Go module", "version", "kinds"), rows)


def fact_table() -> str:
    """One row for each other table of facts."""
    models = [load.preset(f"models/{name}").value["spec"] for name in load.preset_names("models")]
    tasks = Counter(spec["facts"]["kind"] for spec in models)
    instances, operator = preset_table("instances"), preset_table("operator_releases")
    of_tasks = ", ".join(f"{count} for {task}" for task, count in sorted(tasks.items()))
    families = instances["families"]
    rows = [
        ("[models](models.md)", f"{len(models)}: {of_tasks}", "by hand, each fact with its source"),
        (
            "[instance types](karpenter.md)",
            f"{sum(len(family['counts']) for family in families)} of {len(families)} families",
            f"{instances['day']}, the day of the list of Karpenter",
        ),
        ("[accelerators](fit.md)", f"{len(preset_table('accelerator_types')['types'])} types", "by hand"),
        (
            "[the operator of llmaz](migrating/operator.md)",
            f"{len(operator['releases'])} releases",
            f"up to {operator['releases'][-1]}",
        ),
        ("[KServe](migrating/kserve.md)", "its configs and kinds", preset_table("kserve")["source"]),
        (
            "[production-stack](migrating/production-stack.md)",
            "the values of its chart",
            preset_table("production_stack")["source"],
        ),
    ]
    return table(("facts", "how many", "of when"), rows)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [f"| {' | '.join(cells)} |" for cells in (heads, *rows)]
    return "\n".join([lines[0], "|---" * len(heads) + "|", *lines[1:]])
