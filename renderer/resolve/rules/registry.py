"""What is said about an app once it is decided: for each record its rules, generators of diagnostics.

A rule sees one finished record, which holds those before it; it decides nothing. Each record is judged as soon as it is
there, so that errors are found even where a later decision cannot be made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from renderer.diagnostics import Collector, Diagnostic, Stop, has_errors
from renderer.engines import rules as rules_of_engines
from renderer.fit.verdict import FITS
from renderer.resolve.pod.hardening import TIGHT
from renderer.resolve.rules import (
    adapters,
    args,
    facts,
    files,
    gpu_fit,
    groups,
    handwritten,
    models,
    offloading,
    pairs,
    parallelism,
    pods,
    roles,
    runtimes,
    scaling,
    services,
    versions,
    weights,
)
from renderer.resolve.rules.of_traffic import TRAFFIC_GATES, TRAFFIC_RULES
from renderer.resolve.workload.claimed import AppBase
from renderer.resolve.workload.command_line import CommandLine
from renderer.resolve.workload.engine_run import AppEngine, EngineChoice, EngineRun
from renderer.resolve.workload.gpu_fit import GpuFit
from renderer.resolve.workload.planned_pod import PlannedPod
from renderer.resolve.workload.role_pair import RolePair
from renderer.resolve.workload.scaling import PlannedScaling
from renderer.resolve.workload.written_app import WrittenPair, WrittenPlayground, WrittenService
from renderer.resolve.workload.written_pod import ServicePods, TemplatePod, WrittenPod

Record = TypeVar("Record")
Rule = Callable[[Any], Iterator[Diagnostic]]

GATES: frozenset[Rule] = frozenset(
    [
        weights.unloadable_weights,
        versions.refused_by_version,
        parallelism.no_form,
        roles.without_roles,
        adapters.not_loaded,
        pairs.unfit_picker,
        pairs.unbalanced_replicas,
        *TRAFFIC_GATES,
    ]
)
"""The rules after whose errors nothing more is said or decided."""


def _always(record: object) -> bool:
    return True


Section = tuple[Callable[[Any], object], tuple[Rule, ...]]  # when it is read, and its rules

_WRITTEN: tuple[Rule, ...] = (
    handwritten.shared_ports,
    handwritten.unanswered_hooks,
    handwritten.unfilled_paths,
    handwritten.other_served_name,
)

RULES: Mapping[type, tuple[Section, ...]] = {
    **rules_of_engines.RULES,
    WrittenPlayground: ((_always, (scaling.invalid_names, scaling.invalid_replicas, scaling.invalid_bounds)),),
    WrittenPair: ((_always, (pairs.unfit_picker, pairs.contradictions)),),
    WrittenService: ((_always, (services.invalid_sizes, services.invalid_names)),),
    AppBase: (
        (_always, (models.invalid_family,)),
        (lambda base: base.app.annotations, (models.inert_annotations, models.unnamed_patterns)),
        (lambda base: base.hardening in TIGHT, (models.unrestricted,)),
        (lambda base: base.skip_loaders, (models.outside_hub_cache, models.unused_caches)),
        (lambda base: len(base.weights) > 1, (models.shared_paths,)),
        (facts.have_types, (facts.invalid_types,)),
        (facts.have_facts, (facts.contradictory_layers, facts.unusable_measurements)),
    ),
    AppEngine: ((lambda chosen: "notice" in chosen.engine.spec, (runtimes.notice,)),),
    EngineChoice: ((lambda choice: choice.engine.templated, (weights.unloadable_weights,)),),
    EngineRun: (
        (lambda run: "version" in run.backend_config, (versions.invalid_tag, versions.contradicting_image)),
        (_always, (parallelism.unknown_sizes, runtimes.unfit_name, versions.moving_tag)),
        (lambda run: not run.version, (versions.unknown_version,)),
        (lambda run: "startup" in run.engine.spec, (weights.unknown_size,)),
        (lambda run: "versions" in run.model_settings, (versions.invalid_model_versions,)),
        (lambda run: run.engine.refusals or run.engine.notes, (versions.refused_by_version, versions.other_in_version)),
        (lambda run: "service" in run.base.app.spec, (runtimes.unfit_port,)),
        (lambda run: run.size.parallelism.expert, (parallelism.no_experts,)),
        (lambda run: run.base.claim.draft, (parallelism.draft_beside_sizes,)),
        (
            lambda run: run.size.parallelism.hosts > 1,
            (parallelism.no_form, parallelism.too_many_rank_ports, parallelism.data_parallel_without_experts),
        ),
        (lambda run: run.base.app.role, (roles.without_roles, roles.other_accelerators)),
        (
            lambda run: run.offloading,
            (offloading.beyond_engine, offloading.several_hosts),
        ),
        (
            lambda run: run.base.claim.adapters,
            (adapters.not_loaded, adapters.other_revisions, adapters.confusable_names),
        ),
        (lambda run: run.name_in_engine != run.served_name, (runtimes.unreachable_name,)),
    ),
    GpuFit: (
        (
            lambda fit: fit.verdict.kind != FITS,
            (gpu_fit.too_large_weights, gpu_fit.too_long_context, gpu_fit.unknown_fit),
        ),
        (lambda fit: fit.copies_heads, (gpu_fit.copied_heads,)),
    ),
    CommandLine: (
        (lambda command: command.run.engine.reserved_env, (args.reserved_variables,)),
        (lambda command: command.run.engine.style.splits, (args.split_paths,)),
        (lambda command: command.run.engine.is_other_version, (args.refused_options_of_preset,)),
        (_always, (args.unread_arguments, args.unlisted_version, args.left_out_of_model)),
        (
            lambda command: command.user_layers,
            (args.conflicting_options, args.shared_tokens, args.short_grace, args.refused_sizes),
        ),
        (lambda command: "facts" in command.run.base.claim.main.spec, (args.against_facts,)),
        (lambda command: command.run.config.drafts, (args.unused_draft,)),
        (lambda command: command.run.offloading, (offloading.options_of_users, offloading.unbounded_volumes)),
        (lambda command: command.app.role, (roles.options_of_users,)),
        (lambda command: command.user_layers, (args.code_of_a_branch,)),
    ),
    PlannedPod: (
        (lambda planned: planned.run.base.claim.draft, (args.unopened_draft,)),
        (lambda planned: planned.run.multi_host, (parallelism.unknown_interface,)),
        (lambda planned: planned.run.engine.templated, (files.unfilled_files, files.moved_stores)),
        (lambda planned: planned.run.base.hardening in TIGHT, (pods.root_user,)),
        (
            lambda planned: "podTemplate" in planned.app.spec,
            (
                args.reserved_variables_of_patch,
                args.short_grace_of_patch,
                pods.changed_accelerators,
                pods.risky_patch,
                pods.unknown_user,
                pods.misspelt_containers,
                parallelism.unknown_leader_name,
            ),
        ),
        (lambda planned: planned.run.offloading, (offloading.overlapping_folders,)),
    ),
    WrittenPod: ((_always, _WRITTEN),),
    PlannedScaling: (
        (lambda planned: planned.scaler, (scaling.unreadable_metrics,)),
        (lambda planned: planned.foreign, (scaling.foreign_owner,)),
        (lambda planned: "workload" in planned.app.spec, (groups.unread_envs,)),
        (
            lambda planned: planned.run.size.parallelism.hosts > 1,
            (groups.too_long_names, groups.other_workers),
        ),
    ),
    TemplatePod: (
        (
            _always,
            (
                services.missing_runner,
                services.invalid_images,
                services.taken_volumes,
                services.lost_affinity,
                services.taken_claim_template,
                *_WRITTEN,
            ),
        ),
    ),
    ServicePods: ((lambda service: service.foreign, (scaling.foreign_owner,)),),
    RolePair: (
        (_always, (pairs.other_ports,)),
        (lambda pair: pair.is_sound, (pairs.other_images, pairs.other_roles)),
        (
            lambda pair: pair.written.in_one_set,
            (pairs.unbalanced_replicas, pairs.unscalable_roles, pairs.too_long_name),
        ),
    ),
    **TRAFFIC_RULES,
}
"""The rules of a record in their order, in sections that many apps need not read."""


def judged(record: Record, diagnostics: Collector) -> Record:
    """The record, after its rules have said what is wrong with it. Raises Stop, or TemplateError."""
    for applies, rules in RULES[type(record)]:
        for rule in rules if applies(record) else ():
            if problems := list(rule(record)):
                diagnostics.problems += problems
                if rule in GATES and has_errors(problems):
                    raise Stop
    return record
