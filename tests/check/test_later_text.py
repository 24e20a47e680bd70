"""Trees for Flux, SOPS and kustomize: what is filled in later is no fault, and what the tree fills in is judged."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from renderer.text.variables import fill_in, has_unknown

if TYPE_CHECKING:
    from tests.conftest import Llmaz, Outcome

CLAIM = """
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: "${APP}"}
spec:
  accessModes: ["${MODE:=ReadWriteOnce}"]
  resources: {requests: {storage: "${CAPACITY:=5Gi}"}}
"""
FLUX = """
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {{name: chat, namespace: flux-system}}
spec:
  path: ./apps/chat
  postBuild: {build}
"""
SUBSTITUTED = FLUX.format(build="{substitute: {APP: chat, SIZE: 5Gi}}")
ENGINE = """
apiVersion: apps/v1
kind: Deployment
metadata: {{name: chat{annotations}}}
spec:
  selector: {{matchLabels: {{app: chat}}}}
  template:
    metadata: {{labels: {{app: chat}}}}
    spec:
      containers:
        - name: engine
          image: vllm/vllm-openai:${{VERSION}}
          args: [--model, Qwen/Qwen3-8B, --tensor-parallel-size, "${{CARDS}}"]
          resources: {{limits: {{nvidia.com/gpu: "${{CARDS}}"}}}}
"""


@pytest.fixture(autouse=True)
def _repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)


def write(**files: str) -> None:
    """Files by their paths, with __ for / and without their suffix."""
    for name, text in files.items():
        path = Path(name.replace("__", "/") + ".yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def codes(outcome: Outcome) -> list[str]:
    """The codes of a report."""
    return [line.rpartition("[")[2].rstrip("]") for line in outcome.err.splitlines() if line.endswith("]")]


@pytest.mark.parametrize(
    ("text", "filled", "is_unknown"),
    [
        ("${APP}-data", "chat-data", False),
        ("${SIZE:=5Gi}", "5Gi", True),
        ("${SIZE:-5Gi}", "5Gi", True),
        ("${SIZE:=${APP}}", "chat", True),
        ("${OTHER}", "${OTHER}", True),
        ("${APP/a/b}", "${APP/a/b}", True),
        ("${#APP}", "${#APP}", True),
        ("$${APP}", "$${APP}", False),
        ("$(APP) $APP {{ APP }}", "$(APP) $APP {{ APP }}", False),
        ("${APP", "${APP", False),
    ],
)
def test_variables(text: str, filled: str, is_unknown: bool) -> None:
    assert (fill_in(text, {"APP": "chat"}), has_unknown(text, {"APP": "chat"})) == (filled, is_unknown)


def test_variables_of_nobody_are_counted_once(llmaz: Llmaz) -> None:
    write(claim=CLAIM, other=CLAIM)
    outcome = llmaz("check", ".")
    assert codes(outcome) == ["N534"]
    assert "(6 fields)" in outcome.err
    assert outcome.code == 0


def test_a_kustomization_of_the_tree_fills_in(llmaz: Llmaz) -> None:
    write(flux__ks=SUBSTITUTED, apps__chat__claim=CLAIM)
    assert codes(llmaz("check", "apps")) == []


def test_what_is_filled_in_is_judged(llmaz: Llmaz) -> None:
    write(flux__ks=FLUX.format(build="{substitute: {APP: Chat_1, MODE: Anywhere}}"), apps__chat__claim=CLAIM)
    assert codes(llmaz("check", "apps")) == ["E306", "E304"]


def test_other_values_of_a_broken_object_are_judged(llmaz: Llmaz) -> None:
    write(claim=CLAIM.replace("spec:", "spec:\n  storageclass: fast"))
    assert codes(llmaz("check", ".")) == ["N534", "E301"]


@pytest.mark.parametrize("mark", ["annotations", "labels"])
def test_what_flux_leaves_alone_is_judged_as_it_is(llmaz: Llmaz, mark: str) -> None:
    disabled = f"metadata: {{{mark}: {{kustomize.toolkit.fluxcd.io/substitute: disabled}}, "
    write(flux__ks=SUBSTITUTED, apps__chat__claim=CLAIM.replace("metadata: {", disabled))
    assert set(codes(llmaz("check", "apps"))) == {"E304", "E305", "E306"}


def test_values_of_config_maps_and_secrets(llmaz: Llmaz) -> None:
    build = "{substituteFrom: [{kind: ConfigMap, name: cluster}, {kind: Secret, name: private}]}"
    version = base64.b64encode(b"v0.24.0").decode()
    write(
        flux__ks=FLUX.format(build=build),
        flux__config="{apiVersion: v1, kind: ConfigMap, metadata: {name: cluster}, data: {CARDS: '2', VERSION: v0}}",
        flux__secret=f"{{apiVersion: v1, kind: Secret, metadata: {{name: private}}, data: {{VERSION: {version}}}}}",
        apps__chat__engine=ENGINE.format(annotations=""),
    )
    outcome = llmaz("check", "apps")
    assert "E305" not in codes(outcome)
    assert "2 accelerators and no volume at /dev/shm" in outcome.err


def test_what_only_the_cluster_knows_is_no_fault(llmaz: Llmaz) -> None:
    build = "{substituteFrom: [{kind: Secret, name: private}]}"
    write(flux__ks=FLUX.format(build=build), apps__chat__engine=ENGINE.format(annotations=""))
    assert codes(llmaz("check", "apps")) == []


def test_clusters_with_different_values(llmaz: Llmaz) -> None:
    write(
        flux__prod=SUBSTITUTED,
        flux__test=SUBSTITUTED.replace("APP: chat", "APP: Chat_1").replace("name: chat", "name: test"),
        apps__chat__claim=CLAIM,
    )
    assert codes(llmaz("check", "apps")) == []


def test_components_and_kustomizations_are_reached(llmaz: Llmaz) -> None:
    write(
        flux__ks=SUBSTITUTED,
        apps__chat__kustomization="{components: [../../parts/storage]}",
        parts__storage__kustomization="{kind: Component, resources: [claim.yaml]}",
        parts__storage__claim=CLAIM,
        parts__unused__claim=CLAIM,
    )
    assert codes(llmaz("check", "parts/storage")) == []
    assert codes(llmaz("check", "parts/unused")) == ["N534"]


def test_a_parent_patches_its_kustomizations(llmaz: Llmaz) -> None:
    parent = """
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: cluster, namespace: flux-system}
spec:
  path: ./flux
  patches:
    - patch: |
        apiVersion: kustomize.toolkit.fluxcd.io/v1
        kind: Kustomization
        metadata: {name: any}
        spec: {postBuild: {substitute: {APP: Chat_1}}}
      target: {kind: Kustomization}
