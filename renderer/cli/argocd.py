"""llmaz argocd."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click

from renderer.cli.answers import INVALID, answering, counted, end, report, run, say
from renderer.cli.streams import write

if TYPE_CHECKING:
    from renderer.gitops import Place
    from renderer.gitops.applications import Ways

ENV = click.option(
    "--env", "wanted", multiple=True, metavar="NAME", help="Only this environment. May be given again. [default: all]"
)


def reached(default: str, what: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The options that say where a cluster finds the rendered tree; `default`: the revision, `what`: its help."""
    options = (
        ENV,
        click.option("--name", default="llmaz", show_default=True, help="How the names of what is made begin."),
        click.option("--repo-url", metavar="URL", help="[default: git remote get-url origin]"),
        click.option("--revision", metavar="NAME", help=f"{what} [default: {default}; of an artifact: live]"),
        click.option(
            "--path",
            "folder",
            metavar="FOLDER",
            help="In the repository. [default: output.dir, of an artifact its top, and /{env}]",
        ),
    )

    def given(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return given


@click.group(short_help="What Argo CD has to be told.")
def argocd() -> None:
    """Print what Argo CD has to be told: Applications, health checks, and a plugin that renders inside it.

    In the values of options, {env} stands for the name of an environment.
    """


@argocd.command("health")
@click.option("--namespace", default="argocd", show_default=True, help="Argo CD's own.")
@click.option(
    "--form",
    type=click.Choice(("configmap", "values")),
    default="configmap",
    show_default=True,
    help="configmap: a patch of argocd-cm; values: for Argo CD's Helm chart.",
)
def argocd_health(namespace: str, form: str) -> None:
    """Print health checks for LeaderWorkerSets, the AI gateway's kinds and InferencePools."""
    with answering():
        from renderer.gitops import asked, health

        asked("--namespace", namespace)
        shown([health.values() if form == "values" else health.config_map(namespace)])


def _synced(command: Callable[..., Any]) -> Callable[..., Any]:
    options = (
        reached("HEAD", "Branch, tag or commit."),
        click.option("--project", default="default", show_default=True, help="The AppProject."),
        click.option("--destination-server", metavar="URL", help="[default: the cluster of Argo CD]"),
        click.option("--destination-name", metavar="NAME", help="The cluster as Argo CD calls it."),
        click.option("--namespace", default="argocd", show_default=True, help="Argo CD's own."),
        click.option(
            "--hand-over",
            "handed",
            multiple=True,
            metavar="NAMESPACE/NAME",
            help="Leave this LeaderWorkerSet's replicas alone while an autoscaler takes over. May be given again.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


@argocd.command("application")
@_synced
def argocd_application(**flags: Any) -> None:
    """Print one Application for each environment, and one for what belongs to no namespace."""
    _either(flags)
    with answering():
        from renderer.gitops.applications import applications

        found, ways = _asked(flags)
        shown(applications(found, ways))


@argocd.command("applicationset")
@_synced
@click.option("--create-namespaces", is_flag=True, help="Argo CD makes namespaces that are missing.")
def argocd_applicationset(**flags: Any) -> None:
    """Print an ApplicationSet for each environment: an Application for each namespace, or each app (output.layout)."""
    _either(flags)
    with answering():
        from renderer.gitops.applications import application_sets

        found, ways = _asked(flags)
        shown(application_sets(found, ways))


@argocd.command("plugin")
@click.argument("part", type=click.Choice(("config", "patch", "dockerfile")))
@click.option("--image", metavar="IMAGE", help="For patch: the image that you built, by digest.")
@click.option("--namespace", default="argocd", show_default=True, help="Argo CD's own.")
def argocd_plugin(part: str, image: str | None, namespace: str) -> None:
    """Print a part of the plugin: plugin.yaml, the patch of argocd-repo-server, or the image's Dockerfile."""
    if part == "patch" and not image:
        raise click.UsageError("patch needs --image")
    with answering():
        from renderer.gitops import asked, plugin

        asked("--namespace", namespace)
        if part == "dockerfile":
            write(plugin.DOCKERFILE)
        else:
            shown([plugin.config() if part == "config" else plugin.patch(image or "", namespace)])


@argocd.command("generate")
def argocd_generate() -> None:
    """Print the manifests of an Application, as the plugin that Argo CD runs in its folder."""
    with answering():
        from renderer.api import Options
        from renderer.gitops import one, plugin

        call = plugin.call(os.environ, os.getcwd())
        os.chdir(call.root)
        env = one((call.path,), call.environment, "an Application of the plugin (its parameter environment)")
        done = run(Options(paths=(call.path,), overrides=call.overrides, texts=True, env=env), "text")
        if failed := report(done.problems, "text"):
            say("text", counted(failed, "error"))
            end(INVALID)
        text = plugin.joined((each.path, each.text) for each in done.texts)
    if done.apart:
        say("text", f"left out, since other apps share them: {', '.join(done.apart)}")
    write(text)
    end(0)


@argocd.command("parameters")
def argocd_parameters() -> None:
    """Print the plugin's parameters, for Argo CD's page of an Application."""
    with answering():
        import json

        from renderer.gitops import plugin, tree

        call = plugin.call({**os.environ, "ARGOCD_APP_PARAMETERS": ""}, os.getcwd())
        os.chdir(call.root)
        write(json.dumps(plugin.parameters(tree((call.path,)).environments)) + "\n")


def shown(bodies: Iterable[dict[str, Any]]) -> None:
    """Prints objects."""
    from renderer import yamlio

    write(yamlio.dump(*bodies))


def filled(flags: dict[str, Any]) -> None:
    """Raises UsageError for a flag without a value, as of a variable that is not set: no default may stand for it."""
    for key, value in flags.items():
        if any(isinstance(each, str) and not each.strip() for each in (value if isinstance(value, tuple) else [value])):
            flag = {"folder": "path", "wanted": "env", "handed": "hand-over"}.get(key, key.replace("_", "-"))
            raise click.UsageError(f"--{flag} has no value")


def _either(flags: dict[str, Any]) -> None:
    filled(flags)
    if flags["destination_server"] and flags["destination_name"]:
        raise click.UsageError("--destination-server and --destination-name exclude each other")


def _asked(flags: dict[str, Any]) -> tuple[list[Place], Ways]:
    from renderer.gitops import asked, places, revision, tree
    from renderer.gitops.applications import Ways
    from renderer.gitops.places import known, workload

    given = {"--revision": flags["revision"] or revision("HEAD", flags["repo_url"])}
    if flags["destination_name"]:
        given["--destination-name"] = flags["destination_name"]
    else:
        given["--destination-server"] = flags["destination_server"] or "https://kubernetes.default.svc"
    asked("--project", flags["project"])
    asked("--namespace", flags["namespace"])
    handed = tuple(workload("--hand-over", each) for each in flags["handed"])
    found = places(tree(), flags["name"], flags["repo_url"], flags["folder"], flags["wanted"], given)
    known(handed, [place.environment for place in found])
    return found, Ways(flags["project"], flags["namespace"], flags.get("create_namespaces", False), handed)
