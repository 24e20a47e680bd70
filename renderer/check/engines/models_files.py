"""A file with the options of several models that an engine reads from a ConfigMap of the set: each section is judged as
a command line, and the file by what ends the server, changes its names or is not read.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct, structs

from renderer.check.engines.neighbours import PlacedEngine
from renderer.check.engines.reachability import PROBES
from renderer.diagnostics import Collector, Diagnostic, Origin, dotted, make_diagnostic, rule
from renderer.engines.dialect import ArgLayer
from renderer.engines.given_options import option_names
from renderer.engines.handwritten_command import table_entry
from renderer.engines.models_file import OFF, ON, UNNAMED, ReadPair, ReadSection, switch_value
from renderer.engines.rules import run_rules_or_stop
from renderer.engines.rules.disk import mount_of
from renderer.engines.running_engine import EngineLine, RunningEngine
from renderer.engines.section_options import ModelsFile, models_path, option_of, pair_words, setting_of
from renderer.engines.version_order import version_key
from renderer.kubernetes.json_values import list_at, map_at, maps_at, text_at
from renderer.kubernetes.mounted_files import mounted_key
from renderer.kubernetes.variable_references import plain_variables
from renderer.kubernetes.workloads import selects
from renderer.yamlio import LineOfText

_DASHES = re.compile(r"(?<![\w-])--?(?=[a-zA-Z])")  # of an option in a message: a key has none
_REPLACED = re.compile(r"--([\w-]+) ([^\s;,]+)(?= instead)")  # an option with its value
_METRICS = "/metrics"
_MONITORS = {"PodMonitor": "podMetricsEndpoints", "ServiceMonitor": "endpoints"}
_AUTOLOAD = ("autoload", ["false"])  # a parameter of a monitor
_ANNOTATION = "prometheus.io/"
_PROVIDE = "provide it with a volume, or name the path at which a volume of the pod has it"


class PlacedModels(ModelsFile):
    """The file of models of an engine, and what is on the server's command line beside it."""

    def __init__(self, placed: PlacedEngine, running: RunningEngine, text: str, origin: Origin) -> None:
        """`origin`: of the text."""
        line, rules = placed.line, placed.line.option_rules
        options = rules.option_list.options if rules else placed.catalog.all_options(line.backend)
        super().__init__(text, options, table_entry(line.backend)["modelsFile"])
        self.placed, self.running, self.origin, self._text = placed, running, origin, text
        self.beating = self.of_server(line.engine.style, line.args)
        self.limit = self.most(line.engine.style, line.args, plain_variables(placed.container.body))

    @property
    def of(self) -> str:
        """The engine and its version, for messages."""
        return _versioned(self.placed)

    def at(self, section: ReadSection, pair: ReadPair | None = None, *, key: bool = False) -> Origin:
        """The place of a section's header, or of a pair."""
        path = (section.name, pair.key) if pair else (section.name,)
        source = LineOfText(self.origin, self._text, *((pair.line, pair.column) if pair else (section.line, 1)))
        return Origin(source, (*self.origin.path, *path), key=key)

    def at_line(self, number: int) -> Origin:
        """The place of a line that cannot be read."""
        return Origin(LineOfText(self.origin, self._text, number, 1), self.origin.path)

    def is_judged(self, key: str) -> bool:
        """Whether a key is judged as on a command line: one of two values ends the server, whatever they are."""
        option = option_of(self.options, key)
        return self.is_option(key) and not (option and option.arity == "2")

    @property
    def is_all(self) -> bool:
        """Whether the server has the models of the file alone."""
        names = {*self.placed.line.args, *plain_variables(self.placed.container.body)}
        return names.isdisjoint(self.entry["further"])

    @property
    def loads_when_asked(self) -> bool:
        """Whether a request for a model that is not in memory loads it."""
        variables = [text_at(variable, "name") for variable in maps_at(self.placed.container.body, "env")]
        return {*self.placed.line.args, *variables}.isdisjoint(self.entry["lazy"])


def _versioned(placed: PlacedEngine) -> str:
    return f"{placed.line.backend} {placed.line.version}".strip()


def _path_of(placed: PlacedEngine) -> str:
    """The path of the file of models that an engine reads; '' where it reads none."""
    entry = table_entry(placed.line.backend).get("modelsFile")
    if not entry or placed.line.hides_options:
        return ""
    return models_path(placed.line.args, plain_variables(placed.container.body), entry)


def placed_models(placed: PlacedEngine, running: RunningEngine) -> PlacedModels | None:
    """The file of models that an engine reads from a ConfigMap of the set; None where it reads none, or elsewhere."""
    container, path = placed.container, _path_of(placed)
    mounted = mounted_key(container.pod, container.body, path) if path else None
    document = placed.neighbours.document("ConfigMap", container.namespace, mounted.config_map) if mounted else None
    text = map_at(document.value, "data").get(mounted.key) if document and mounted else None
    if document is None or mounted is None or not isinstance(text, str):
        return None
    return PlacedModels(placed, running, text, document.origin("data", mounted.key))


