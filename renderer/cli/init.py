"""llmaz init."""

from __future__ import annotations

import os

import click

from renderer.cli.console import examples, exit_with, print_line, report_failures, require_values
from renderer.cli.standard_streams import write
from renderer.text import escapes

# Flag → the option and value that it requires.
_FLAG_CONDITIONS = {
    "project": ("--gitops", "argocd"),
    "destination": ("--gitops", "argocd"),
    "secret": ("--gitops", "flux"),
}


class RenamedOption(click.Option):
    """An option whose help shows its first name alone; the others are names of old, which go on working."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The names and the help, as click prints them."""
        names, self.opts = self.opts, self.opts[:1]
        try:
            return super().get_help_record(ctx)
        finally:
            self.opts = names


@click.command(
    "init",
    short_help="Create a GitOps repository.",
    epilog=examples("llmaz init --cpu-demo", "llmaz init fleet --gitops flux --branch main"),
)
@click.argument("folder", default=".", metavar="[DIR]")
@click.option(
    "--gitops",
    "--engine",  # its name of old, which means an inference engine elsewhere
    cls=RenamedOption,
    type=click.Choice(("argocd", "flux", "none")),
    default="argocd",
    show_default=True,
    help="What syncs the repository.",
)
@click.option(
    "--ci",
    type=click.Choice(("github", "gitlab", "none")),
    help="The CI system to write a workflow for. [default: gitlab if --repo-url names a host of GitLab, else github]",
)
@click.option("--cpu-demo", "demo", is_flag=True, help="A model that runs on a laptop, without a GPU.")
@click.option(
    "--repo-url", metavar="URL", help="The repository that the cluster reads. [default: git remote get-url origin]"
)
@click.option(
    "--branch", metavar="NAME", help="The branch that the cluster reads. [default: the current branch, else main]"
)
@click.option("--namespace", metavar="NAME", help="The namespace of the models. [default: llm]")
@click.option(
    "--gitops-namespace",
    "--engine-namespace",
    cls=RenamedOption,
    metavar="NAME",
    help="Namespace in which Argo CD or Flux runs. [default: argocd, or flux-system]",
)
@click.option("--project", metavar="NAME", help="Argo CD only: the AppProject. [default: default]")
@click.option(
    "--destination",
    metavar="CLUSTER",
    help="Argo CD only: URL or name of the target cluster. [default: the cluster in which Argo CD runs]",
)
@click.option(
    "--secret",
    metavar="NAME",
    help="Flux only: Secret with the credentials of the repository. [default: none; llmaz-git for an ssh URL]",
)
@click.option(
    "--action",
    metavar="NAME/REPOSITORY@REF",
    help="GitHub only: your copy of llmaz's repository, best pinned to a commit.",
)
def init(folder: str, gitops: str, ci: str | None, demo: bool, **flags: str | None) -> None:
    """Create a GitOps repository in DIR: input, platform, bootstrap, workflow. [default: the current folder]

    The command asks no questions and overwrites nothing: if any of the files exists, no file is written. Then run
    llmaz render to create the rendered files.
    """
    require_values(flags)
    if not folder.strip():
        raise click.UsageError("DIR has no value")
    for flag, (option, value) in _FLAG_CONDITIONS.items():
        if flags[flag] is not None and gitops != value:
            raise click.UsageError(f"--{flag} needs {option} {value}")
    with report_failures():
        from renderer import scaffold

        values = {f"--{key.replace('_', '-')}": value for key, value in flags.items()}
        options = scaffold.scaffold_options(folder, values, gitops, ci, demo)
    if flags["action"] is not None and options.ci != "github":
        raise click.UsageError("--action needs --ci github")
    with report_failures():
        texts = scaffold.contents(options)
        scaffold.write(folder, texts)
    print_line("text", f"{os.path.normpath(folder)}/: {', '.join(scaffold.top_level_entries(texts))}")
    for word in scaffold.missing(options):
        print_line("text", word)
    write("Next:\n" + "".join(f"  {escapes.line(command)}\n" for command in scaffold.commands(folder, options)))
    exit_with(0)
