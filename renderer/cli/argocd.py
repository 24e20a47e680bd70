"""llmaz argocd."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

from renderer.cli.console import (
    Group,
    examples,
    exit_with,
    exit_with_errors,
    print_line,
    report,
    report_failures,
    require_values,
    run,
)
from renderer.cli.standard_streams import write

if TYPE_CHECKING:
    from renderer.integrations.gitops import EnvironmentSource
    from renderer.integrations.gitops.applications import SyncOptions

ENV = click.option(
    "--env",
    "environments",
    multiple=True,
    metavar="NAME",
    help="Only this environment. Can be repeated. [default: all]",
)


def location_options(default: str, help_text: str) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """The options for the location of the rendered tree. `default`: the default revision; `help_text`: its help."""
    options = (
        ENV,
        click.option("--name", default="llmaz", show_default=True, help="The beginning of the objects' names."),
        click.option("--repo-url", metavar="URL", help="[default: git remote get-url origin]"),
        click.option("--revision", metavar="NAME", help=f"{help_text} [default: {default}; for an artifact: live]"),
        click.option(
            "--path",
            "folder",
            metavar="FOLDER",
            help="Folder in the repository. [default: output.dir, or the top of an artifact, and /{env}]",
        ),
    )

    def decorate(command: Callable[..., object]) -> Callable[..., object]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


@click.group(
    cls=Group,
    short_help="Print the Applications for Argo CD.",
    epilog=examples("llmaz argocd health", "llmaz argocd application --revision main"),
)
def argocd() -> None:
    """Print objects for Argo CD: Applications, health checks, and a plugin that renders inside it.

    In the values of options, {env} stands for the name of an environment.
    """


@argocd.command(
    "health",
    short_help="Print health checks.",
    epilog=examples("llmaz argocd health", "llmaz argocd health --form values"),
)
@click.option("--namespace", default="argocd", show_default=True, help="The namespace of Argo CD.")
@click.option(
    "--form",
    type=click.Choice(("configmap", "values")),
    default="configmap",
    show_default=True,
    help="configmap: a patch of argocd-cm; values: for Argo CD's Helm chart.",
)
def argocd_health(namespace: str, form: str) -> None:
    """Print health checks for LeaderWorkerSets, the AI gateway's kinds and InferencePools."""
    with report_failures():
        from renderer.integrations.gitops import health, validate_name

        validate_name("--namespace", namespace)
        print_bodies([health.values() if form == "values" else health.config_map(namespace)])


