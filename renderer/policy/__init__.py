"""Judges what is rendered by RenderPolicy: each rule is a generator over a finished record, and knows no other."""

from __future__ import annotations

from renderer.policy.judgement import judge_app, judge_definitions, judge_documents, judge_tree, passed_manifests

__all__ = [
    "judge_app",
    "judge_definitions",
    "judge_documents",
    "judge_tree",
    "passed_manifests",
]
