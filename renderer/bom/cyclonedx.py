"""Writes a bill of materials as CycloneDX 1.6 has it in JSON: sorted, without a time, a random number or a version of
ours, so that equal input makes equal bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import quote

from renderer.bom.licences import spdx_id
from renderer.bom.materials import Bill, BilledApp, BilledImage, BilledModel
from renderer.policy.definitions import is_commit
from renderer.resolve.kube.images import is_image, split_image, split_tag
from renderer.text import escapes

_TREE = "tree"
_SAFE = "/:@!$&'()*+,;="  # beside letters and digits, what a path of a URL may have
_ALGORITHMS = {"sha256": "SHA-256", "sha384": "SHA-384", "sha512": "SHA-512"}
_Component = dict[str, object]


def to_json(bill: Bill) -> str:
    """The bill: each model, image and app as a component, and what each app depends on."""
    apps = {_app_ref(app): app for app in bill.apps}
    models, images = _model_refs(bill.models), dict[str, list[BilledImage]]()
    for image in bill.images:
        images.setdefault(_image_ref(image), []).append(image)
    components = {ref: _app_component(ref, app) for ref, app in apps.items()}
    components |= {ref: _model_component(ref, model) for model, ref in models.items()}
    components |= {ref: _image_component(ref, entries) for ref, entries in images.items()}
    depends = {ref: {*map(models.__getitem__, app.models), *map(_image_ref, app.images)} for ref, app in apps.items()}
    depends[_TREE] = {*apps}
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "application", "bom-ref": _TREE, "name": bill.name}},
        "components": [components[ref] for ref in sorted(components)],
        "dependencies": [_dependency(ref, depends.get(ref, ())) for ref in sorted({_TREE, *components})],
    }
    return escapes.json_text(document, indent=2) + "\n"


def _dependency(ref: str, others: Iterable[str]) -> _Component:
    return {"ref": ref, **({"dependsOn": sorted(others)} if others else {})}


def _app_ref(app: BilledApp) -> str:
    return "app:" + "/".join(filter(None, (app.environment, app.namespace, app.kind, app.name)))


def _model_refs(models: Iterable[BilledModel]) -> dict[BilledModel, str]:
    """The reference of each model: name and version. Where environments change something else of it, the others get a
    number.
    """
    refs: dict[str, BilledModel] = {}
    for model in sorted(models):
        version, number = _model_version(model), 1
        ref = first = f"model:{model.name}{f'@{version}' if version else ''}"
        while ref in refs:
            number += 1
            ref = f"{first}#{number}"
        refs[ref] = model
    return {model: ref for ref, model in refs.items()}


def _image_ref(image: BilledImage) -> str:
    return f"image:{image.reference}"


def _app_component(ref: str, app: BilledApp) -> _Component:
    properties = [("environment", app.environment), ("kind", app.kind), ("file", app.file)]
    properties += [("engine", engine) for engine in app.engines]
    return {
        "type": "application",
        "bom-ref": ref,
        **({"group": app.namespace} if app.namespace else {}),
        "name": app.name,
        "properties": _properties(properties),
    }


def _model_version(model: BilledModel) -> str:
    """The revision on a hub, or the digest of the image, else its tag; '' without one."""
    if model.image:
        return model.image.partition("@")[2] or split_tag(model.image)[1]
    return model.revision


def _model_component(ref: str, model: BilledModel) -> _Component:
    version, url = _model_version(model), _model_url(model)
    known = {"task": model.task, "architectureFamily": model.family, "modelArchitecture": model.architecture}
    pages = [{"type": "model-card", "url": quote(model.page, _SAFE)}] if model.page else []
    return {
        "type": "machine-learning-model",
        "bom-ref": ref,
        "name": model.name,
        **({"version": version} if version else {}),
        **_hashes(model.image),
        **({"licenses": [{"license": _licence(model.licence)}]} if model.licence else {}),
        **({"purl": url} if url else {}),
        "externalReferences": [{"type": "distribution", "url": _address_url(model.address)}, *pages],
        "modelCard": {"modelParameters": {key: text for key, text in known.items() if text}},
        **({"properties": _properties(("file", name) for name in model.files)} if model.files else {}),
    }


def _licence(text: str) -> dict[str, str]:
    """Its SPDX id, else its name."""
    return {"id": known} if (known := spdx_id(text)) else {"name": text}


def _model_url(model: BilledModel) -> str:
    """The package URL of a model on Hugging Face, whose version is a commit, or of its image; '' for none."""
    if model.image:
        return _image_url(model.image)
    if not model.hub_id:
        return ""
    commit = f"@{model.revision}" if is_commit(model.revision) else ""
    return f"pkg:huggingface/{quote(model.hub_id)}{commit}"


def _address_url(address: str) -> str:
    """The address as a URL. What follows a colon in its host is escaped where it is no port, such as the tag of a model
    that its engine pulls.
    """
    scheme, _, rest = address.partition("://")
    host, slash, path = rest.partition("/")
    has_port = re.fullmatch(r"[^:]*:\d+", host)
    return f"{scheme}://{quote(host, '@:' if has_port else '@')}{slash}{quote(path, _SAFE)}"


def _image_component(ref: str, images: Iterable[BilledImage]) -> _Component:
    reference = ref.partition(":")[2]
    containers = sorted({image.container for image in images})
    properties = {"properties": _properties(("container", name) for name in containers)}
    if not is_image(reference):
        return {"type": "container", "bom-ref": ref, "name": reference, **properties}
    name, tag = split_tag(reference)
    version = tag or reference.partition("@")[2]
    return {
        "type": "container",
        "bom-ref": ref,
        "name": name,
        **({"version": version} if version else {}),
        **_hashes(reference),
        "purl": _image_url(reference),
        **properties,
    }


def _image_url(reference: str) -> str:
    """The package URL of an image: its version is the digest, if it has one."""
    digest = reference.partition("@")[2]
    registry, path = split_image(split_tag(reference)[0])
    tag = split_tag(reference)[1]
    version, tag = f"@{digest}" if digest else "", f"&tag={tag}" if tag else ""
    return f"pkg:oci/{path.rpartition('/')[2]}{version}?repository_url={registry}/{path}{tag}"


def _hashes(image: str) -> _Component:
    """The digest of an image, as a field; none without one."""
    algorithm, _, digest = image.partition("@")[2].partition(":")
    return {"hashes": [{"alg": _ALGORITHMS[algorithm], "content": digest}]} if algorithm in _ALGORITHMS else {}


def _properties(values: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"name": f"llmaz:{name}", "value": value} for name, value in values if value]