def _sync_flags(command: Callable[..., object]) -> Callable[..., object]:
    options = (
        location_options("HEAD", "Branch, tag or commit."),
        click.option("--project", default="default", show_default=True, help="The AppProject."),
        click.option("--destination-server", metavar="URL", help="[default: the cluster of Argo CD]"),
        click.option("--destination-name", metavar="NAME", help="The cluster's name in Argo CD."),
        click.option("--namespace", default="argocd", show_default=True, help="The namespace of Argo CD."),
        click.option(
            "--hand-over",
            multiple=True,
            metavar="NAMESPACE/NAME",
            help="Leave this workload's replicas alone while an autoscaler takes over. Can be repeated.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


@argocd.command(
    "application",
    short_help="Print one Application per environment.",
    epilog=examples(
        "llmaz argocd application --revision main", "llmaz argocd application --project models --name serving"
    ),
)
@_sync_flags
def argocd_application(**flags: object) -> None:
    """Print one Application for each environment, and one for objects that belong to no namespace."""
    _validate_destination(flags)
    with report_failures():
        from renderer.integrations.gitops.applications import applications

        sources, sync_options = _sync_arguments(flags)
        print_bodies(applications(sources, sync_options))


@argocd.command(
    "applicationset",
    short_help="Print one ApplicationSet per environment.",
    epilog=examples("llmaz argocd applicationset", "llmaz argocd applicationset --create-namespaces"),
)
@_sync_flags
@click.option("--create-namespaces", is_flag=True, help="Let Argo CD create missing namespaces.")
def argocd_applicationset(**flags: object) -> None:
    """Print an ApplicationSet for each environment: an Application for each namespace, or each app (output.layout)."""
    _validate_destination(flags)
    with report_failures():
        from renderer.integrations.gitops.applications import application_sets

        sources, sync_options = _sync_arguments(flags)
        print_bodies(application_sets(sources, sync_options))


@argocd.command(
    "plugin",
    short_help="Print a file that installs the plugin.",
    epilog=examples("llmaz argocd plugin config", "llmaz argocd plugin dockerfile"),
)
@click.argument("part", type=click.Choice(("config", "patch", "dockerfile")))
@click.option("--image", metavar="IMAGE", help="Image for patch, best by digest. [default: the image of this version]")
@click.option("--namespace", default="argocd", show_default=True, help="The namespace of Argo CD.")
def argocd_plugin(part: str, image: str | None, namespace: str) -> None:
    """Print a part of the plugin: plugin.yaml, the patch of argocd-repo-server, or the image's Dockerfile."""
    require_values({"image": image})
    with report_failures():
        from renderer.integrations.gitops import plugin, validate_name

        validate_name("--namespace", namespace)
        if part == "dockerfile":
            write(plugin.DOCKERFILE)
        else:
            print_bodies([plugin.config() if part == "config" else plugin.patch(image or plugin.IMAGE, namespace)])


@argocd.command(
    "generate",
    short_help="Print an Application's manifests (for the plugin).",
    epilog=examples("llmaz argocd generate", "ARGOCD_APP_SOURCE_PATH=. llmaz argocd generate"),
)
def argocd_generate() -> None:
    """Print the manifests of an Application; Argo CD's plugin runs this in the Application's folder."""
    with report_failures():
        from renderer.api import RenderOptions
        from renderer.integrations.gitops import only_environment, plugin

        call = plugin.parse_call(os.environ, os.getcwd())
        os.chdir(call.root)
        env = only_environment(
            (call.path,), call.environment, "an Application of the plugin (its parameter environment)"
        )
        result = run(RenderOptions(paths=(call.path,), overrides=call.overrides, texts=True, env=env), "text")
        if failed := report(result.problems, "text"):
            exit_with_errors(failed)
        text = plugin.join_files((file.path, file.text) for file in result.texts)
    if result.skipped_shared:
        print_line("text", f"left out, since other apps share them: {', '.join(result.skipped_shared)}")
    write(text)
    exit_with(0)


@argocd.command(
    "parameters",
    short_help="Print the plugin's parameters.",
    epilog=examples("llmaz argocd parameters", "llmaz argocd parameters >parameters.json"),
)
def argocd_parameters() -> None:
    """Print the plugin's parameters, which Argo CD shows on the page of an Application."""
    with report_failures():
        import json

        from renderer.integrations.gitops import plugin, rendered_tree

        call = plugin.parse_call({**os.environ, "ARGOCD_APP_PARAMETERS": ""}, os.getcwd())
        os.chdir(call.root)
        write(json.dumps(plugin.parameters(rendered_tree((call.path,)).environments)) + "\n")


def print_bodies(bodies: Iterable[Mapping[str, object]]) -> None:
    """Prints objects as YAML."""
    from renderer import yamlio

    write(yamlio.dump(*bodies))


def _validate_destination(flags: dict[str, object]) -> None:
    require_values(flags)
    if flags["destination_server"] and flags["destination_name"]:
        raise click.UsageError("--destination-server and --destination-name cannot be used together")


def _sync_arguments(flags: dict[str, Any]) -> tuple[list[EnvironmentSource], SyncOptions]:
    from renderer.integrations.gitops import (
        default_revision,
        deployments,
        environment_sources,
        rendered_tree,
        validate_name,
    )
    from renderer.integrations.gitops.applications import SyncOptions
    from renderer.integrations.gitops.source_flags import check_workloads, parse_workload

    options = {"--revision": flags["revision"] or default_revision("HEAD", flags["repo_url"])}
    if flags["destination_name"]:
        options["--destination-name"] = flags["destination_name"]
    else:
        options["--destination-server"] = flags["destination_server"] or "https://kubernetes.default.svc"
    validate_name("--project", flags["project"])
    validate_name("--namespace", flags["namespace"])
    workloads = tuple(parse_workload("--hand-over", name) for name in flags["hand_over"])
    sources = environment_sources(
        rendered_tree(), flags["name"], flags["repo_url"], flags["folder"], flags["environments"], options
    )
    check_workloads(workloads, [source.environment for source in sources])
    kinds = deployments([source.environment for source in sources]) if workloads else frozenset()
    create = flags.get("create_namespaces", False)
    return sources, SyncOptions(flags["project"], flags["namespace"], create, workloads, kinds)