@rule(of=PlacedEngine)
def missing_file(placed: PlacedEngine) -> Iterator[Diagnostic]:
    """An error where the ConfigMap that is mounted has no file of that name: the server ends without it."""
    container, path = placed.container, _path_of(placed)
    mounted = mounted_key(container.pod, container.body, path) if path else None
    config_map = placed.neighbours.find("ConfigMap", container.namespace, mounted.config_map) if mounted else {}
    keys = {**map_at(config_map, "data"), **map_at(config_map, "binaryData")}
    if mounted is None or not config_map or mounted.key in keys:
        return
    words = container.recognised.command.arguments
    origin = next((word.origin for word in words if word.text == path), container.origin("env"))
    volumes = maps_at(container.pod, "volumes")
    if any(text_at(volume, "name") == mounted.volume and map_at(volume, "configMap", "items") for volume in volumes):
        return  # the kubelet does not start the pod, which is told elsewhere
    there = " or ".join(posixpath.join(mounted.mount_path, key) for key in keys) or "a key of the ConfigMap"
    why = f"the ConfigMap '{mounted.config_map}' has no key '{mounted.key}'"
    yield make_diagnostic("E933", origin, of=_versioned(placed), why=why, hint=f"write {there}, or add the key")


@rule(of=PlacedModels)
def refused_options(models: PlacedModels) -> Iterator[Diagnostic]:
    """What the rules about engines say of each section as a command line, at its place in the file."""
    if models.file.unread:
        return
    collector = Collector()
    for section in models.models or filter(None, [models.shared]):
        line = _section_line(models, section)
        facts = partial(models.placed.catalog.model_facts, models.value_of(section, "repository").partition(":")[0])
        for record in (line, structs.replace(models.running, line=line, facts=facts)):
            run_rules_or_stop(record, collector)
    file, within = models.origin.place[0], dotted(models.origin.path)
    for problem in collector.problems:
        if problem.file == file and problem.field.startswith(f"{within}") and problem.field != within:
            hint = _DASHES.sub("", _REPLACED.sub(r"\1 = \2", problem.hint))
            yield structs.replace(problem, message=_DASHES.sub("", problem.message), hint=hint)


def _section_line(models: PlacedModels, section: ReadSection) -> EngineLine:
    """The command line of a model. What the server's own line says beats the file."""
    line = models.placed.line
    style = structs.replace(line.engine.style, underscores=False, names={})
    layers = []
    for part in filter(None, (models.shared, section)):
        words = [
            (word, models.at(part, pair, key=not i))
            for _, pair in models.last_pairs(part).values()
            if models.is_judged(pair.key)
            for i, word in enumerate(pair_words(models.options, pair).words)
        ]
        texts, origins = [word for word, _ in words], tuple(origin for _, origin in words)
        layers.append(ArgLayer(texts, models.at(part), origins=origins))
    args = tuple(word for words in models.words_of(section, models.beating).values() for word in words)
    rules = line.option_rules
    return structs.replace(
        line,
        engine=structs.replace(line.engine, style=style, option_findings={}),
        args=args,
        options=option_names(style, args),
        written=layers,
        option_rules=structs.replace(rules, style=style) if rules else None,
        start=None,
    )


@rule(of=PlacedModels)
def ended_server(models: PlacedModels) -> Iterator[Diagnostic]:
    """An error for what ends the server when it reads the file."""
    for number, (why, hint) in models.file.unread.items():
        words = {"why": f"it cannot read this line: {why}", "hint": hint}
        yield make_diagnostic("E933", models.at_line(number), of=models.of, **words)
    if models.file.unread:
        return
    for section in models.file.sections:
        for pair in section.pairs:
            option = option_of(models.options, pair.key)
            if option and option.arity == "2":
                why = f"'{pair.key}' has two values, and a key has one"
                origin = models.at(section, pair, key=True)
                yield make_diagnostic("E933", origin, of=models.of, why=why, hint="leave the key out")
    yield from _too_many_loaded(models)
    owners: dict[str, ReadSection] = {section.model: section for section in models.models}
    for section in models.models:
        for name in models.names_of(section):
            if (owner := owners.setdefault(name, section)) is not section:
                part, pair = models.pairs_of(section)[models.setting("name")]
                why = f"the models '{owner.model}' and '{section.model}' have one name, '{name}'"
                hint = f"give one of them another {models.entry['name'].lstrip('-')}"
                yield make_diagnostic("E933", models.at(part, pair), of=models.of, why=why, hint=hint)


