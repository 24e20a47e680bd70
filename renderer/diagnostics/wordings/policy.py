"""Wordings about what a platform team allows: RenderPolicy, ValidatingAdmissionPolicies, files that no input makes."""

from __future__ import annotations

from typing import Final

from renderer.diagnostics.wording import Wording

HELM_IGNORE_HINT: Final = "delete the line, or name .helmignore under output.foreign of RenderConfig"

_CONFIG_KEY: Final = Wording(
    "denied by {rule}: the llmaz.yaml of the folder '{folder}' may not set {key}", "allowed for: {allowed}"
)
POLICY: Final[dict[str, Wording]] = {
    "E800": Wording(
        "a RenderPolicy is read from {name} only", "move it there, beside llmaz.yaml, or name it with --policy"
    ),
    "N800": Wording("this rule is about '{folder}', which does not exist", "leave it out, or fix the path"),
    "N805": Wording(
        "{kind} may make pods that no rule of the RenderPolicy sees",
        "read such objects yourself, or list the kinds that may be passed through, without this one, in"
        " spec.passThrough.kinds of the RenderPolicy",
        varies=True,
    ),
    "E801": Wording("{name} has a second document", "keep only one document, the RenderPolicy"),
    "E802": Wording("a policy is not read through a link", "write the RenderPolicy into this file itself"),
    "E803": Wording("this file has no RenderPolicy", "write one, or delete the file: without it nothing is denied"),
    "E804": Wording(
        "the policy of {name} cannot be read, so nothing counts as allowed: {what}",
        "fix this file in a separate change, and merge that first",
    ),
    "E810": Wording("denied by {rule}: {file} may not write {where}", "{hint}"),
    "E811": Wording(
        "denied by {rule}: {file} may not define OpenModels",
        "claim an OpenModel from a file that may define them, or ask its owners to add '{name}'",
    ),
    "E812": Wording(
        "denied by {rule}: {file} may not define BackendRuntimes",
        "use a BackendRuntime from a file that may define them, or ask its owners to add '{name}'",
    ),
    "E813": Wording("denied by {rule}: {file} may not define {what}", "give it another name"),
    "E814": Wording("denied by {rule}: the namespace '{namespace}' {what}", "{hint}"),
    "E815": Wording("denied by {rule}: the image '{image}'", "allowed: {allowed}"),
    "E816": Wording("denied by {rule}: the host '{host}'", "allowed: {allowed}"),
    "E817": Wording("denied by {rule}: the source '{source}' of '{name}'", "allowed: {allowed}"),
    "E806": Wording("denied by {rule}: '{name}' is loaded at {what}, which may change", "{hint}"),
    "E807": Wording(
        "denied by {rule}: {total} {what} with the most replicas, {most} are allowed: {parts}",
        "lower the replicas of one of these, or ask whoever owns the policy for more",
    ),
    "W807": Wording(
        "more than {rule} allows while a rollout replaces pods: {total} {what}, {most} are allowed: {parts}",
        "write maxSurge: 0 in workload.rollout of one of these, or lower its replicas",
    ),
    "E808": Wording("no flavor of RenderConfig or of a model is named '{name}'", "{hint}"),
    "E809": Wording("denied by {rule}: {what}", "{hint}"),
    "E818": Wording("denied by {rule}: the folder '{path}' of the node", "allowed: {allowed}"),
    "E819": Wording("denied by {rule}: the service account '{name}'", "allowed: {allowed}"),
    "E820": Wording("denied by {rule}: the priority class '{name}'", "allowed: {allowed}"),
    "E821": Wording("denied by {rule}: hostNetwork, the network of the node", "leave hostNetwork out"),
    "E822": Wording("denied by {rule}: hostPID, the processes of the node", "leave hostPID out"),
    "E823": Wording(
        "denied by {rule}: a privileged container", "leave it out, and name the capabilities that it needs"
    ),
    "E824": Wording("denied by {rule}: runAsUser: 0, which is root", "write another user, or leave runAsUser out"),
    "E825": Wording("denied by {rule}: {what} in a file that is passed through", "allowed: {allowed}"),
    "E826": _CONFIG_KEY,
    "E827": _CONFIG_KEY,
    "E828": _CONFIG_KEY,
    "E840": Wording("the API server refuses this expression: {what}", "fix the expression"),
    "N840": Wording(
        "the policy '{policy}' is not evaluated where it needs {reasons}",
        "the cluster evaluates it when the objects are applied",
        varies=True,
    ),
    "W840": Wording(
        "ValidatingAdmissionPolicy '{policy}' with binding '{binding}' warns about the {kind} '{name}': {message}",
        "the rule is at {rule}, the binding at {bound}",
    ),
    "E841": Wording(
        "the binding '{binding}' refers to the policy '{policy}', which is in no file under admission",
        "add its file to admission of the RenderPolicy, or fix policyName",
    ),
    "W841": Wording(
        "ValidatingAdmissionPolicy '{policy}' with binding '{binding}' records the {kind} '{name}' in the audit log: "
        "{message}",
        "the rule is at {rule}, the binding at {bound}",
    ),
    "E842": Wording(
        "ValidatingAdmissionPolicy '{policy}' with binding '{binding}' denies the {kind} '{name}': {message}",
        "the rule is at {rule}, the binding at {bound}",
    ),
    "W842": Wording(
        "no binding in the files under admission refers to the policy '{policy}', so it has no effect",
        "add the file of its ValidatingAdmissionPolicyBinding to admission",
    ),
    "E843": Wording(
        "a {kind} of version {version} is not evaluated",
        "write it as admissionregistration.k8s.io/v1",
        replaces=("", "admissionregistration.k8s.io/v1"),
    ),
    "E844": Wording("a ValidatingAdmissionPolicy '{name}' is already at {place}", "keep one of them, or rename one"),
    "E845": Wording(
        "no file matches '{glob}'", "fix the path, which starts at the folder of the RenderPolicy, or leave it out"
    ),
    "E860": Wording("'{rule}' hides {file} from Helm", HELM_IGNORE_HINT),
    "W860": Wording("'{rule}' hides {file} from Helm", HELM_IGNORE_HINT),
    "E861": Wording(
        "no input makes this file, although it begins with the first line of rendered files",
        "delete it, or run llmaz render, which deletes it",
    ),
    "E862": Wording(
        "no input makes this file any more, and Argo CD or Flux may still sync {folder}/, which the base rendered",
        "delete it, and let what syncs {folder}/ sync the new folder",
    ),
    "E863": Wording(
        "not written by llmaz, and the settings of the base do not allow it",
        "delete it, or change {key} in a separate pull request that is merged first",
    ),
    "E864": Wording("this file is a link, so its settings cannot be checked", "write a file in its place"),
    "E865": Wording(
        "differs from what the input renders to: {what}", "run llmaz render --to helm, and commit what it writes"
    ),
    "E870": Wording(
        "Helm does not know the hook '{hook}', and would leave this object out of the release",
        "name one of {known}, or leave the annotation out",
    ),
}