"""
    write(top=parent, flux__ks=FLUX.format(build="{}"), apps__chat__claim=CLAIM)
    assert codes(llmaz("check", "apps")) == ["E306"]


def test_a_path_below_the_root_of_an_artifact(llmaz: Llmaz) -> None:
    write(kubernetes__flux__ks=SUBSTITUTED, kubernetes__apps__chat__claim=CLAIM)
    assert codes(llmaz("check", "kubernetes/apps")) == []


def test_scripts_have_variables_of_their_own(llmaz: Llmaz) -> None:
    script = '{apiVersion: v1, kind: ConfigMap, metadata: {name: run}, data: {run.sh: "echo ${HOME:-/}"}}'
    write(script=script)
    assert codes(llmaz("check", ".")) == []


ENCRYPTED = """
apiVersion: v1
kind: Secret
metadata: {name: private}
data: {token: "ENC[AES256_GCM,data:abc,iv:x,tag:y,type:str]"}
"""
SOPS = 'sops: {mac: "ENC[AES256_GCM,data:x]", version: 3.9.0, encrypted_regex: ^data$}\n'


def test_encrypted_values(llmaz: Llmaz) -> None:
    write(
        secret=ENCRYPTED + SOPS,
        config=ENCRYPTED.replace("Secret", "ConfigMap").replace("\ndata:", "\nbinaryData:") + SOPS,
    )
    assert codes(llmaz("check", ".")) == []


def test_text_that_only_looks_encrypted(llmaz: Llmaz) -> None:
    write(secret=ENCRYPTED)
    assert codes(llmaz("check", ".")) == ["E306"]
    write(secret=f"{ENCRYPTED}sops: {{version: 3.9.0}}\n")
    assert codes(llmaz("check", ".")) == ["E306", "E301"]


def test_a_namespace_that_kustomize_names(llmaz: Llmaz) -> None:
    write(namespace="{apiVersion: v1, kind: Namespace, metadata: {name: _}}")
    assert codes(llmaz("check", ".")) == ["N534"]
    write(kustomization="{namespace: chat, resources: [namespace.yaml]}")
    assert codes(llmaz("check", ".")) == []
    write(namespace="{apiVersion: v1, kind: Namespace, metadata: {name: .invalid}}")
    assert codes(llmaz("check", ".")) == []
    write(namespace="{apiVersion: v1, kind: Namespace, metadata: {name: My_Space}}")
    assert codes(llmaz("check", ".")) == ["E306"]


HELD = "{{apiVersion: v1, kind: Secret, metadata: {{name: a}}, data: {{token: '{}'}}}}"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("ref+op://vault/item/token", []),
        ("ref+awssecrets://team/token", []),
        ("<path:secret/data/team#token>", []),
        ("see ref+op://vault/item/token", ["E306"]),
        ("ref+nothing", ["E306"]),
        ("<token>", ["E306"]),
    ],
)
def test_references_that_a_tool_resolves(llmaz: Llmaz, value: str, expected: list[str]) -> None:
    write(secret=HELD.format(value))
    assert codes(llmaz("check", ".")) == expected


ROUTE = """
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: chat, namespace: llm}
spec: {rules: [{backendRefs: [{name: made-by-the-chart, port: 80}], timeouts: {request: 60s}}]}
"""
RELEASE = """
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: chat, namespace: llm}
spec: {chart: {spec: {chart: chat, sourceRef: {kind: HelmRepository, name: chat}}}}
"""
APPLICATION = """
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: chat, namespace: argocd}
spec: {source: {chart: chat, repoURL: charts}, destination: {namespace: llm}}
"""
HELM_CHART = """
apiVersion: helm.cattle.io/v1
kind: HelmChart
metadata: {name: chat, namespace: kube-system}
spec: {chart: chat, targetNamespace: llm}
"""


@pytest.mark.parametrize("release", [RELEASE, APPLICATION, HELM_CHART])
def test_objects_that_a_chart_of_the_tree_makes(llmaz: Llmaz, release: str) -> None:
    write(route=ROUTE)
    assert codes(llmaz("check", ".")) == ["E580"]
    write(release=release)
    assert codes(llmaz("check", ".")) == ["N580"]
    write(
        release=release.replace("namespace: llm", "namespace: other").replace(
            "targetNamespace: llm", "targetNamespace: other"
        )
    )
    assert codes(llmaz("check", ".")) == ["E580"]


GATEWAY = """
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: web, namespace: llm}
spec:
  gatewayClassName: web
  listeners:
    - {name: https, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: made}]}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: web}
