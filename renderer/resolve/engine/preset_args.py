"""Which option list judges the arguments of an engine's version: its own, or that of the nearest older version; and the
arguments of presets that a version refuses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from renderer.api import BackendRuntime, OptionFiles, UnreadableList
from renderer.diagnostics import Collector, Diagnostic, Origin, Path, make_diagnostic
from renderer.engines import option_lists
from renderer.engines.dialect import ArgLayer
from renderer.engines.image_version import version_of_tag
from renderer.engines.known_engine import build_option_rules
from renderer.engines.name_lists import EngineNames
from renderer.engines.option_lists import OptionList
from renderer.engines.option_rules import OptionRules
from renderer.engines.option_validation import validate_options
from renderer.kubernetes.json_values import list_at, text_at
from renderer.resolve.engine import arg_merge
from renderer.resolve.engine.backend_runtime import Engine
from renderer.resolve.engine.template_words import ALL_ADDRESSES, UPSTREAM_WORDS, WORDS
from renderer.template import split_template

if TYPE_CHECKING:
    from renderer.input_types import MemorySpec

_NO_SUCH_OPTION = ("E430", "W430", "E431", "W431")


def option_rules(files: OptionFiles, engine: Engine, version: str, diagnostics: Collector) -> OptionRules | None:
    """The rules for the options of this version, cached; None when its options are unknown."""
    if version not in engine.option_rules:
        if version not in engine.option_lists:
            option_list = engine.option_lists[version] = find_option_list(
                files, engine.runtime, version, diagnostics, engine.option_lists
            )
            if option_list:
                engine.option_lists[option_list.version] = option_list
        option_list = engine.option_lists[version]
        rules = build_option_rules(files, engine.runtime, engine.style, option_list, version) if option_list else None
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
    path = option_lists.list_path(runtime.spec.get("engine") or {})
    origin = Origin(runtime.document, ("spec", "engine", "options", "list"))
    try:
        option_list = option_lists.read_option_list(files, runtime, version, known_lists)
        if path and option_list is None and not files.versions(runtime, path):
            diagnostics.add("E423", origin, name=path)
    except UnreadableList as error:
        diagnostics.add("E425", origin, what=error)
        return None
    return option_list


def unreadable_names(runtime: BackendRuntime, names: EngineNames, version: str) -> Iterator[Diagnostic]:
    """An error for each list of names that cannot be read."""
    for kind, read in (("variables", names.variables), ("keys", names.keys), ("metrics", names.metrics)):
        try:
            read(version)
        except UnreadableList as error:
            yield make_diagnostic("E425", Origin(runtime.document, ("spec", "engine", "names", kind)), what=error)


def refused_runtime_args(files: OptionFiles, engine: Engine, diagnostics: Collector) -> Iterator[Diagnostic]:
    """What the runtime's own version of the engine refuses of its arguments. `diagnostics`: of its option list."""
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
        filled = ["$(VALUE)".join(split_template(arg)[::2]) for arg in args]
        for finding in validate_options(rules, filled, len(args)):
            yield make_diagnostic(finding.code, origin.at(finding.index), **finding.words)
    for path, option in _memory_options(engine_spec.get("memory") or {}):
        for finding in validate_options(rules, [option]):
            if finding.code in _NO_SUCH_OPTION:
                yield make_diagnostic(finding.code, engine.origin.at("engine", "memory", *path), **finding.words)


def _memory_options(memory: MemorySpec) -> Iterator[tuple[Path, str]]:
    """The options that `engine.memory` names, each with its path there."""
    maps = ("fraction", "valueType", "batchedTokens", "speculation")
    fields = [(field, key) for field in maps for key in ("option", "method", "tokens")]
    yield from ((path, option) for path in [*fields, ("decodeContext",)] if (option := text_at(memory, *path)))
    for field in ("sizeOptions", "offloadOptions", "withoutPrefixCaching"):
        yield from (((field, i), str(option)) for i, option in enumerate(list_at(memory, field)))


