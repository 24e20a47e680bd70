"""Judges what is rendered by the ValidatingAdmissionPolicies that a RenderPolicy names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from renderer.admission import records
from renderer.admission.judge import Judge
from renderer.admission.policy_files import read_admission_files
from renderer.admission.records import KnownNamespace, UnjudgedReason
from renderer.admission.reporting import expression_problems, unjudged_diagnostics, verdict_diagnostics
from renderer.api import RenderPolicy
from renderer.diagnostics import Diagnostic
from renderer.kubernetes.json_values import map_at, text_at
from renderer.plan import Body
from renderer.yamlio import Document

_NAME_LABEL = "kubernetes.io/metadata.name"  # the server gives it to every namespace


class AdmissionRun:
    """The judges of a run, one for each RenderPolicy that names policies."""

    def __init__(self, policies: Sequence[RenderPolicy]) -> None:
        self.problems: list[Diagnostic] = []  # of the files of the policies
        self._judges: list[Judge] = []
        for policy in policies:
            if not policy.admission.documents:
                self.problems += () if policy.revision else policy.admission.problems
                continue
            files = read_admission_files(policy.admission.documents)
            faults = {name: expression_problems(item) for name, item in files.policies.items()}
            if (
                not policy.revision
            ):  # those of another revision are what they are; the head's own are judged beside them
                self.problems += [*policy.admission.problems, *files.problems]
                self.problems += [problem for problems in faults.values() for problem in problems]
            usable = {name: item for name, item in files.policies.items() if not faults[name]}
            facts = [*policy.admission.facts, *files.others]
            namespaces = _namespaces(policy, facts)
            bodies = [document.value for document in facts]
            self._judges.append(Judge(usable, files.bindings, bodies, namespaces))

    def judge(self, objects: Iterable[records.AdmittedObject]) -> list[Diagnostic]:
        """What is denied of objects."""
        diagnostics = [
            diagnostic
            for judged in objects
            for judge in self._judges
            for verdict in judge.verdicts(judged)
            for diagnostic in verdict_diagnostics(verdict)
        ]
        return list(dict.fromkeys(diagnostics))

    def judge_documents(self, documents: Iterable[Document]) -> list[Diagnostic]:
        """What is denied of objects that stand in files."""
        return self.judge(map(records.WrittenObject, documents))

    def unjudged(self) -> list[UnjudgedReason]:
        """What could not be judged since this was asked for last."""
        return [reason for judge in self._judges for reason in judge.take_unjudged()]

    def notes(self, reasons: Iterable[UnjudgedReason]) -> list[Diagnostic]:
        """The notes about what could not be judged."""
        documents = {name: policy.document for judge in self._judges for name, policy in judge.policies.items()}
        return list(unjudged_diagnostics(documents, reasons))


def _namespaces(policy: RenderPolicy, facts: Iterable[Document]) -> dict[str, KnownNamespace]:
    """What is known of namespaces: what a manifest says, and before it `namespaces` of the policy."""
    known: dict[str, KnownNamespace] = {}
    for document in facts:
        body: Body = document.value
        if text_at(body, "kind") == "Namespace" and text_at(body, "apiVersion") == "v1":
            name = text_at(body, "metadata", "name")
            labels = {key: str(value) for key, value in map_at(body, "metadata", "labels").items()}
            known.setdefault(name, KnownNamespace({**labels, _NAME_LABEL: name}, body))
    for name, facts_of in (policy.get("namespaces") or {}).items():
        labels = {key: str(value) for key, value in map_at(facts_of, "labels").items()}
        known[name] = KnownNamespace({**labels, _NAME_LABEL: name})
    return known
