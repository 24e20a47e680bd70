"""Keys and values in the JSON of options, in versions that refuse others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from renderer.engines.option_validation import validate_options
from tests.engines.test_option_values import rules
from tests.engines.test_variables import names_of


def told(version: str, args: list[str]) -> list[tuple[str, str, str]]:
    """Code, key and hint of what is said of arguments."""
    findings = validate_options(rules("vllm", version), args)
    return [(finding.code, str(finding.words.get("key")), str(finding.words.get("hint"))) for finding in findings]


SPECULATIVE, COMPILATION, TRANSFER = "--speculative-config", "--compilation-config", "--kv-transfer-config"
# Faults by version, option and JSON: code, key, and a part of the hint; None where nothing is wrong.
PLANTED: list[tuple[str, str, Any, tuple[str, str, str] | None]] = [
    ("0.33.0", SPECULATIVE, {"num_speculative_tokns": 2}, ("E477", "num_speculative_tokns", "num_speculative_tokens")),
    ("0.33.0", SPECULATIVE, {"method": "ngrm"}, ("E478", "method", "did you mean 'ngram'?")),
    ("0.33.0", SPECULATIVE, {"method": "ngram", "num_speculative_tokens": 2, "prompt_lookup_max": 4}, None),
    ("0.9.2", SPECULATIVE, {"num_speculative_tokns": 2}, None),
    ("0.33.0", COMPILATION, {"cudagraph_mod": "FULL"}, ("E477", "cudagraph_mod", "did you mean 'cudagraph_mode'?")),
    ("0.33.0", COMPILATION, {"cudagraph_mode": "FULL"}, None),
    ("0.12.0", COMPILATION, {"cudagraph_mod": "FULL"}, None),
    ("0.33.0", COMPILATION, {"cudagraph_mode": "full_decode_only", "mode": "vllm_compile"}, None),
    ("0.33.0", COMPILATION, {"cudagraph_mode": 1, "mode": 3}, None),
    ("0.33.0", COMPILATION, {"cudagraph_mode": "FULL_DECODE"}, ("E478", "cudagraph_mode", "'FULL_DECODE_ONLY'?")),
    ("0.33.0", COMPILATION, {"cudagraph_mode": "piecwise"}, ("E478", "cudagraph_mode", "did you mean 'PIECEWISE'?")),
    ("0.33.0", COMPILATION, {"mode": 4}, ("E478", "mode", "'VLLM_COMPILE', 0, 1, 2 or 3")),
    ("0.33.0", COMPILATION, {"mode": "PIECEWISE"}, ("E478", "mode", "it accepts 'DYNAMO_TRACE_ONCE', 'NONE'")),
    ("0.33.0", COMPILATION, {"mode": "9"}, ("E478", "mode", "it accepts 'DYNAMO_TRACE_ONCE', 'NONE'")),
    ("0.10.1", COMPILATION, {"cudagraph_mode": "FULL_DECODE"}, ("E478", "cudagraph_mode", "'FULL_DECODE_ONLY'?")),
    ("0.10.0", COMPILATION, {"cudagraph_mode": "FULL_DECODE"}, None),
    ("0.33.0", "--attention-config", {"backend": "Flash_Attn"}, None),
    ("0.33.0", "--attention-config", {"backend": "flash_attn3"}, ("E478", "backend", "did you mean 'FLASH_ATTN'?")),
    ("0.21.0", "--attention-config", {"backend": "tree_attn"}, ("E478", "backend", "it accepts one of 'auto', ")),
    ("0.21.0", "--attention-config", {"backend": "TREE_ATTN"}, ("E478", "backend", "it was removed in 0.21.0; it acc")),
    ("0.17.1", "--attention-config", {"backend": "auto"}, ("E478", "backend", "it was added by 0.18.0; ")),
    ("0.33.0", "--attention-config", {"flash_attn_version": 5}, ("E478", "flash_attn_version", "it accepts 2, 3 or 4")),
    ("0.33.0", "--attention-config", {"use_trtllm_attention": True}, None),
    ("0.33.0", SPECULATIVE, {"attention_backend": "flash_attn3"}, ("E478", "attention_backend", "'FLASH_ATTN'?")),
    ("0.33.0", SPECULATIVE, {"attention_backend": "flashinfer"}, None),
    ("0.9.1", SPECULATIVE, {"method": "mtp"}, ("E478", "method", "it was added by 0.11.0; ")),
    ("0.33.0", COMPILATION, {"pass_config": {"fuse_norm_quan": True}}, ("E477", "pass_config.fuse_norm_quan", "fuse")),
    ("0.33.0", COMPILATION, {"inductor_compile_config": {"any": 1}}, None),
    ("0.33.0", TRANSFER, {"kv_conector": "x"}, ("E477", "kv_conector", "did you mean 'kv_connector'?")),
    ("0.33.0", TRANSFER, {"kv_role": "kv_bth"}, ("E478", "kv_role", "did you mean 'kv_both'?")),
    ("0.33.0", TRANSFER, {"kv_connector": "NixlConector"}, ("E478", "kv_connector", "did you mean 'NixlConnector'?")),
    ("0.10.2", TRANSFER, {"kv_connector": "NixlConector"}, ("E478", "kv_connector", "did you mean 'NixlConnector'?")),
    ("0.33.0", TRANSFER, {"kv_connector": "P2pNcclConnector"}, ("E478", "kv_connector", "it was removed in 0.24.0; ")),
    ("0.33.0", TRANSFER, {"kv_connector": "MooncakeConnector"}, None),
    (
        "0.33.0",
        TRANSFER,
        {"kv_connector_extra_config": {"connectors": [{"kv_connector": "OfloadingConnector"}]}},
        ("E478", "kv_connector_extra_config.connectors.kv_connector", "did you mean 'OffloadingConnector'?"),
    ),
    ("0.33.0", "--ec-transfer-config", {"ec_connector": "ECCpuConnector"}, ("E478", "ec_connector", "ECCPUConnector")),
    ("0.33.0", TRANSFER, {"kv_connector_extra_config": {"any": {"thing": 1}}}, None),
    ("0.33.0", "--hf-overrides", {"any": {"thing": 1}}, None),
    ("0.33.0", "--additional-config", {"any": 1}, None),
    ("0.33.0", "--attention-config", {"bakend": "FLASHINFER"}, ("E477", "bakend", "did you mean 'backend'?")),
    ("0.33.0", "--structured-outputs-config", {"backend": "xgrammer"}, ("E478", "backend", "'xgrammar'")),
    ("0.33.0", "--pooler-config", {"pooling_type": "MEAM"}, ("E478", "pooling_type", "did you mean 'MEAN'?")),
    ("0.33.0", "--profiler-config", {"torch_profile_dir": "/a"}, ("E477", "torch_profile_dir", "torch_profiler_dir")),
    ("0.33.0", "--kv-events-config", {"publisher": "zmqq"}, ("E478", "publisher", "did you mean 'zmq'?")),
    ("0.33.0", "--eplb-config", {"windw_size": 1}, ("E477", "windw_size", "did you mean 'window_size'?")),
    ("0.33.0", "--weight-transfer-config", {"bakend": "nccl"}, ("E477", "bakend", "did you mean 'backend'?")),
    (
        "0.33.0",
        "--reasoning-config",
        {"reasoning_strt_str": "a"},
        ("E477", "reasoning_strt_str", "reasoning_start_str"),
    ),
]


@pytest.mark.parametrize(("version", "option", "content", "expected"), PLANTED)
def test_planted(version: str, option: str, content: Any, expected: tuple[str, str, str] | None) -> None:
    by_key = [word for key, value in content.items() for word in (f"{option}.{key}", _text(value))]
    for args in ([option, json.dumps(content)], [f"{option}={json.dumps(content)}"], by_key):
        findings = told(version, args)
        assert len(findings) == bool(expected), findings
        if expected:
            code, key, hint = findings[0]
            assert (code, key) == expected[:2]
            assert expected[2] in hint


@pytest.mark.parametrize(("option", "key"), [(COMPILATION, "mode"), ("--attention-config", "flash_attn_version")])
def test_a_number_in_quotes(option: str, key: str) -> None:
    """JSON has a text there, which is none of the names; as a key of its own the word is a number."""
    assert told("0.33.0", [option, json.dumps({key: "3"})]) == [("E478", key, "write 3 without quotes around it")]
    assert told("0.33.0", [f"{option}.{key}", "3"]) == told("0.33.0", [option, json.dumps({key: 3})]) == []


def test_a_level_in_place_of_json_is_a_number_in_the_hint() -> None:
    assert told("0.33.0", [COMPILATION, "3"]) == [("E441", "None", "write '{\"mode\": 3}'")]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def test_what_only_the_pod_fills_in_is_not_judged() -> None:
    assert told("0.33.0", [TRANSFER, '{"kv_conector": "$(CONNECTOR)"}']) == []
    assert told("0.33.0", [f"{TRANSFER}.kv_role", "$(ROLE)"]) == []


def test_what_is_no_json_has_one_finding() -> None:
    assert [code for code, _, _ in told("0.33.0", [TRANSFER, "{kv_conector: x}"])] == ["E441"]


def groups(version: str) -> Any:
    return names_of("vllm").keys(version)


def test_the_versions_that_refuse_keys() -> None:
    """As vllm/config and vllm/engine/arg_utils.py of the releases have it."""
    file = names_of("vllm").read("flags/vllm.keys.txt")
    assert file is not None
    refusing = {
        option: [version for version in file.versions if option in groups(version) and groups(version)[option].names]
        for option in (SPECULATIVE, COMPILATION, TRANSFER)
    }
    newest = file.versions[file.versions.index("0.16.0") :]
    assert refusing[SPECULATIVE] == ["0.8.2", "0.8.3", "0.8.4", "0.8.5", "0.8.5.post1", "0.9.0", "0.9.0.1", *newest]
    assert refusing[COMPILATION][:4] == ["0.9.0", "0.9.0.1", "0.13.0", "0.14.0"]
    assert refusing[TRANSFER] == ["0.9.0", "0.9.0.1", *newest]


def test_an_older_key_is_told_with_its_time() -> None:
    old = {key: by for key, by in groups("0.33.0")[COMPILATION].ended.items() if key == "level"}
    for key, by in old.items():
        assert told("0.33.0", [COMPILATION, json.dumps({key: 3})]) == [
            ("E477", key, f"leave it out; it was removed {by}")
        ]


def test_a_module_may_have_other_connectors() -> None:
    content = {"kv_connector": "OurConnector", "kv_connector_module_path": "our.module", "kv_role": "kv_both"}
    assert told("0.33.0", [TRANSFER, json.dumps(content)]) == []
    inside = {"connectors": [content, {"kv_connector": "OurConnector"}]}
    whole = {"kv_connector": "MultiConnector", "kv_connector_extra_config": inside, "kv_role": "kv_both"}
    assert [code for code, *_ in told("0.33.0", [TRANSFER, json.dumps(whole)])] == ["E478"]