def _too_many_loaded(models: PlacedModels) -> Iterator[Diagnostic]:
    """An error where more models are loaded at the start than may be in memory; 0 for any number is none here."""
    key = models.entry["preload"]
    loaded = [models.pairs_of(section)[key] for section in models.models if models.is_preloaded(section)]
    if models.limit is not None and len(loaded) > models.limit:
        part, pair = loaded[max(models.limit, 0)]
        why = f"{len(loaded)} models have {key}, and {models.entry['most']} is {models.limit}"
        hint = f"write {models.entry['most']} {len(loaded)} on the command line, or load fewer at the start"
        yield make_diagnostic("E933", models.at(part, pair, key=True), of=models.of, why=why, hint=hint)


@rule(of=PlacedModels)
def keys_without_effect(models: PlacedModels) -> Iterator[Diagnostic]:
    """A warning for each section and key that the server reads over, or that something else beats."""
    if models.file.unread:
        return
    last = {section.name: section for section in models.file.sections}
    for section in models.file.sections:
        if (counted := last[section.name]) is not section:
            why = f"the section begins again in line {models.at(counted).place[1]}, which takes its place"
            words = {"key": f"[{section.name}]", "why": why, "hint": "keep one of the two"}
            yield make_diagnostic("W933", models.at(section), **words)
            continue
        counting = models.last_pairs(section)
        for pair in section.pairs:
            why, hint = _overruled(models, section, pair, counting[setting_of(models.options, pair.key)][1])
            if why:
                words = {"key": f"'{pair.key}'", "why": why, "hint": hint}
                yield make_diagnostic("W933", models.at(section, pair, key=True), **words)


def _overruled(models: PlacedModels, section: ReadSection, pair: ReadPair, counted: ReadPair) -> tuple[str, str]:
    """What beats a pair, and what to do; '' where nothing does. `counted`: the pair of its section that counts."""
    option = option_of(models.options, pair.key)
    if counted is not pair:
        line = models.at(section, counted).place[1]
        return f"'{counted.key}' in line {line} counts", "keep one of the two"
    if option and option.name in models.entry["own"]:
        return "the server sets it for each model itself", "leave the key out: the command line says the server's own"
    words = models.beating.get(setting_of(models.options, pair.key))
    if words and models.is_option(pair.key) and _differs(models, words, pair):
        shown = " ".join(words)
        return f"the command line says {shown}, which beats the file", "leave out one of the two"
    return "", ""


def _differs(models: PlacedModels, words: Sequence[str], pair: ReadPair) -> bool:
    """Whether the command line says something else than a pair, both in whatever spelling."""
    own = pair_words(models.options, pair).words
    names = [option.name if (option := models.options.get(line[0])) else line[0] for line in (words, own) if line]
    return len(names) < 2 or names[0] != names[1] or [*words[1:]] != [*own[1:]]


@rule(of=PlacedModels)
def misread_switches(models: PlacedModels) -> Iterator[Diagnostic]:
    """A warning for a value of a switch that is none of the words for on and off: it is read as the other one, too."""
    for section in models.file.sections:
        for pair in section.pairs if not models.file.unread else ():
            read = pair_words(models.options, pair).read if models.is_option(pair.key) else ""
            if pair.key == models.entry["preload"] and not switch_value(pair.value):
                read = "off"
            if read:
                hint = f"write {ON} or {OFF}"
                words = {"of": models.of, "option": pair.key, "value": pair.value, "read": read, "hint": hint}
                yield make_diagnostic("W442", models.at(section, pair), **words)


@rule(of=PlacedModels)
def changed_names(models: PlacedModels) -> Iterator[Diagnostic]:
    """A warning for a model that the server calls by another name than its section."""
    for section in models.models if not models.file.unread else ():
        names = [section.model, *models.names_of(section)]
        if section.name == UNNAMED and not section.line:
            hint = "write [*] in front of them, if all models are to share them"
            words = {"model": UNNAMED, "why": ", since its keys stand in front of the first section", "hint": hint}
            yield make_diagnostic("W934", models.at(section, section.pairs[0], key=True), **words)
        elif section.name not in names:
            key = models.entry["name"].lstrip("-")
            others = ",".join([section.name, *models.names_of(section)])
            why = f", and refuses requests for '{section.name}'"
            words = {"model": section.model, "why": why, "hint": f"write {key} = {others} below it"}
            yield make_diagnostic("W934", models.at(section), **words)


@rule(of=PlacedModels)
def unserved_names(models: PlacedModels) -> Iterator[Diagnostic]:
    """A warning for each route that asks for a name that no model has."""
    container = models.placed.container
    names = [name for section in models.models for name in (section.model, *models.names_of(section))]
    if models.file.unread or not names or not models.is_all:
        return
    for request in models.placed.neighbours.requests_to(container.namespace, map_at(container.metadata, "labels")):
        if request.name not in names:
            file, line, _ = request.origin.place
            hint = f"write {models.entry['name'].lstrip('-')} = {request.name} below the model that is meant"
            words = {"served": "', '".join(names), "name": request.name, "where": f" ({file}:{line})", "hint": hint}
            yield make_diagnostic("W250", models.at(models.models[0]), **words)