spec: {controllerName: example.com/web}
"""


@pytest.mark.parametrize(
    "maker",
    [
        "{apiVersion: external-secrets.io/v1, kind: ExternalSecret, metadata: {name: made, namespace: llm}}",
        "{apiVersion: bitnami.com/v1alpha1, kind: SealedSecret, metadata: {name: made, namespace: llm}}",
        "{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: a, namespace: llm}, "
        "spec: {secretName: made}}",
        "{apiVersion: external-secrets.io/v1, kind: ExternalSecret, metadata: {name: a, namespace: llm}, "
        "spec: {target: {name: made}}}",
    ],
)
def test_secrets_that_controllers_make(llmaz: Llmaz, maker: str) -> None:
    write(gateway=GATEWAY)
    assert codes(llmaz("check", ".")) == ["N580"]
    write(maker=maker)
    assert codes(llmaz("check", ".")) == []
    write(maker=maker.replace("made", "other").replace("name: a,", "name: made,"))
    assert codes(llmaz("check", ".")) == ["N580"]


SHARED = "{apiVersion: v1, kind: ConfigMap, metadata: {name: cluster, namespace: flux-system}, data: {a: b}}"


def test_clusters_of_one_tree_have_objects_of_the_same_name(llmaz: Llmaz) -> None:
    write(prod__config=SHARED, test__config=SHARED)
    assert codes(llmaz("check", "prod", "test")) == ["E201"]  # whoever names both means both
    assert codes(llmaz("check", ".")) == []
    write(prod__other=SHARED)
    assert codes(llmaz("check", ".")) == ["W568"]  # variants, of which one is applied, or a slip
    write(prod__other=SHARED + "\n---\n" + SHARED)
    assert codes(llmaz("check", ".")) == ["W568", "E201"]
    write(prod__other="{}")
    for folder in ("prod", "test"):
        write(**{f"{folder}__kustomization": "{resources: [config.yaml]}"})
    assert codes(llmaz("check", ".")) == []
    write(prod__kustomization="{resources: [config.yaml, ../test/config.yaml]}")
    assert codes(llmaz("check", ".")) == ["E201"]


def test_a_file_that_no_kustomization_names(llmaz: Llmaz) -> None:
    """Nothing applies it: it is no second object of its name, and need not be whole; but it may be there."""
    write(kustomization="{resources: [config.yaml]}", config=SHARED, variant=SHARED)
    done = llmaz("check", ".")
    assert codes(done) == []
    assert "not checked, not named by the kustomization beside it: variant.yaml" in done.err
    assert "1 object checked" in done.err
    assert codes(llmaz("check", "variant.yaml", "config.yaml")) == ["E201"]
    write(patch="{apiVersion: apps/v1, kind: Deployment, metadata: {name: chat}, spec: {replicas: 2}}")
    assert codes(llmaz("check", ".")) == []
    assert codes(llmaz("check", "patch.yaml")) == ["E302", "E302"]


@pytest.mark.parametrize(
    "kustomization",
    [
        "{namespace: chat}",
        "{resources: [config.yaml], transformers: [plugin.yaml]}",
        "{resources: [config.yaml, variant.yaml]}",
        "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, resources: [config.yaml]}",
    ],
)
def test_a_kustomization_that_does_not_say_what_is_applied(llmaz: Llmaz, kustomization: str) -> None:
    write(kustomization=kustomization, config=SHARED, variant=SHARED)
    assert "2 objects checked" in llmaz("check", ".").err


def test_the_namespace_of_the_controller_of_a_tree(llmaz: Llmaz) -> None:
    """What syncs the folders of a tree was brought by something else, and so was what stands beside it."""
    write(route=ROUTE.replace("namespace: llm", "namespace: argocd"), other=ROUTE)
    assert codes(llmaz("check", ".")) == ["E580", "E580"]
    application = "{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: a, namespace: argocd}}"
    write(application=application)
    assert codes(llmaz("check", ".")) == ["E580", "N580"]


CLUSTER = """
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {{name: web, namespace: network}}
spec:
  gatewayClassName: web
  listeners:
    - {{name: http, port: 80, protocol: HTTP, hostname: "*.{domain}", allowedRoutes: {{namespaces: {{from: All}}}}}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: chat, namespace: llm}}
