"""RenderPolicy: the file beside RenderConfig, or the one that the command line names."""

from __future__ import annotations

import os

from msgspec.structs import replace

from renderer import yamlio
from renderer.api import RenderOptions, RenderPolicy
from renderer.diagnostics import Diagnostic, NamedSource, Origin, has_errors, make_diagnostic, read_error
from renderer.load.admission_files import admission_documents, base_of_policy
from renderer.load.validation import check, kind_of
from renderer.source.paths import POLICY, LinkError, read_file
from renderer.source.tree import DISK, FileSystem


def render_policies(options: RenderOptions, base: str) -> tuple[tuple[RenderPolicy, ...], list[Diagnostic]]:
    """The policies that a run is judged by, and the problems of their files: the one of the command line alone, else
    that of the tree at the folder `base`, after those of other revisions that differ from it.
    """
    if options.unjudged:
        return (), []
    if options.policy:
        policy, problems = _policy_of_command_line(options.policy)
    else:
        policy, problems = tree_policy(options.file_system, base)
    if policy is None:
        return options.earlier_policies, problems
    return (*(other for other in options.earlier_policies if not _is_same(policy, other)), policy), problems


def _is_same(policy: RenderPolicy, other: RenderPolicy) -> bool:
    if policy.folder != other.folder or policy.spec != other.spec:
        return False
    return policy.admission.values == other.admission.values


def tree_policy(file_system: FileSystem, base: str, revision: str = "") -> tuple[RenderPolicy | None, list[Diagnostic]]:
    """The policy of the tree at the folder `base`, None without one, and the problems of its file. `revision`: the
    commit that it stands in, for messages.
    """
    path = os.path.join(base, POLICY)
    name = os.path.relpath(path)
    try:
        data = file_system.read_entry(path)
    except LinkError:
        return None, [make_diagnostic("E802", Origin(NamedSource(name)))]
    except OSError as error:
        return None, [read_error(name, error)]
    if data is None:
        return None, []
    policy, problems = _parse_policy(name, data, base, revision)
    return _with_admission(policy, file_system, base), problems


def _policy_of_command_line(file: str) -> tuple[RenderPolicy | None, list[Diagnostic]]:
    try:
        data = read_file(file)
    except OSError as error:
        return None, [read_error(file, error)]
    policy, problems = _parse_policy(file, data)
    return _with_admission(policy, DISK, base_of_policy(file)), problems


def _with_admission(policy: RenderPolicy | None, file_system: FileSystem, base: str) -> RenderPolicy | None:
    """The policy, with the files of ValidatingAdmissionPolicies that it names."""
    if policy is None or not policy.get("admission"):
        return policy
    return replace(policy, admission=admission_documents(policy, file_system, base))


def _parse_policy(
    name: str, data: bytes, folder: str = "", revision: str = ""
) -> tuple[RenderPolicy | None, list[Diagnostic]]:
    documents, problems = yamlio.parse(name, data)
    if problems:
        return None, problems
    if not documents:
        return None, [make_diagnostic("E803", Origin(NamedSource(name)))]
    document = documents[0]
    kind = kind_of(document, problems)
    if kind == "RenderPolicy":
        problems += check(document, kind)
    elif kind != "":
        problems.append(make_diagnostic("E803", document.origin("kind")))
    problems += [make_diagnostic("E801", second.origin(), name=name) for second in documents[1:]]
    if has_errors(problems):
        return None, problems
    return RenderPolicy(document.value["spec"], document, folder, revision), problems
