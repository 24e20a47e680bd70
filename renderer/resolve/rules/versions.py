"""What is told about the engine's version: unknown, other than the preset's, or a tag that moves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from renderer.diagnostics import Diagnostic, Origin, ReplacingHint, make_diagnostic, rule
from renderer.engines.option_lists import completed_version, learnt_from, list_path
from renderer.engines.version_order import version_key
from renderer.resolve.container_words import literal_words
from renderer.resolve.engine import engine_variants, template_words, versions
from renderer.resolve.kube import images
from renderer.resolve.pod import pod_template
from renderer.resolve.workload.engine_process import EngineProcess
from renderer.resolve.workload.engine_run import BACKEND, EngineRun
from renderer.text import escapes

_PODS = {"none": "no accelerators"}  # in words, by the accelerator of a variant
_V_IN_FRONT = re.compile(r"(v?)\d")


@rule(of=EngineRun, when=lambda run: run.backend_config.get("version"))
def invalid_tag(run: EngineRun) -> Iterator[Diagnostic]:
    """An error where the Playground's version is not a tag."""
    yield from images.invalid_image(run.backend_config["version"], "tag", run.base.app.origin(*BACKEND, "version"))


@rule(of=EngineRun, when=lambda run: "version" in run.backend_config)
def contradicting_image(run: EngineRun) -> Iterator[Diagnostic]:
    """An error where an image of the engine's own repository is of another version than the Playground names."""
    app, engine = run.base.app, run.engine
    named, patched = run.backend_config.get("version", ""), pod_template.runner_image(app)
    if patched is None or not (expected := engine.tag_version(named)):
        return
    image, origin = patched
    tag = engine_variants.tag_of_own_image(engine, run.base.context.inputs.config, image)
    if (version := engine.tag_version(tag)) and version_key(version) != version_key(expected):
        file, line, _ = app.origin(*BACKEND, "version").place
        words = {"image": image, "version": version, "named": named, "file": file, "line": line}
        yield make_diagnostic("E400", origin, backend=engine.runtime.name, **words)


def _may_name_tag(run: EngineRun) -> bool:
    return run.engine.runtime.ours and ("version" in run.backend_config or "podTemplate" in run.base.app.spec)


@rule(of=EngineRun, when=_may_name_tag)
def tag_of_another_form(run: EngineRun) -> Iterator[Diagnostic]:
    """A warning for a version, or the tag of an image in a preset's repository, with a `v` in front that the tags there
    do not have, or without theirs.
    """
    app, runtime, named = run.base.app, run.engine.runtime, run.backend_config.get("version", "")
    origin, form = app.origin(*BACKEND, "version"), "version: {}"
    if patched := pod_template.runner_image(app):
        image, origin = patched
        named = engine_variants.tag_of_own_image(run.engine, run.base.context.inputs.config, image).partition("@")[0]
        form = f"image: {image.partition('@')[0].removesuffix(named)}{{}}"
    preset_form, named_form = (_V_IN_FRONT.match(tag) for tag in (runtime.spec["version"], named))
    if not preset_form or not named_form or preset_form[1] == named_form[1]:
        return
    listed_version = completed_version(run.base.context.inputs.option_files, runtime, named)
    if listed_version and patched is None:
        return  # W231 leads to the whole tag
    tag = preset_form[1] + (listed_version or named.removeprefix("v"))
    hint = ReplacingHint(f"write {form.format(tag)}", named, tag)
    words = {"backend": runtime.name, "named": named, "tag": tag, "hint": hint}
    yield make_diagnostic("W464", origin, **words)


def _may_name_build(run: EngineRun) -> bool:
    return "version" in run.backend_config and run.engine.runtime.ours and "variants" in run.engine.spec


@rule(of=EngineRun, when=_may_name_build)
def build_for_other_accelerators(run: EngineRun) -> Iterator[Diagnostic]:
    """A warning for a version that is the tag of a build for other accelerators than those of the pod."""
    engine, named, variant = run.engine, run.backend_config["version"], run.size.variant
    version, patched = engine.tag_version(named), pod_template.runner_image(run.base.app)
    own = variant.get("version", engine.runtime.spec["version"])
    if not version or patched is not None or "accelerator" not in variant or "image" in variant:
        return
    build = named.replace(version, engine.tag_version(own))
    builds = {
        entry.get("version", engine.runtime.spec["version"]): entry["accelerator"]
        for entry in engine.spec["variants"]
        if "accelerator" in entry and "image" not in entry
    }
    if build in builds and build != own and builds[build] != variant["accelerator"]:
        right = own.replace(engine.tag_version(own), version)
        words = {
            "named": named,
            "of": _PODS.get(builds[build], f"{builds[build]} accelerators"),
            "has": _PODS.get(variant["accelerator"], f"{variant['accelerator']} accelerators"),
            "hint": ReplacingHint(f"write version: {right}", named, right),
        }
        yield make_diagnostic("W885", run.base.app.origin(*BACKEND, "version"), **words)


