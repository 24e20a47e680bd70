"""A cutover as text, which is a script of commands and remarks, and as JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping

from renderer.cutover.steps import Cutover, CutoverModel
from renderer.cutover.takeover_steps import TakeoverPlan
from renderer.diagnostics import counted
from renderer.diff.live.takeovers import Replacement, name_of
from renderer.text import escapes

_WIDTH = 110
_MOST_NAMES = 1_000  # of pods; a dump may ask for any number of them


def text(cutover: Cutover | TakeoverPlan) -> str:
    """The steps as lines for a shell: all that is no command begins with `#`."""
    return "".join(f"{escapes.line(row)}\n" for row in _rows(cutover))


def _rows(cutover: Cutover | TakeoverPlan) -> Iterator[str]:
    if isinstance(cutover, TakeoverPlan):
        what = f"From what runs to what {cutover.tool.title} applies"
        count = counted(len(cutover.moves) + len(cutover.updates), "workload")
    else:
        what, count = f"From llmaz's operator to {cutover.tool.title}", counted(len(cutover.models), "model")
    yield f"# {what}: {count}. Lines without # are commands. None has been run."
    for number, step in enumerate(cutover.steps, 1):
        yield "#"
        yield f"# {number}. {step.title}"
        yield from (f"#    {row}" for row in textwrap.wrap(step.reason, _WIDTH))
        for line in step.lines:
            yield line.text if line.is_command else f"# {line.text}"


def to_json(cutover: Cutover | TakeoverPlan) -> str:
    """The steps, and what happens to the pods of each model, for programs."""
    if isinstance(cutover, TakeoverPlan):
        record: dict[str, object] = {
            "moves": [_takeover_record(takeover) for takeover in cutover.moves],
            "updates": [_takeover_record(takeover) for takeover in cutover.updates],
        }
    else:
        record = {
            "models": [_model_record(model) for model in cutover.models],
            "left": ["/".join(name) for name in cutover.left],
        }
    record |= {
        "steps": [
            {
                "title": step.title,
                "reason": step.reason,
                "lines": [{"command" if line.is_command else "remark": line.text} for line in step.lines],
            }
            for step in cutover.steps
        ],
    }
    return escapes.json_text(record, indent=2) + "\n"


def _takeover_record(takeover: Replacement) -> Mapping[str, object]:
    namespace, name = name_of(takeover.running)
    return {
        "namespace": namespace,
        "kind": takeover.running.get("kind"),
        "name": name,
        "newKind": takeover.rendered.get("kind"),
        "newName": name_of(takeover.rendered)[1],
        "services": [name_of(service)[1] for service in takeover.services],
    }


def _model_record(model: CutoverModel) -> Mapping[str, object]:
    rollout = model.rollout
    return {
        "namespace": model.name[0],
        "name": model.name[1],
        "replicas": rollout.replicas,
        "autoscaler": model.autoscaler,
        "template": rollout.fields,
        "restarts": rollout.free_pods.names(_MOST_NAMES),
        "restartCount": rollout.free_pods.count,
        "held": rollout.held_pods.names(_MOST_NAMES),
        "heldCount": rollout.held_pods.count,
        "partition": rollout.most_replicas,
    }


FORMS = {"text": text, "json": to_json}