spec: {{parentRefs: [{{name: web, namespace: network}}], hostnames: ["chat.{domain}"]}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {{name: web}}
spec: {{controllerName: example.com/web}}
"""


def test_gateways_of_one_name_in_two_clusters(llmaz: Llmaz) -> None:
    write(prod__gateway=CLUSTER.format(domain="example.com"), flux=FLUX.format(build="{}"))
    write(test__gateway=CLUSTER.format(domain="example.org"))
    assert codes(llmaz("check", ".")) == []
    write(prod__gateway=CLUSTER.format(domain="example.com").replace("chat.example.com", "chat.example.org"))
    Path("test/gateway.yaml").unlink()
    assert codes(llmaz("check", ".")) == ["E583"]


def test_defaults_in_defaults() -> None:
    assert fill_in("${A:=${B:=${C:-${APP}}}}", {"APP": "chat"}) == "chat"
    assert fill_in(nested_defaults(10), {}) == "x"
    assert fill_in(nested_defaults(20_000), {}) == nested_defaults(19_984)  # no more than anybody writes is filled in


def nested_defaults(depth: int) -> str:
    return "${A:-" * depth + "x" + "}" * depth


def test_a_policy_of_gateways_that_are_filled_in(llmaz: Llmaz) -> None:
    policy = """
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: ClientTrafficPolicy
metadata: {name: web, namespace: network}
spec: {targetSelectors: [{group: gateway.networking.k8s.io, kind: Gateway}]}
"""
    write(policy=policy)
    assert codes(llmaz("check", ".")) == ["E608"]
    write(gateway=CLUSTER.format(domain="${DOMAIN}"))
    assert codes(llmaz("check", ".")) == ["N534"]


def test_folders_that_flux_applies_one_by_one(llmaz: Llmaz) -> None:
    write(prod__config=SHARED, test__config=SHARED, flux=FLUX.format(build="{}"))
    assert codes(llmaz("check", ".")) == []
    write(prod__again=SHARED)
    assert codes(llmaz("check", ".")) == ["E201"]


def test_configuration_of_another_program_is_no_object(llmaz: Llmaz) -> None:
    write(
        talos="{version: v1, machine: {type: worker}}\n---\n{apiVersion: v1, kind: HostnameConfig, name: a}",
        config=SHARED,
    )
    outcome = llmaz("check", ".")
    assert codes(outcome) == []
    assert "not checked, not a Kubernetes object: talos.yaml" in outcome.err