@rule(of=EngineRun, when=lambda run: "versions" in run.model_settings)
def invalid_model_versions(run: EngineRun) -> Iterator[Diagnostic]:
    """An error for each mistake in what a model says of versions of the engine."""
    origin = Origin(run.base.claim.main.document, ("spec", "engines", run.engine.runtime.name))
    yield from versions.invalid_model_versions(run.model_settings, origin)


@rule(of=EngineRun, when=lambda run: not run.version)
def unknown_version(run: EngineRun) -> Iterator[Diagnostic]:
    """A note where the version of the engine in an image is not known, though presets know options by version."""
    engine, app = run.engine, run.base.app
    if not engine.templated or run.backend_config.get("version"):
        return
    if not list_path(engine.spec) and "versions" not in engine.spec:
        return
    if patched := pod_template.runner_image(app):
        image, origin = patched
        hint = f"name it in backendRuntimeConfig.version, such as {engine.runtime.spec['version']}"
        yield make_diagnostic("N449", origin, backend=engine.runtime.name, image=image, hint=hint)
    elif not engine.runtime.ours:
        image = f"{engine.runtime.spec['image']}:{run.tag}"
        hint = "write the version itself as spec.engine.options.version"
        yield make_diagnostic("N449", engine.origin.at("version"), backend=engine.runtime.name, image=image, hint=hint)


@rule(of=EngineProcess)
def unlisted_version(process: EngineProcess) -> Iterator[Diagnostic]:
    """A warning for a version that is newer than all whose options are known."""
    run, rules = process.run, process.option_rules
    if rules and rules.is_beyond:
        name, hint = run.engine.runtime.name, "look for a newer llmaz"
        if run.engine.runtime.ours and (command := learnt_from(run.engine.spec)):
            version = escapes.shell_word(run.version)
            hint += f", or let it learn: {command} | llmaz presets learn {name} {version} -"
        words = {"backend": name, "version": run.version, "nearest": rules.option_list.version, "hint": hint}
        yield make_diagnostic("W400", run.version_layers[-1].origin, **words)


@rule(of=EngineRun, when=lambda run: run.engine.refusals, gate=True)
def refused_by_version(run: EngineRun) -> Iterator[Diagnostic]:
    """An error with all that this version does not support. Raises TemplateError."""
    engine, inputs, words = run.engine, run.base.context.inputs, literal_words(run.words)
    refused = [str(entry.message(words)) for entry in engine.refusals if entry.when(words)]
    if not refused:
        return
    name, origin = engine.runtime.name, run.version_layers[-1].origin
    hint = versions.capable_versions_hint(
        inputs.option_files, inputs.runtimes[name], run.version, template_words.WORDS, words
    )
    if hint and pod_template.runner_image(run.base.app):
        hint += "; the image in the podTemplate has to be of that version too"
    what = "; it ".join(dict.fromkeys(refused))
    yield make_diagnostic("E444", origin, backend=name, version=run.version, what=what, hint=hint)


@rule(of=EngineRun, when=lambda run: run.engine.notes, after=refused_by_version)
def other_in_version(run: EngineRun) -> Iterator[Diagnostic]:
    """A note for each difference of this version. Raises TemplateError."""
    words = literal_words(run.words)
    for entry in run.engine.notes:
        if entry.when(words):
            name, what = run.engine.runtime.name, entry.message(words)
            yield make_diagnostic("N448", run.version_layers[-1].origin, backend=name, version=run.version, what=what)


@rule(of=EngineRun)
def moving_tag(run: EngineRun) -> Iterator[Diagnostic]:
    """A warning for a tag that moves from image to image."""
    tag, origin = run.version_layers[-1].value, run.version_layers[-1].origin
    if not _is_moving_tag(tag):
        return
    preset_tag = run.version_layers[-2 if "version" in run.backend_config else -1].value
    hint = "" if images.MOVING_TAG.match(preset_tag) else f", such as {preset_tag}"
    yield make_diagnostic("W238", origin, tag=tag, hint=f"name a fixed one{hint}, or a digest")


@lru_cache(maxsize=1024)
def _is_moving_tag(tag: str) -> bool:
    return bool(images.MOVING_TAG.match(tag)) and "sha256:" not in tag
