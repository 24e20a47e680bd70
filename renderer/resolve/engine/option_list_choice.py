"""Which option list judges the arguments of an engine's version: its own, or that of the nearest older version."""

from __future__ import annotations

from collections.abc import Mapping

from renderer.api import BackendRuntime, OptionFiles, UnreadableList
from renderer.diagnostics import Collector, Origin
from renderer.resolve.engine import known_options, version_order
from renderer.resolve.engine.backend_runtime import Engine
from renderer.resolve.engine.image_version import version_of_tag
from renderer.resolve.engine.known_options import OptionList
from renderer.resolve.engine.option_list_validation import OptionRules, validate_options
from renderer.template import split_template


def option_rules(files: OptionFiles, engine: Engine, version: str, diagnostics: Collector) -> OptionRules | None:
    """The rules for the options of this version, cached; None when its options are unknown."""
    if version not in engine.option_rules:
        if version not in engine.option_lists:
            option_list = engine.option_lists[version] = find_option_list(
                files, engine.runtime, version, diagnostics, engine.option_lists
            )
            if option_list:
                engine.option_lists[option_list.version] = option_list
        option_list, name = engine.option_lists[version], engine.runtime.name
        if option_list is None:
            rules = None
        elif (engine.spec.get("options") or {}).get("uncertain"):
            rules = OptionRules(engine.style, option_list, f"the uncertain list of {name} {option_list.version}", "W")
        elif version_order.version_key(option_list.version) != version_order.version_key(version):
            nearest = f"{name} {option_list.version} (the nearest known to {version})"
            rules = OptionRules(engine.style, option_list, nearest, "W")
        else:
            rules = OptionRules(engine.style, option_list, f"{name} {version}")
        engine.option_rules[version] = rules
    return engine.option_rules[version]


def find_option_list(
    files: OptionFiles,
    runtime: BackendRuntime,
    version: str,
    diagnostics: Collector,
    known_lists: Mapping[str, OptionList | None] = {},
) -> OptionList | None:
    """The options of this version; None, maybe with an error, when they are unknown. `known_lists`: read before."""
    path = ((runtime.spec.get("engine") or {}).get("options") or {}).get("list")
    origin = Origin(runtime.document, ("spec", "engine", "options", "list"))
    try:
        option_list = known_options.read_option_list(files, runtime, version, known_lists)
        if path and option_list is None and not files.versions(runtime, path):
            diagnostics.add("E423", origin, name=path)
    except UnreadableList as error:
        diagnostics.add("E425", origin, what=error)
        return None
    return option_list


def validate_runtime_args(files: OptionFiles, engine: Engine, diagnostics: Collector) -> None:
    """Reports arguments of a BackendRuntime that its own version of the engine refuses."""
    engine_spec, runtime = engine.spec, engine.runtime
    version = version_of_tag(engine_spec, runtime.spec["version"], trusted=runtime.ours)
    rules = option_rules(files, engine, version, diagnostics) if version else None
    if rules is None:
        return
    lines = [
        *(
            (config.get("args") or (), engine.origin.at("recommendedConfigs", i, "args"))
            for i, config in enumerate(runtime.spec.get("recommendedConfigs") or ())
        ),
        *(
            (entry.get("args") or (), engine.origin.at("engine", "derived", i, "args"))
            for i, entry in enumerate(engine_spec.get("derived") or ())
        ),
    ]
    for args, origin in lines:
        filled = ["value".join(split_template(arg)[::2]) for arg in args]
        for finding in validate_options(rules, filled, len(args)):
            diagnostics.add(finding.code, origin.at(finding.index), **finding.words)
