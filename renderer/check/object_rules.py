"""The rules about one object: its schema, the CEL rules of its kind, and rules that no schema holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache

from msgspec.structs import replace

from renderer import schema_validation
from renderer.api import Scope
from renderer.check.api_versions import validate_api_versions
from renderer.check.cel import cel_rules
from renderer.check.finding import Body
from renderer.check.graph import Key, kind_of
from renderer.check.kinds import object_rules
from renderer.diagnostics import Finding, Path
from renderer.kubernetes import component_versions
from renderer.kubernetes.workloads import PodTemplate, joins_command, pod_templates
from renderer.schema_validation import Hint
from renderer.workers import process_count

# The schema of a kind as input of `llmaz render`, with keys that are not fields of its CRD.
_INPUT_SCHEMAS = {"output/llmaz.io/openmodel_v1alpha1": "input/openmodel"}
_MOST_HINTS = 5  # findings of an object for which it is tried what would be valid in their place

_COMMON_KINDS = (  # of nearly every app
    ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"),
    ("v1", "Service"),
    ("policy/v1", "PodDisruptionBudget"),
    ("autoscaling/v2", "HorizontalPodAutoscaler"),
    ("gateway.envoyproxy.io/v1alpha1", "Backend"),
    ("aigateway.envoyproxy.io/v1beta1", "AIServiceBackend"),
    ("aigateway.envoyproxy.io/v1beta1", "AIGatewayRoute"),
)


def precompile_rules(scope: Scope) -> None:
    """Compiles the schemas and rules of common kinds while the inputs are read, where several processes will inherit
    them.
    """
    if process_count(len(scope.tree.files)) > 1:
        targets = component_versions.target_versions(scope.config.get("targets") or {})
        for version, kind in _COMMON_KINDS:
            valid_bodies(schema_validation.name_of(version, kind), (), targets)


def valid_bodies(name: str, bodies: Sequence[Body], targets: component_versions.TargetVersions | None) -> list[Body]:
    """Those of the bodies, all of the kind of one schema, without findings of `validate_object`."""
    too_new = targets.too_new_schema(name) if targets else None
    valid = schema_validation.valid_values(name, bodies, too_new.schema if too_new else "")
    for rule in _rules(name):
        valid = [body for body in valid if not any(rule(body))]
    return valid


def validate_object(
    body: Body,
    raw: Callable[[Path], str | None] = lambda path: None,
    targets: component_versions.TargetVersions | None = None,
    *,
    may_be_input: bool = False,
) -> Iterator[Finding]:
    """Findings about one object of a kind with a schema: of its schema, then of the other rules for its kind. `raw`:
    the scalar at a path as its author wrote it; `targets`: the target versions; `may_be_input`: whether it may have
    keys that only `llmaz render` reads.
    """
    name = schema_validation.name_of(body["apiVersion"], body["kind"])
    too_new = targets.too_new_schema(name) if targets else None
    if targets and too_new and not schema_validation.is_valid(name, body, too_new.schema):
        yield from validate_api_versions(targets, too_new, body)
        too_new = None
    if not too_new and not schema_validation.is_valid(name, body):
        schema = _INPUT_SCHEMAS.get(name, name) if may_be_input else name
        for finding in schema_validation.findings(schema, body, _form_hints(schema, body)):
            yield replace(finding, words=schema_validation.message_words(finding, raw(finding.path)))
        return
    for rule in _rules(name):
        yield from rule(body)


def _form_hints(schema: str, body: Body) -> Callable[[Finding], Hint | None]:
    """What to write in place of a value of another form, for the first findings of an object that have no hint."""
    left = iter(range(_MOST_HINTS))

    def find(finding: Finding) -> Hint | None:
        if finding.words.get("hint") or next(left, None) is None:
            return None
        from renderer import value_forms  # few runs need it

        return value_forms.form_hint(schema, body, finding)

    return find


@cache
def _rules(name: str) -> tuple[Callable[[Body], Iterable[Finding]], ...]:
    """The rules for a kind beside its schema."""
    in_cel = cel_rules(name)
    return (*object_rules.get(name, ()), *((in_cel,) if in_cel else ()))


_FIRST_COMMAND: Path = ("containers", 0, "command", 0)


def validate_pods_alone(
    body: Body, raw: Callable[[Path], str | None], targets: component_versions.TargetVersions | None
) -> Iterator[Finding]:
    """Findings about the pods of an object whose kind has no schema, each template judged as a PodTemplate. `raw` and
    `targets` as of `validate_object`.
    """
    for template in pod_templates(body):
        is_joined = joins_command(template.body, template.path)
        for finding in _validate_template_alone(template, raw, targets):
            if not (is_joined and finding.code == "E529" and finding.path[-4:] == _FIRST_COMMAND):
                yield finding


def _validate_template_alone(
    template: PodTemplate, raw: Callable[[Path], str | None], targets: component_versions.TargetVersions | None
) -> Iterator[Finding]:
    def in_object(path: Path) -> Path:
        return (*template.path, *path[1:])

    alone = {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "pods"}, "template": template.body}
    for finding in validate_object(alone, lambda path: raw(in_object(path)), targets):
        yield replace(finding, path=in_object(finding.path))


def object_key(value: Mapping[str, object]) -> Key | None:
    """Kind, namespace and name of an object that no schema has validated; None when one of them is not a string."""
    metadata = value.get("metadata")
    identity = (
        value.get("apiVersion"),
        value.get("kind"),
        metadata.get("name") if isinstance(metadata, dict) else None,
    )
    if not isinstance(metadata, dict) or not all(isinstance(part, str) for part in identity):
        return None
    namespace = metadata.get("namespace") or ""
    if not isinstance(namespace, str):
        return None
    return kind_of(value["apiVersion"], value["kind"]), namespace, metadata["name"]
