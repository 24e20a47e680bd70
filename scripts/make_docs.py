#!/usr/bin/env python3
"""Writes the parts of README.md, docs/ and mkdocs.yml that follow from the program and its presets: the first screen of
README.md as the first page of docs/, the table of error codes, which engines there are, what they load and from where,
what they scale on, and the tables of their own pages.

`scripts/make_docs.py` rewrites them, `--check` exits 1 when they are stale (a test runs that).
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from renderer import load, resolve, schema_validation
from renderer.api import BackendRuntime
from renderer.diagnostics.wordings import WORDINGS
from renderer.engines import image_version, option_lists, version_order
from renderer.fit.budget import activations_gib
from renderer.load.option_lists import OptionListReader
from renderer.load.preset_files import accelerator_types
from renderer.preset_catalog import model_fit
from renderer.preset_catalog.preview import option_lines
from scripts import knows, make_models, start_logs

if TYPE_CHECKING:
    from renderer.input_types import BackendRuntimeSpec

ROOT = Path(__file__).resolve().parent.parent
NAVIGATION = ROOT / "mkdocs.yml"
Spec: TypeAlias = Mapping[str, Any]

SOURCES = {
    "hub": "a hub",
    "objectStore": "a bucket",
    "host": "`host://`",
    "oci": "`oci://`",
    "pvc": "`pvc://`",
    "ollama": "`ollama://`",
}


def backends() -> Iterator[tuple[str, Spec]]:
    """Name and spec of each engine's preset."""
    for name in load.preset_names("backends"):
        yield name, load.preset(f"backends/{name}").value["spec"]


def error_table() -> str:
    """One row a code: how it reads, what to do."""
    rows = ["| code | says | and hints |", "|---|---|---|"]
    for code, wording in sorted(WORDINGS.items()):
        cells = [
            text.replace("|", "\\|").replace("{hint}", "…") for text in (wording.about or wording.message, wording.hint)
        ]
        rows.append(f'| <a id="{code.lower()}"></a>{code} | {cells[0]} | {cells[1]} |')
    return "\n".join(rows)


def source_table() -> str:
    """One row a backend: which formats it reads, where they may come from, and what it loads without a loader."""
    head = ["backend", "reads", *SOURCES.values(), "by itself"]
    rows = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for name, spec in backends():
        engine = spec["engine"]
        takes = ["yes" if source in engine["sources"] else "–" for source in SOURCES]
        rows.append(f"| {' | '.join([f'`{name}`', reads(engine), *takes, by_itself(engine) or '–'])} |")
    return "\n".join(rows)


def reads(engine: Spec) -> str:
    """The formats that it reads."""
    one = engine.get("oneFile", ())
    return ", ".join(f"one {form.upper()} file" if form in one else form for form in engine["formats"])


def by_itself(engine: Spec) -> str:
    """What it loads without a loader; '' for nothing."""
    stream = engine.get("stream", {"schemes": (), "formats": ()})
    schemes = [f"`{scheme}://`" for scheme in stream["schemes"]]
    some = schemes and set(stream["formats"]) != set(engine["formats"])
    only = f" ({', '.join(stream['formats'])})" if some else ""
    hubs = [hub.replace("Huggingface", "Hugging Face") for hub in engine.get("hubs", ())]
    return ", ".join([*hubs, *schemes]) + only


def scale_table() -> str:
    """One row a backend: where its metrics are, and what its autoscalers use of them."""
    rows = ["| backend | metrics | queue | as autoscalers call it | target, a pod |", "|---|---|---|---|---|"]
    for name, spec in backends():
        engine = spec["engine"]
        path = (engine.get("metrics") or {}).get("path")
        metric = resolve.queue_metric(engine)
        cells = [path, metric, resolve.adapter_metric_name(metric), engine["scale"]["target"] if metric else ""]
        rows.append(f"| {' | '.join([f'`{name}`', *(f'`{cell}`' if cell else '–' for cell in cells)])} |")
    return "\n".join(rows)


