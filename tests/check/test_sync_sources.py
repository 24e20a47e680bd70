"""Which sources of Argo CD and Flux, and which kustomizations, bring rendered files to a cluster as they are."""

from __future__ import annotations

from typing import Any

import pytest

from renderer import yamlio
from renderer.check.sync_sources import SyncedRepository, synced_repository, validate_overlay, validate_sync_folder

APPLICATION = "{{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {{name: a}}, spec: {{source: {0}}}}}"
FLUX = "{{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {{name: a}}, spec: {0}}}"


def rendered(kind: str, namespace: str) -> dict[str, Any]:
    labels = {"app.kubernetes.io/managed-by": "llmaz-renderer"}
    return {"kind": kind, "metadata": {"name": "chat", "namespace": namespace, "labels": labels}}


REPOSITORY = synced_repository(
    [
        ("rendered/llm/chat.yaml", rendered("Deployment", "llm")),
        ("rendered/llm/route.yaml", rendered("Backend", "llm")),
        ("rendered/web/web.yaml", rendered("Deployment", "web")),
        ("rendered/gateways/_shared.yaml", rendered("Gateway", "gateways")),
        ("input/chat.yaml", {"apiVersion": "inference.llmaz.io/v1alpha1", "kind": "Playground"}),
        ("models/qwen.yaml", {"apiVersion": "llmaz.io/v1alpha1", "kind": "OpenModel"}),
    ],
    "rendered",
    (),
    {"rendered/built/kustomization.yaml"}.__contains__,
    {"rendered": ["built", "gateways", "llm", "web"], "rendered/built": [], "rendered/llm": [], "rendered/web": []}.get,
)


def codes(text: str, repository: SyncedRepository = REPOSITORY) -> list[str]:
    (document,) = yamlio.parse("a.yaml", text.encode())[0]
    return [problem.code for problem in validate_sync_folder(document, repository)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{path: rendered}", ["W730"]),
        ("{path: /rendered/, directory: {recurse: false}}", ["W730"]),
        ("{path: rendered, directory: {recurse: true}}", []),
        ("{path: rendered/llm}", []),  # all its files lie in it
        ("{path: ., directory: {include: apps.yaml}}", []),  # an app of apps
        ("{path: '{{path}}'}", []),
        ("{path: rendered, plugin: {name: a}}", []),
        ("{path: rendered/built}", []),
        ("{path: input, directory: {recurse: true}}", ["W731"]),
        ("{path: ., directory: {recurse: true}}", ["W731"]),
        ("{path: ., directory: {recurse: true, include: 'rendered/**'}}", []),
        ("{path: models, directory: {recurse: true}}", []),  # a cluster may know models
        ("{path: rendered/lm, directory: {recurse: true}}", ["W732"]),
        ("{path: elsewhere, directory: {recurse: true}}", []),  # perhaps of another repository
        ("{path: rendered/llm, kustomize: {namePrefix: a-}}", ["W734"]),
        ("{path: rendered, kustomize: {namespace: llm}}", ["W733"]),
    ],
)
def test_sources_of_argo_cd(source: str, expected: list[str]) -> None:
    assert codes(APPLICATION.format(source)) == expected


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("{interval: 1m, path: ./rendered}", []),  # Flux takes what is below
        ("{interval: 1m, path: ./rendered, targetNamespace: llm}", ["W733"]),
        ("{interval: 1m, path: ./rendered/llm, targetNamespace: llm}", []),
        ("{interval: 1m, path: ./rendered/llm, targetNamespace: other}", ["W733"]),  # its host names stay
        ("{interval: 1m, path: ./rendered/web, targetNamespace: other}", []),
        ("{interval: 1m, path: ./rendered/llm, nameSuffix: -a, namePrefix: b-}", ["W734", "W734"]),
        ("{interval: 1m, path: ./rendered/built, nameSuffix: -a}", []),
        ("{interval: 1m, path: ./rendered, sourceRef: {kind: OCIRepository}, targetNamespace: llm}", []),
    ],
)
def test_kustomizations_of_flux(spec: str, expected: list[str]) -> None:
    assert codes(FLUX.format(spec)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{resources: [../rendered/llm/chat.yaml], namePrefix: a-}", ["W734 namePrefix"]),
        ("{resources: [../rendered/llm], nameSuffix: -a}", ["W734 nameSuffix"]),
        ("{resources: [../rendered/llm, ../rendered/web], namespace: llm}", ["W733 namespace"]),
        ("{resources: [../rendered/llm], namespace: llm}", []),
        ("{resources: [web.yaml], namePrefix: a-}", []),
    ],
)
def test_overlays(text: str, expected: list[str]) -> None:
    (document,) = yamlio.parse("overlay/kustomization.yaml", text.encode())[0]
    problems = validate_overlay(document, "overlay", REPOSITORY)
    assert [f"{problem.code} {problem.field}" for problem in problems] == expected


def test_a_folder_that_is_not_there_leads_to_the_most_similar_one() -> None:
    (document,) = yamlio.parse("a.yaml", APPLICATION.format("{path: rendered/lm}").encode())[0]
    (problem,) = validate_sync_folder(document, REPOSITORY)
    assert problem.hint == "write path: rendered/llm"
