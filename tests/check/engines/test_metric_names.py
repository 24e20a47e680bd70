"""Metrics in queries, against those that the version of the engine reports."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import Llmaz
from tests.engines.test_variables import COMMANDS, IMAGES, names_of

SET = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: chat, namespace: llm}}
spec:
  selector: {{matchLabels: {{app: chat}}}}
  template:
    metadata: {{labels: {{app: chat}}}}
    spec: {{containers: [{{name: engine, image: "{image}", command: {command}}}]}}
---
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {{name: chat, namespace: llm}}
spec: {{groups: [{{name: chat, rules: [{{alert: A, expr: '{query}'}}]}}]}}
"""
# Faults by engine, version and query: a part of the hint; '' where nothing is wrong.
PLANTED = [
    (
        "vllm",
        "0.12.0",
        "max(vllm:gpu_cache_usage_perc)",
        "write vllm:kv_cache_usage_perc instead; it was removed in 0.12.0",
    ),
    ("vllm", "0.11.2", "max(vllm:gpu_cache_usage_perc)", ""),
    ("vllm", "0.9.1", "max(vllm:num_requests_swapped)", "leave it out; it was removed in 0.9.1"),
    ("vllm", "0.9.0", "max(vllm:num_requests_swapped)", ""),
    ("vllm", "0.24.0", "rate(vllm:time_per_output_token_seconds_sum[5m])", "vllm:inter_token_latency_seconds_sum"),
    ("vllm", "0.24.0", "rate(vllm:iteration_tokens_total_bucket[5m])", ""),
    ("vllm", "0.24.0", "rate(vllm:request_success_total[5m])", ""),
    ("vllm", "0.24.0", "vllm:cache_config_info", ""),
    ("vllm", "0.24.0", "sum(vllm:num_request_waiting)", "did you mean 'vllm:num_requests_waiting'?"),
    ("vllm", "0.24.0", "sum(vllm:something_of_ours)", ""),
    ("vllm", "0.24.0", "sum(vllm:gpu_cache_usage_perc:avg5m)", ""),
    ("vllm", "0.24.0", '{__name__=~"vllm:num_requests_(swapped|waiting)"}', ""),
    ("vllm", "0.15.0", "max(vllm:gpu_cache_usage_perc)", ""),
    ("vllm", "0.99.0", "max(vllm:gpu_cache_usage_perc)", ""),
    ("vllm", "0.8.5", "max(vllm:kv_cache_usage_perc)", "it was added by 0.9.2"),
    ("vllm", "0.24.0", "vllm:gpu_cache_usage_perc or vllm:kv_cache_usage_perc", ""),
    ("vllm", "0.24.0", "sum(sglang:num_queue_reqs)", ""),
    (
        "sglang",
        "0.5.12",
        "sum(sglang:num_prefill_prealloc_queue_reqs)",
        "write sglang:num_prefill_bootstrap_queue_reqs",
    ),
    ("sglang", "0.5.11", "sum(sglang:num_prefill_prealloc_queue_reqs)", ""),
    ("sglang", "0.5.23", "sum(sglang:num_quee_reqs)", "did you mean 'sglang:num_queue_reqs'?"),
    ("sglang", "0.5.6", "sum(sglang:num_pages)", "it was added by 0.5.11"),
    ("sglang", "0.5.23", "sum(rate(sglang:prompt_tokens_total[1m]))", ""),
]


def findings(llmaz: Llmaz, tmp_path: Path, engine: str, version: str, query: str) -> list[str]:
    text = SET.format(image=IMAGES[engine].format(version), command=COMMANDS[engine], query=query)
    (tmp_path / "d.yaml").write_text(text, "utf-8")
    lines = llmaz("check", tmp_path).err.splitlines()
    return [lines[i + 1].strip() for i, line in enumerate(lines) if "[W541]" in line]


@pytest.mark.parametrize(("engine", "version", "query", "hint"), PLANTED)
def test_planted(llmaz: Llmaz, tmp_path: Path, engine: str, version: str, query: str, hint: str) -> None:
    hints = findings(llmaz, tmp_path, engine, version, query)
    assert len(hints) == bool(hint), hints
    assert all(hint in text for text in hints), hints


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_each_replacement_is_silent_where_it_is_followed(llmaz: Llmaz, tmp_path: Path, engine: str) -> None:
    file = names_of(engine).read(f"flags/{engine}.metrics.txt")
    assert file is not None
    for version in file.versions:
        metrics = names_of(engine).metrics(version)
        assert metrics is not None
        assert len(metrics.names) > 10
        for name in metrics.replaced.keys() & metrics.ended.keys():
            [hint] = findings(llmaz, tmp_path, engine, version, f"sum({name})")
            [instead] = re.findall(r"write (\S+) instead", hint)
            assert findings(llmaz, tmp_path, engine, version, f"sum({instead})") == []