def backend_table() -> str:
    """One row a backend, with its page: image, formats, sources, accelerators."""
    rows = ["| backend | image | reads | weights from | accelerators |", "|---|---|---|---|---|"]
    for name, spec in backends():
        engine = spec["engine"]
        accelerators = ", ".join(dict.fromkeys(variant["accelerator"] for variant in engine["variants"]))
        free = "; none needed" if any(variant.get("unflavored") for variant in engine["variants"]) else ""
        cells = [
            f"[`{name}`](engines/{name}.md)",
            f"`{spec['image']}:{spec['version']}`",
            ", ".join(engine["formats"]),
            ", ".join(engine["sources"]),
            accelerators + free,
        ]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


CALLED = {
    "option": ("the public name, which it is told", "the public name"),
    "directory": (
        "the folder that it opens, named like the public name; without a loader the hub's id",
        "the public name; without a loader the hub's id",
    ),
    "model": ("what it pulls or creates the model as", "that name"),
}


def called_table() -> str:
    """One row a backend: what the engine calls the model, and so what the route makes of the public name."""
    rows = ["| backend | the engine calls it | the route says |", "|---|---|---|"]
    for name, spec in backends():
        served_name = spec["engine"]["servedName"]
        fixed = served_name.removeprefix("fixed:")
        cells = CALLED.get(served_name) or (f"`{fixed}`, whatever it serves", f"`{fixed}`")
        rows.append(f"| `{name}` | {cells[0]} | {cells[1]} |")
    return "\n".join(rows)


def weighs_table() -> str:
    """One row a backend: what the picker of a pool weighs, or why it is refused (renderer/resolve/rules/pools.py)."""
    rows = ["| backend | the picker weighs |", "|---|---|"]
    for name, spec in backends():
        engine = spec["engine"]
        measured = engine.get("metrics") or {}
        cell = f"queue, {'KV cache' if 'kvUsage' in measured else 'running requests'}, prefix"
        if engine["servedName"].startswith("fixed:"):
            fixed = engine["servedName"].removeprefix("fixed:")
            cell = (
                f"refused: it calls every model `{fixed}`, and whether a request to a pool gets another name than its "
            )
            cell += "public one depends on the gateway's version"
        elif not {"path", "waiting", "running"} <= measured.keys():
            cell = "refused: nobody has verified a metric of its queue"
        elif "adapters" in measured:
            cell += "; loaded adapters where there are some"
        rows.append(f"| `{name}` | {cell} |")
    return "\n".join(rows)


def gateway_table() -> str:
    """One row a key of RenderConfig's `gateway`, from its schema."""
    whole = schema_validation.read_schema("input/renderconfig")
    gateway = whole["properties"]["spec"]["properties"]["gateway"]
    rows = ["| key | default | what it says |", "|---|---|---|"]
    for key, node in keys(gateway, whole):
        if key != "perNamespace":
            default = f"`{json.dumps(node['default']).strip(chr(34))}`" if "default" in node else "–"
            rows.append(f"| `{key}` | {default} | {node['description']} |")
    return "\n".join(rows)