def other_addresses(runtime: BackendRuntime, address: str) -> Iterator[Diagnostic]:
    """A warning for the first argument or variable of a runtime that is all IPv4 addresses, where engines are to listen
    on another one (`address`).
    """
    spec, origin = runtime.spec, Origin(runtime.document, ("spec",))
    if address == ALL_ADDRESSES:
        return
    places = [
        *((origin.at("command", i), word) for i, word in enumerate(spec.get("command") or ())),
        *(
            (origin.at("recommendedConfigs", c, "args", i), word)
            for c, config in enumerate(spec.get("recommendedConfigs") or ())
            for i, word in enumerate(config.get("args") or ())
        ),
        *((origin.at("envs", i, "value"), entry.get("value")) for i, entry in enumerate(spec.get("envs") or ())),
    ]
    for place, text in places:
        if ALL_ADDRESSES in str(text):
            is_template = "engine" in spec and text == ALL_ADDRESSES
            hint = 'write "{{ Host }}"' if is_template else f"write the other address, such as {address}"
            yield make_diagnostic("W493", place, name=runtime.name, address=address, hint=hint)
            return


def unlisted_options(runtime: BackendRuntime) -> Iterator[Diagnostic]:
    """A note where nothing lists the options of a runtime with spec.engine, unless it says that there is no such list,
    or that its arguments are no options.
    """
    options = (runtime.spec.get("engine") or {}).get("options") or {}
    if "list" not in options and options.get("style") != "none":
        key = ("spec", "engine", "options") if options else ("spec", "engine")
        yield make_diagnostic("N460", Origin(runtime.document, key, key=True), name=runtime.name)


def unfilled_words(runtime: BackendRuntime) -> Iterator[Diagnostic]:
    """A warning for each placeholder in the command, the arguments and the variables of a runtime without spec.engine
    that only one with it fills. Other braces, such as those of a chat template, are left alone.
    """
    spec, origin = runtime.spec, Origin(runtime.document, ("spec",))
    texts = [(text, origin.at("command", i), False) for i, text in enumerate(spec.get("command") or ())]
    for i, entry in enumerate(spec.get("envs") or ()):
        texts.append((str(entry.get("value", "")), origin.at("envs", i, "value"), False))
    for i, config in enumerate(spec.get("recommendedConfigs") or ()):
        args = origin.at("recommendedConfigs", i, "args")
        texts += [(text, args.at(n), True) for n, text in enumerate(config.get("args") or ())]
    for text, place, is_filled in texts:
        for word in re.findall(_BARE_WORD, text) if "{{" in text else ():
            if word in WORDS:
                hint = f"write {{{{ .{word} }}}}" if is_filled and word in UPSTREAM_WORDS else "write the value itself"
                hint += ", or describe the engine under spec.engine"
                yield make_diagnostic("W418", place, word=word, hint=hint)


_BARE_WORD = r"\{\{\s*([A-Za-z]\w*)\s*\}\}"


def refused_preset_options(rules: OptionRules, layers: Sequence[ArgLayer], count: int) -> Iterator[tuple[str, str]]:
    """The arguments of the first `count` layers, the preset's, that the engine refuses: each an option, maybe with its
    value, and a hint. Those that a later layer replaces are left out.
    """
    line, form = arg_merge.merge_args(rules.style, layers)
    preset_indexes = {i for i, (layer, _) in enumerate(form.positions) if layer < count}
    refused = {finding.index: finding.code for finding in validate_options(rules, line, len(line))}
    for i in sorted(preset_indexes):
        if refused.get(i) in _REFUSED:
            yield line[i], _version_hint(rules, line[i])
        elif refused.get(i) in _REFUSED_VALUE:
            yield " ".join(line[max(i - 1, 0) : i + 1]), _FALLBACK_HINT


_REFUSED = frozenset(  # no such option, or a wrong number of values
    ["E430", "W430", "E431", "W431", "E432", "W432", "E433", "W433", "E435", "W435", "E477", "W477"]
)
_REFUSED_VALUE = frozenset(["E440", "W440", "E441", "W441", "E478", "W478"])
_FALLBACK_HINT = "take another version, or set what it gets in a copy of the BackendRuntime (spec.engine.versions)"


def _version_hint(rules: OptionRules, option: str) -> str:
    """A hint which version takes an option."""
    head = rules.style.head(option)[0]
    option_list = rules.option_list
    if head in option_list.later:
        return f"it was added {option_list.later[head]}: use that version or a newer one"
    if head in option_list.ended:
        return f"it was removed {option_list.ended[head]}: take an older version"
    return _FALLBACK_HINT
