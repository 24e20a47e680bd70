"""What the user does after `llmaz init`: commands to run, and placeholders to replace."""

from __future__ import annotations

import os

from renderer.scaffold.options import ACTION, ScaffoldOptions
from renderer.text import escapes


def commands(folder: str, options: ScaffoldOptions) -> list[str]:
    """The next commands for the user, a line each: render; commit and push; bootstrap."""
    directory = os.path.normpath(folder)
    word = ("./" if directory.startswith("-") else "") + escapes.shell_word(directory)
    enter = [] if directory == "." else [f"cd {word}"]
    return [
        " && ".join(steps) for steps in ([*enter, "llmaz render"], push_commands(options), bootstrap_commands(options))
    ]


def missing(options: ScaffoldOptions) -> list[str]:
    """Messages about values that are still placeholders, and the files where the user replaces them."""
    notes = []
    if not options.known and options.engine != "none":
        notes.append(
            f"--repo-url is not set, and git has no remote 'origin': replace {options.repository} in bootstrap/ "
            "with the address of your repository"
        )
    if options.ci == "github" and options.action == ACTION:
        notes.append(
            "--action is not set: the first step of .github/workflows/llmaz.yml fails, and says what to write instead"
        )
    if options.ci == "gitlab":
        notes.append("set the pip index that has llmaz's wheel in .gitlab-ci.yml")
    return notes


def push_commands(options: ScaffoldOptions) -> list[str]:
    """Commands that commit and push; before them those that make the repository or the remote if there is none."""
    branch = escapes.shell_word(options.branch)
    aside = [os.path.relpath(file, options.below) for file in [options.workflow_file] if file and options.below]
    steps = [
        " ".join(["git add .", *map(escapes.shell_word, aside)]),
        "git commit --message 'Models, and the platform for them'",
    ]
    if not options.top:
        steps.insert(0, f"git init --initial-branch {branch}")
    if not options.origin:
        steps.append(f"git remote add origin {escapes.shell_word(options.repository)}")
    return [*steps, f"git push origin HEAD:{branch}"]


def bootstrap_commands(options: ScaffoldOptions) -> list[str]:
    """Commands that apply the bootstrap objects, or without an engine the manifests themselves."""
    if options.engine == "none":
        apply = "kubectl apply --server-side"
        return [f"{apply} --filename extra", f"{apply} --recursive --filename rendered"]
    steps = ["kubectl apply --filename bootstrap/root.yaml"]
    if options.engine == "argocd":
        patch = "patch configmap argocd-cm --patch-file bootstrap/argocd-cm.yaml"
        steps.insert(0, f"kubectl --namespace {options.tools} {patch}")
    return steps