def fit_table() -> str:
    """What the formulas say of each start log of an engine, beside what it printed."""
    lines = [
        "| model, engine, GPUs | KV tokens printed | worked out | requests at once printed | worked out | left over"
        " | a step | its activations |",
        "|---|---|---|---|---|---|---|---|",
    ]
    errors = []
    for log in start_logs.LOGS:
        tokens = requests = worked_out = served = "–"
        if log.kv_gib and log.kv_tokens:
            error = log.tokens / log.kv_tokens - 1
            errors.append(abs(error))
            tokens, worked_out = f"{log.kv_tokens:,}", f"{log.tokens:,.0f} ({error:+.2%})"
        if log.requests:
            size = log.kv_gib * start_logs.GIB or log.kv_tokens * log.need.token_bytes
            requests, served = f"{log.requests:g}", f"{log.need.requests(size, log.length):.2f}"
        over = "–" if log.overhead is None else f"{log.overhead:.1f} GiB, {log.overhead / log.card_gib:.1%} of the card"
        step = f"{log.step:,}" if log.step else "–"
        activations = activations_gib(log.step, log.width)
        took = f"{log.activations_gib:.1f} GiB, worked out {activations:.1f}" if log.activations_gib else "–"
        gpus = f"{log.record['tensor']} × {log.record.get('accelerator', 'one not named')}"
        source, model = log.record["source"], log.record["model"]
        linked = f"[{model}]({source})" if source.startswith("https:") else model
        name = f"{linked}, {log.backend} {log.record['version']}, {gpus}"
        lines.append(f"| {name} | {tokens} | {worked_out} | {requests} | {served} | {over} | {step} | {took} |")
    errors.sort()
    lines += ["", f"Tokens of {len(errors)} logs: median {errors[len(errors) // 2]:.2%}, worst {errors[-1]:.2%}."]
    return "\n".join(lines)


# Types of accelerators that the table of models has a column for.
TYPES = ("l4-24g", "l40s-48g", "h100-80g", "h200-141g", "b200-180g")