@rule(of=PlacedModels)
def missing_weights(models: PlacedModels) -> Iterator[Diagnostic]:
    """A warning for each model whose weights are in no volume of the pod, and hardly in the image."""
    container = models.placed.container
    if models.file.unread or container.replica is None or not container.recognised.is_own_image:
        return
    for section in models.models:
        path = models.value_of(section, "path")
        elsewhere = models.value_of(section, "repository") or models.value_of(section, "url")
        if path.startswith("/") and not elsewhere and not mount_of(models.running, posixpath.normpath(path)):
            part, pair = models.pairs_of(section)[models.setting("path")]
            yield make_diagnostic("W481", models.at(part, pair), option=f"the key {pair.key}", path=path, hint=_PROVIDE)


@rule(of=PlacedModels)
def interrupted_answers(models: PlacedModels) -> Iterator[Diagnostic]:
    """A warning for a version that ends a model which still answers, to load another one."""
    version, since, count = models.placed.line.version, models.entry["since"], len(models.models)
    if version and version_key(version) < version_key(since) and models.limit is not None and 0 < models.limit < count:
        origin = models.running.version_origin() or models.placed.container.origin()
        words = {"of": models.of, "count": count, "most": models.limit, "since": since}
        yield make_diagnostic("W936", origin, **words)


@rule(of=PlacedModels)
def loading_requests(models: PlacedModels) -> Iterator[Diagnostic]:
    """A warning for each probe and scrape that loads a model, and for each scrape of metrics that names none."""
    container = models.placed.container
    for field in PROBES:
        path = text_at(container.body, field, "httpGet", "path")
        if "model=" in path and models.loads_when_asked and "autoload=false" not in path:
            origin, hint = container.origin(field, "httpGet", "path"), "write path: /health"
            yield make_diagnostic("W935", origin, what=f"the {field}", effect="loads its model each time", hint=hint)
    for scrape in _scrapes(models):
        path, _, query = scrape.path.partition("?")
        params = list_at(scrape.params, "model")
        if path != _METRICS:
            continue
        if "model=" not in query and not params:
            effect = "gets no metrics: the server has none without a model"
        elif models.loads_when_asked and "autoload=false" not in query and _AUTOLOAD not in scrape.params.items():
            effect = "loads its model each time"
        else:
            continue
        name = [*params, *(section.model for section in models.models), "NAME"][0]
        hint = f"write params: {{model: [{name!r}], autoload: ['false']}} at an endpoint for each model"
        if not scrape.takes_params:
            hint = "scrape by a PodMonitor with an endpoint for each model instead"
        yield make_diagnostic("W935", scrape.origin, what=scrape.what, effect=effect, hint=hint)


class _Scrape(Struct, frozen=True):
    """What scrapes the pods."""

    origin: Origin
    what: str  # in words
    path: str
    params: Mapping[str, Any] = {}
    takes_params: bool = True


def _scrapes(models: PlacedModels) -> Iterator[_Scrape]:
    """What scrapes the pods: an annotation of theirs, and monitors."""
    container, neighbours = models.placed.container, models.placed.neighbours
    annotations, labels = map_at(container.metadata, "annotations"), map_at(container.metadata, "labels")
    if str(annotations.get(f"{_ANNOTATION}scrape")).lower() == "true" and container.template:
        path = str(annotations.get(f"{_ANNOTATION}path", _METRICS))
        origin = container.document.origin(*container.template.path, "metadata", "annotations", f"{_ANNOTATION}scrape")
        yield _Scrape(origin, f"the annotation {_ANNOTATION}scrape", path, takes_params=False)
    services = neighbours.services_of(container.namespace, labels)
    labels_of = {
        "PodMonitor": [labels],
        "ServiceMonitor": [map_at(one.value, "metadata", "labels") for one in services],
    }
    for kind, field in _MONITORS.items():
        for namespace, document in neighbours.all(kind):
            spec, name = map_at(document.value, "spec"), text_at(document.value, "metadata", "name")
            spaces = map_at(spec, "namespaceSelector")
            if not spaces.get("any") and container.namespace not in (list_at(spaces, "matchNames") or [namespace]):
                continue
            if not any(selects(map_at(spec, "selector"), selected) for selected in labels_of[kind]):
                continue
            for i, endpoint in enumerate(maps_at(spec, field)):
                path, params = text_at(endpoint, "path") or _METRICS, map_at(endpoint, "params")
                yield _Scrape(document.origin("spec", field, i), f"{kind} '{name}'", path, params)