def model_table() -> str:
    """The models that ship, by task, what is known of them, and the least number of accelerators that they fit on."""
    specs = {name: load.preset(f"models/{name}").value["spec"] for name in load.preset_names("models")}
    heads = ["model", "parameters", "weights", "context", *TYPES, "missing", "asks for", "licence"]
    lines: list[str] = []
    for task in sorted({spec["facts"]["kind"] for spec in specs.values()}):
        lines += [f"### For {task}", "", f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
        for name, spec in specs.items():
            if spec["facts"]["kind"] == task:
                flavor, licence = model_flavor(spec), spec["facts"].get("licence", "–")
                cells = [model_link(name, spec), *model_sizes(spec), *least_numbers(name, spec), flavor, licence]
                lines.append(f"| {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines[:-1])


def model_link(name: str, spec: Spec) -> str:
    """Name of a preset, with a link to its page of the hub."""
    gated = ", gated" if spec["facts"].get("gated") else ""
    return f"[{name}](https://huggingface.co/{spec['source']['modelHub']['modelID']}){gated}"


def model_sizes(spec: Spec) -> Iterator[str]:
    """Parameters, weights and context of a model."""
    its = spec["facts"]
    active = f", {its['activeParameters']} act" if "activeParameters" in its else ""
    yield f"{its['parameters']}{active}" if "parameters" in its else "–"
    yield f"{its['weightsGiB']} GiB" if "weightsGiB" in its else "–"
    yield f"{its['contextLength']:,}" if "contextLength" in its else "–"


def model_flavor(spec: Spec) -> str:
    """What the first flavor of a model asks for."""
    flavor = (spec.get("inferenceConfig", {}).get("flavors") or [{}])[0]
    limits = [f"{key}: {value}" for key, value in flavor.get("limits", {}).items()]
    words = limits + ([flavor["accelerator"]] if "accelerator" in flavor else [])
    return ", ".join(code(word) for word in words) or "–"


def least_numbers(name: str, spec: Spec) -> list[str]:
    """For each of TYPES the least number of accelerators that a model fits on, and the fact that is missing."""
    backend = model_fit.sensible_backend(spec)
    runtime = load.preset(f"backends/{backend}").value["spec"]
    weights = "" if "weightsGiB" in spec["facts"] else code("weightsGiB")
    if runtime["engine"].get("memory", {}).get("offload") == "automatic":
        return [*("CPU" for _ in TYPES), weights]
    try:
        fit = model_fit.fit_of_model(name, spec, backend, runtime)
    except load.PresetRefused:
        return [*("?" for _ in TYPES), weights]
    if fit.missing_fact:
        return [*("?" for _ in TYPES), ", ".join(filter(None, [weights, code(fit.missing_fact)]))]
    counts = [fit.smallest_count(accelerator_types().by_name[name]) for name in TYPES]
    return [*(str(count or "–") for count in counts), "–"]


PARSERS = ("--tool-call-parser", "--reasoning-parser")
PARSING_ENGINES = ("vllm", "sglang")


def parser_table() -> str:
    """The parsers that the presets of chat models give, with the version of the engine in which each first is."""
    known, rows = make_models.known_models(), dict[tuple[str, ...], list[str]]()
    since = {engine: parser_versions(engine) for engine in PARSING_ENGINES}
    for name in load.preset_names("models"):
        spec = load.preset(f"models/{name}").value["spec"]
        hub = spec["source"]["modelHub"]
        if spec["facts"]["kind"] == "chat" and "filename" not in hub:
            needs = make_models.base_of(hub, known).known.get("tools_need", "")
            cells = [
                parser_cell(spec, engine, option, since[engine], needs if option == PARSERS[0] else "")
                for option in PARSERS
                for engine in PARSING_ENGINES
            ]
            rows.setdefault(tuple(cells), []).append(code(name))
    heads = [f"{kind}, {engine}" for kind in ("tools", "reasoning") for engine in PARSING_ENGINES]
    lines = [f"| models | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
    return "\n".join([*lines, *(f"| {', '.join(names)} | {' | '.join(cells)} |" for cells, names in rows.items())])


def parser_versions(engine: str) -> dict[tuple[str, str], str]:
    """By option and value, the version of an engine in which it first is; only those that the oldest lacks."""
    document = load.preset(f"backends/{engine}")
    runtime, files = BackendRuntime(engine, document.value["spec"], document, ours=True), OptionListReader()
    since: dict[tuple[str, str], str] = {}
    oldest, *newer = option_lists.known_versions(files, runtime)
    before = parser_values(files, runtime, oldest)
    for version in newer:
        values = parser_values(files, runtime, version)
        since |= dict.fromkeys(values - before - since.keys(), version)
        before = values
    return since


def parser_values(files: OptionListReader, runtime: BackendRuntime, version: str) -> set[tuple[str, str]]:
    """The values of the options about parsers in a version."""
    known = option_lists.read_option_list(files, runtime, version)
    options = known.options if known else {}
    return {(name, value) for name in PARSERS if name in options for value in options[name].choices.values}


def parser_cell(spec: Spec, engine: str, option: str, since: Mapping[tuple[str, str], str], needs: str) -> str:
    """The parser that a model gives an engine. `needs`: what its tools need besides."""
    args = spec.get("engines", {}).get(engine, {}).get("args", [])
    if option not in args:
        return f"– ({needs})" if needs else "–"
    parser = args[args.index(option) + 1]
    version = since.get((option, parser))
    return ", ".join(filter(None, [code(parser), version and f"from {version}", needs and f"with {needs}"]))


def accelerator_table() -> str:
    """The types of accelerators that we know."""
    lines = ["| type | memory | 8 bits | 4 bits |", "|---|---|---|---|"]
    for row in load.preset("accelerator_types").value["spec"]["types"]:
        formats = ("yes" if row.get(key) else "–" for key in ("fp8", "fp4"))
        lines.append(f"| `{row['name']}` | {row['memoryGiB']:g} GiB | {' | '.join(formats)} |")
    return "\n".join(lines)


def parts_table() -> str:
    """The memory of instances of divided cards, by card."""
    lines = ["| card | instances | printed by |", "|---|---|---|"]
    for row in load.preset("accelerator_types").value["spec"]["parts"]:
        sizes = ", ".join(f"`{profile}` {gib:g} GiB" for profile, gib in row["memoryGiB"].items())
        sources = "; ".join(f"[{source.partition('/')[0]}](https://{source})" for source in row["source"].split("; "))
        lines.append(f"| {code(row['card']) if row['card'] else 'another'} | {sizes} | {sources} |")
    return "\n".join(lines)


def keys(node: Spec, whole: Spec, path: str = "") -> Iterator[tuple[str, Spec]]:
    """Every key of a schema, with its own schema, below which the schema names no further keys."""
    for key, value in node["properties"].items():
        full_key = f"{path}.{key}" if path else key
        below = whole["$defs"][value["$ref"].removeprefix("#/$defs/")] if "$ref" in value else value
        if "properties" in below:
            yield from keys(below, whole, full_key)
        else:
            yield full_key, {**below, **value}


# The tables of docs/engines/<engine>.md

STYLES = {
    "argparse": "`--option value` or `--option=value`; a beginning that only one option has will do",
    "exact": "`--option value`, spelt out",
    "clap": "`--option value` or `--option=value`, spelt out",
    "click": "`--option value` or `--option=value`, spelt out",
    "none": "there are no options",
}
ROUTED = 25  # DrainSleep with a route and without: gateway.dnsTTL + 5, 10
NAMES = {
    "option": "the [served name](../config.md#extensions-of-llmazs-own-kinds), which it is told",
    "directory": "the name of the folder with the weights",
    "model": "the name that it pulls or creates the model by",
}


def code(*words: str) -> str:
    """Words as one piece of code."""
    return f"`{' '.join(words)}`".replace("|", "\\|")


def minutes(seconds: int) -> str:
    """A time as people say it."""
    return f"{seconds // 60} min" if seconds >= 60 and seconds % 60 == 0 else f"{seconds} s"


def facts(spec: Spec) -> Iterator[tuple[str, str]]:
    """What holds for the engine whatever it serves."""
    engine = spec["engine"]
    command, name, read = spec.get("command") or (), engine["servedName"], engine["options"]
    yield "version", image_version.version_of_tag(engine, spec["version"])
    yield "command", code(*command) if command else "the image's own entrypoint"
    yield "reads", reads(engine)
    yield "weights from", ", ".join(SOURCES[source] for source in engine["sources"])
    yield "loads by itself", by_itself(engine) or "–"
    yield "serves under", NAMES.get(name) or code(name.removeprefix("fixed:"))
    ways = [STYLES[read["style"]]]
    ways += ["`_` is the same as `-`"] if read.get("underscores") else []
    ways += ["`--option.key` sets a key of a JSON option"] if read.get("dotted") else []
    if read["style"] != "none":
        ways.append({"last": "given twice, the last counts", "error": "given twice is an error"}[read["duplicates"]])
    yield "command line", "; ".join(ways)
    if "list" in read:
        yield "checked against", listed(spec) + ("; not sure, so it only warns" if read.get("uncertain") else "")
    for config in spec["recommendedConfigs"]:
        requests = ", ".join(f"{key} {value}" for key, value in config["resources"]["requests"].items())
        yield f"requests, config {code(config['name'])}", requests
    short = engine["drain"]["gracePeriodSeconds"]
    yield "grace period", f"{short + ROUTED} s; {short} s without a route"


def listed(spec: Spec) -> str:
    """How many options the preset's own version has, and the versions whose options are known."""
    name = next(name for name, other in backends() if other == spec)
    runtime, files = (
        BackendRuntime(name, cast("BackendRuntimeSpec", spec), load.preset(f"backends/{name}"), ours=True),
        OptionListReader(),
    )
    known = option_lists.known_versions(files, runtime)
    own = option_lists.read_option_list(files, runtime, image_version.version_of_tag(spec["engine"], spec["version"]))
    path = spec["engine"]["options"]["list"]
    count = f"[{len(option_lines(own)) if own else 0} options](../../presets/backends/{path})"
    return f"{count}; those of {version_order.describe_versions(known)}, are known" if len(known) > 1 else count


def variants(spec: Spec) -> Iterator[tuple[str, str, str]]:
    """The image for each accelerator, and what it runs as."""
    for variant in spec["engine"]["variants"]:
        image = f"{variant.get('image') or spec['image']}:{variant.get('version') or spec['version']}"
        security = variant.get("security") or spec["engine"]["security"]
        runs = "root: [W204](../errors.md#w204)"
        if "user" in security:
            folders = ", ".join(code(path) for path in security["writable"])
            runs = f"user {security['user']}, group {security['group']}, read-only root, writable {folders}"
        free = "; also without any flavor" if variant.get("unflavored") else ""
        yield variant["accelerator"] + free, code(image), runs


def probes(spec: Spec) -> Iterator[tuple[str, str, str, str, str]]:
    """What each probe asks, how often, and when it gives up."""
    budget = spec["engine"]["startup"]
    for kind in ("startup", "readiness", "liveness"):
        probe = spec[f"{kind}Probe"]
        asks = code("GET", probe["httpGet"]["path"]) if "httpGet" in probe else code(*probe["exec"]["command"])
        period, failures = probe["periodSeconds"], probe["failureThreshold"]
        ends = f"{failures} times, {minutes(period * failures)}"
        if kind == "startup" and "perGiB" in budget:
            ends += f"; {budget['perGiB']} s for each GiB of weights where that is longer"
        yield kind, asks, f"{period} s", f"{probe['timeoutSeconds']} s", ends


def metrics(spec: Spec) -> Iterator[tuple[str, str]]:
    """Where the metrics are, what they are called, and what autoscalers use."""
    engine = spec["engine"]
    section = engine.get("metrics") or {}
    yield "path", code(section["path"]) if section else "it has none"
    for key, what in (
        ("running", "requests that run"),
        ("waiting", "requests that wait"),
        ("kvUsage", "share of the KV cache in use, 0 to 1"),
        ("modelLabel", "label with the model's name"),
    ):
        if section:
            yield what, code(section[key]) if key in section else "–"
    metric = resolve.queue_metric(engine)
    target = (
        f"{code(resolve.adapter_metric_name(metric))}, {engine['scale']['target']} a pod"
        if metric
        else "nothing of its own"
    )
    yield "what autoscalers aim at", target


def added(spec: Spec) -> Iterator[tuple[str, str]]:
    """What the preset adds, and when."""
    engine = spec["engine"]
    for volume in engine.get("volumes") or ():
        yield "always", f"an empty volume at {code(volume['mountPath'])}"
    for entry in engine.get("derived") or ():
        what = additions(entry)
        names = [code(name) for name in engine["options"]["groups"][entry["group"]]] if "group" in entry else []
        yield condition(entry), ", ".join(what) + (f", unless you give {' or '.join(names)}" if names else "")
    files = [file["path"] for file in engine.get("files") or ()]
    for i, file in enumerate(engine.get("files") or ()):
        yield (
            condition(file),
            f"the file {code(file['path'])}" + (", with another text" if files[i] in files[:i] else ""),
        )
    for container in engine.get("initContainers") or ():
        yield condition(container), f"the init container {code(container['name'])}, behind the loaders"


def additions(entry: Spec) -> list[str]:
    """What an entry of `derived` adds."""
    what = [code(*entry["args"])] if "args" in entry else []
    for env in entry.get("envs") or ():
        value = env["value"] if "value" in env else f"$({env['valueFrom']['fieldRef']['fieldPath']})"
        what.append(code(f"{env['name']}={value}"))
    what += [f"`/dev/shm` of {entry['sharedMemory']}"] if "sharedMemory" in entry else []
    return what + (["`/dev/shm` larger by `kvCacheOffloading.cpu`"] if "kvCacheInSharedMemory" in entry else [])


def by_version(spec: Spec) -> Iterator[tuple[str, str]]:
    """What is otherwise in other versions, the newest first as the preset has it."""
    engine = spec["engine"]
    for entry in engine.get("derived") or ():
        if "since" in entry or "until" in entry:
            yield ranged(entry), f"only there: {', '.join(additions(entry))}, when {condition(entry)}"
    for entry in engine.get("versions") or ():
        yield ranged(entry), "; ".join(differences(entry))


def ranged(entry: Spec) -> str:
    """The range of an entry."""
    ends = [f"from {entry['since']} on"] if "since" in entry else []
    return ", ".join([*ends, *([f"before {entry['until']}"] if "until" in entry else [])])


def differences(entry: Spec) -> Iterator[str]:
    """What an entry of `versions` changes."""
    for refusal in entry.get("refuse") or ():
        yield f"[E444](../errors.md#e444) when {condition(refusal)}: it {refusal['what']}"
    if "command" in entry:
        yield f"the command is {code(*entry['command'])}"
    for option, instead in (entry.get("args") or {}).items():
        words = [instead] if isinstance(instead, str) else instead
        yield f"{code(option)} is {code(*words) if words else 'left out'}"
    for added_ in entry.get("derived") or ():
        yield f"{', '.join(additions(added_))} when {condition(added_)}"
    for name, value in (entry.get("envs") or {}).items():
        yield code(f"{name}={value}") if value else f"no {code(name)}"
    if sleep := ((entry.get("lifecycle") or {}).get("preStop") or {}).get("sleep"):
        yield f"the hook sleeps {code(str(sleep['seconds']))} s"
    for kind in ("startup", "readiness", "liveness"):
        for field, value in (entry.get(f"{kind}Probe") or {}).items():
            yield f"{kind} probe: " + (code("GET", value["path"]) if field == "httpGet" else f"{field} {value}")
    for metric, name in (entry.get("metrics") or {}).items():
        yield f"{metric} is {code(name)}" if name else f"no {metric}"
    if rank := (entry.get("adapters") or {}).get("rank"):
        yield f"{code(rank['option'])} of adapters is one of {', '.join(map(str, rank['values']))}"
    if fraction := (entry.get("memory") or {}).get("fraction"):
        yield f"{code(fraction['option'])} is {fraction['default']} where nobody sets it"
    for key, value in (entry.get("drain") or {}).items():
        if key == "gracePeriodSeconds":
            yield f"grace period {value + ROUTED} s, {value} s without a route"
    if (entry.get("options") or {}).get("dotted") is False:
        yield "`--option.key` sets no key"
    for note in entry.get("notes") or ():
        if "args" not in entry or "when" in note:
            yield (
                f"[N448](../errors.md#n448) when {condition(note)}: it {note['what']}"
                if "when" in note
                else note["what"]
            )


def condition(entry: Spec) -> str:
    """The condition of an entry."""
    return code(entry["when"]) if "when" in entry else "always"


def seen(name: str) -> str:
    """What was asked of an engine while it ran, by question and version, the newest first."""
    versions = json.loads((ROOT / "tests" / "engines" / "results.json").read_text("utf-8")).get(name, {})
    names = sorted(versions, key=version_order.version_key, reverse=True)
    questions = dict.fromkeys(question for version in names for question in versions[version]["questions"])
    lines = [
        f"| seen | {' | '.join(names)} |",
        "|---" * (len(names) + 1) + "|",
        f"| on | {' | '.join(versions[version]['date'] for version in names)} |",
    ]
    for question in questions:
        cells = ["yes" if question in versions[version]["questions"] else "–" for version in names]
        lines.append(f"| {question} | {' | '.join(cells)} |")
    return "\n".join(lines)


def engine_table(name: str, kind: str) -> str:
    """One table of an engine's page."""
    heads, rows = ENGINE_TABLES[kind]
    spec = load.preset(f"backends/{name}").value["spec"]
    table = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    return "\n".join([*table, *(f"| {' | '.join(cells)} |" for cells in rows(spec))])


TABLES = {
    "errors": error_table,
    "sources": source_table,
    "scales": scale_table,
    "backends": backend_table,
    "called": called_table,
    "weighs": weighs_table,
    "gateway keys": gateway_table,
    "start logs": fit_table,
    "accelerator types": accelerator_table,
    "accelerator parts": parts_table,
    "models": model_table,
    "parsers": parser_table,
    "engine releases": knows.engine_table,
    "where releases are listed": knows.source_list,
    "modules of CRDs": knows.crd_table,
    "other facts": knows.fact_table,
}
ENGINE_TABLES: dict[str, tuple[tuple[str, ...], Callable[[Spec], Iterator[tuple[str, ...]]]]] = {
    "facts": (("fact", "here"), facts),
    "images": (("accelerator", "image", "under `hardening: restricted`"), variants),
    "probes": (("probe", "asks", "every", "answer within", "gives up after"), probes),
    "metrics": (("metric", "here"), metrics),
    "added": (("when", "adds"), added),
    "versions": (("version", "what is rendered otherwise"), by_version),
}


def linked_engines(text: str, folder: str) -> str:
    """The page with links to the pages of engines between `<!-- engines -->` and its end. `folder`: of these pages."""
    links = ", ".join(f"[{name}]({folder}/{name}.md)" for name, _ in backends())
    return re.sub(r"(<!-- engines -->).*?(<!-- /engines -->)", rf"\1{links}\2", text, flags=re.DOTALL)


def navigation() -> str:
    """mkdocs.yml with the pages of engines."""
    entries = "".join(f"          - {name}: engines/{name}.md\n" for name, _ in backends())
    text = NAVIGATION.read_text("utf-8")
    return re.sub(r"(      - Engines:\n)(?:          - .*\n)*", rf"\1{entries}", text)


def first_screen(readme: str) -> str:
    """The part of README.md that is the first page of docs/, too, with links from there."""
    _, _, part = readme.partition("<!-- first screen -->\n")
    part, _, _ = part.partition("\n<!-- /first screen -->")
    return re.sub(r"\]\((?!https:)(?:docs/)?", lambda match: "](" if match[0].endswith("docs/") else "](../", part)


def filled(text: str, name: str, table: str) -> str:
    """The page with the table between `<!-- name -->` and `<!-- /name -->`."""
    between = rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)"
    return re.sub(between, lambda match: f"{match[1]}{table}\n{match[2]}", text, flags=re.DOTALL)


def rewritten(path: Path) -> str:
    """The page with its made parts made again."""
    if path == NAVIGATION:
        return navigation()
    text = linked_engines(path.read_text(), "engines" if path.parent == ROOT / "docs" else "docs/engines")
    if path == ROOT / "docs" / "index.md":
        text = filled(text, "first screen", first_screen((ROOT / "README.md").read_text()))
    for name, table in TABLES.items():
        if f"<!-- {name} -->" in text:
            text = filled(text, name, table())
    if path.parent == ROOT / "docs" / "engines":
        for name in ENGINE_TABLES:
            text = filled(text, name, engine_table(path.stem, name))
        if "<!-- seen -->" in text:
            text = filled(text, "seen", seen(path.stem))
    return text


def main() -> int:
    stale = []
    for path in [ROOT / "README.md", NAVIGATION, *sorted((ROOT / "docs").rglob("*.md"))]:
        if (new := rewritten(path)) != path.read_text():
            stale.append(path)
            if "--check" not in sys.argv[1:]:
                path.write_text(new)
    for path in stale:
        print(f"{path.relative_to(ROOT)}: {'stale' if '--check' in sys.argv[1:] else 'rewritten'}")
    return 1 if stale and "--check" in sys.argv[1:] else 0


if __name__ == "__main__":
    sys.exit(main())
