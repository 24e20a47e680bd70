"""A value enters another language only through that language's own quoting, a function of renderer/text/escapes.py.

The first half lists every place of the program where text stands within another language; a new one has to be added
here, with what quotes it. The second half has the real readers of these languages read forty hostile texts.
"""

from __future__ import annotations

import ast
import base64
import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import re2  # type: ignore[import-untyped]
import yaml

from renderer import template
from renderer.text import escapes
from tests.hostile.charts import TEXTS
from tests.paths import ROOT
from tests.programs import tool

# What hints at another language around a value: actions, variables of shells, quotes, code of Markdown, tags, regular
# expressions, tables.
SIGNS = re.compile(r"\{\{|\$\(|\$\{|=~|\"|`|</?\w+>|\\[dswbAZ]|\(\?|\[\^|\|")
# By file and function: the number of texts with values in another language, and what quotes them.
PLACES = {
    "adopt/kserve.py _fill_variable": (1, "a name of presets/kserve.yaml"),
    "adopt/adoption.py _kept_runtime": (1, "a preset's command and a word quoted for a shell"),
    "adopt/api_keys.py _occurrences": (1, "re.escape"),
    "adopt/api_keys.py _refer": (2, "the name of a variable"),
    "adopt/playground_fields.py _is_in_variable": (1, "what is looked for in a text"),
    "check/graph/host_networks.py ": (2, "patterns of ours"),
    "adopt/model_source.py _missing_sources": (1, "what is looked for in a text"),
    "adopt/playground_fields.py _is_named": (2, "what is looked for in a text"),
    "error_pages/terminal.py area_list": (1, "titles of ours, and numbers"),
    "cutover/gitops_tool.py start": (1, "shlex.join"),
    "cutover/steps.py _check": (1, "words of ours, and escapes.shell_word"),
    "cutover/steps.py _delete": (1, "words of ours, and shlex.join"),
    "diff/live/counterparts.py is_loader": (1, "a name of ours"),
    "diff/live/counterparts.py weights": (1, "re.escape"),
    "admission/evaluation.py _evaluate_variable": (1, "words of a message"),
    "admission/source_text.py ": (2, "patterns of ours"),
    "cel/compiler.py _config": (1, "names of ours"),
    "cel/texts.py _no_clause": (1, "words of a message"),
    "cel/texts.py _quote": (1, "what CEL's strings.quote does"),
    "cel/versions.py ": (1, "patterns of ours"),
    "cel/versions.py _fault": (4, "words of a message"),
    "cel/versions.py _rank": (1, "words of a message"),
    "check/engines/metric_names.py unreported_metrics": (1, "re.escape"),
    "check/graph/set_pods.py set_of_child": (1, "a pattern of ours around re.escape"),
    "check/graph/set_pods.py validate_scale_target": (1, "words of a message"),
    "check/graph/set_pods.py validate_whole_target": (1, "words of a message"),
    "diff/markdown.py markdown": (4, "escapes.markdown_code; words and numbers of ours"),
    "diff/markdown.py markdown_errors": (2, "escapes.markdown_code"),
    "diff/markdown.py _risk_rows": (1, "a title of ours, and texts of _marked"),
    "diff/markdown.py _table": (1, "a head of ours"),
    "diff/markdown.py _model": (1, "escapes.markdown_code"),
    "diff/models.py ": (1, "a pattern of ours"),
    "diff/risks/rollout.py ": (1, "a pattern of ours"),
    "diff/markdown.py _gpus": (1, "escapes.markdown_code, and numbers"),
    "diff/markdown.py _blocks": (3, "escapes.html_code, escapes.markdown_fence"),
    "diff/renames.py replace_name": (1, "re.escape"),
    "text/escapes.py markdown_code": (2, "escapes itself"),
    "text/escapes.py html_code": (1, "escapes itself"),
    "text/escapes.py mermaid_label": (2, "escapes itself"),
    "text/escapes.py go_string": (1, "escapes itself"),
    "text/escapes.py go_template_text": (1, "escapes itself"),
    "text/number_forms.py _seconds": (1, "a pattern of ours"),
    "text/escapes.py _numbered": (1, "a class of our own characters"),
    "engines/models_file.py ": (2, "patterns of ours"),
    "engines/shell_variables.py ": (2, "patterns of ours"),
    "engines/shell_variables.py _sets": (2, "a name of letters, digits and _"),
    "engines/rules/absent.py _may_have": (1, "re.escape"),
    "engines/rules/absent.py _scripts": (1, "re.escape"),
    "explain/formats.py _listing": (1, "escapes.line, behind a bar that no program reads"),
    "explain/formats.py _place_lines": (1, "escapes.line, behind a bar that no program reads"),
    "fleet_page/html.py _column_labels": (1, "heads of ours, in a style"),
    "integrations/gitops/applications.py _application_set": (1, "a number"),
    "integrations/gitops/flux.py _checks": (1, "expressions of ours"),
    "integrations/helm/actions.py yaml_text": (1, "yamlio.quoted_part, escapes.go_template_text"),
    "integrations/helm/files.py ": (1, "a comment of ours"),
    "integrations/helm/files.py _join": (1, "a condition of ours; actions.dump"),
    "integrations/helm/installed_files.py _expression": (2, "re.escape"),
    "integrations/helm/namespaces_and_images.py __init__": (3, "escapes.go_string; re.escape"),
    "integrations/helm/namespaces_and_images.py _image": (3, "escapes.go_string; a host that its form has passed"),
    "integrations/helm/replicas.py app_header": (2, "escapes.go_string"),
    "integrations/helm/replicas.py refer_to_replicas": (3, "variables of ours"),
    "integrations/helm/replicas.py _route": (1, "escapes.go_string"),
    "integrations/helm/undo.py ": (9, "patterns of ours"),
    "integrations/kustomize/results.py __init__": (1, "re.escape"),
    "load/admission_files.py _facts": (1, "re.escape"),
    "resolve/autoscaling/keda_triggers.py _query": (1, "escapes.promql_string, escapes.regex_literal"),
    "resolve/engine/compilation.py fill": (1, "words of a message"),
    "resolve/engine/preset_args.py unfilled_words": (1, "words of a message"),
    "resolve/kube/images.py ": (3, "patterns of ours"),
    "resolve/pod/cache_scripts.py ": (6, "scripts of ours; values come as variables"),
    "resolve/rules/handwritten.py ": (1, "re.escape"),
    "resolve/rules/handwritten.py _is_known": (1, "digits"),
    "resolve/rules/versions.py unlisted_version": (1, "a command and a name of a preset, and escapes.shell_word"),
    "resolve/workload/flavor_limits.py limits_of_one_host": (1, "digits"),
    "routes/markdown.py _gateway_section": (3, "escapes.markdown_code"),
    "routes/markdown.py _charts": (1, "escapes.mermaid_label"),
    "routes/markdown.py _chart_edge": (1, "escapes.mermaid_label"),
    "scaffold/contents.py _readme": (2, "paths of ours"),
    "scaffold/contents.py _without_action": (1, "words of ours"),
    "schema_validation.py _compiled": (1, "schemas of ours"),
    "schema_validation.py message_words": (1, "words of a message"),
    "schema_validation.py _type_hint": (1, "words of a message"),
    "secrets/words.py ": (1, "patterns of ours"),
    "source/tree.py glob": (4, "re.escape"),
    "template.py _jinja_expression": (1, "an expression is what it is"),
    "upgrade/formats.py as_markdown": (2, "escapes.markdown_code, escapes.markdown_text"),
    "yamlio/inline_values.py ": (2, "patterns of ours"),
    "yamlio/located_reader.py _key_words": (1, "words of a message"),
    "yamlio/scalar_edits.py _part_edits": (1, "re.escape"),
    "yamlio/scalar_edits.py _written": (2, "quoted_part of the writer"),
    "yamlio/writer.py ": (3, "patterns of ours"),
    "yamlio/writer.py _string_text": (4, "the writer of YAML itself"),
    "yamlio/writer.py _block_text": (1, "the writer of YAML itself"),
}
# Who may quote by other means than escapes.py.
QUOTERS = {
    "re.escape": {
        *("check/engines/metric_names.py", "engines/rules/absent.py"),
        *("check/graph/set_pods.py", "diff/renames.py", "integrations/helm/namespaces_and_images.py"),
        *("integrations/kustomize/results.py", "resolve/rules/handwritten.py", "source/tree.py"),
        "yamlio/scalar_edits.py",
        *("load/admission_files.py", "load/kustomize_patches.py", "adopt/api_keys.py"),
        *("integrations/helm/installed_files.py", "diff/live/counterparts.py"),
    },
    "shlex.quote": {"text/escapes.py"},
    "json.dumps": {
        *("kubernetes/component_versions.py", "schema_validation.py"),  # schemas
        "engines/option_hints.py",  # values of options in hints, of letters, digits and .+-
        "resolve/model_cache.py",  # hashes
        *("resolve/apps/fill_jobs.py", "diff/fields.py"),
        *("adopt/open_models.py", "diff/live/leaves.py", "diff/live/command_options.py"),  # what is compared
        *("adopt/pod_patch.py", "check/graph/host_networks.py", "resolve/pod/pod_template.py"),  # the same
        *("cutover/operator_shutdown.py", "cutover/script.py"),  # patches: words by escapes.shell_word, shlex.join
        *("cel/carriers.py", "cel/formats.py"),  # as Go prints a text; what a function hands on to the next
        *(
            "preset_catalog/preset_list.py",
            "integrations/gitops/plugin.py",
            "cli/argocd.py",
            "cli/check.py",
            "check/programs/release_values.py",
            "integrations/helm/files.py",
            "text/escapes.py",
        ),  # documents
    },
}


def places(node: ast.AST, function: str = "") -> Iterator[str]:
    """The function of each text with values in another language."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        function = node.name
    texts: list[str] = []
    if isinstance(node, ast.JoinedStr) and any(isinstance(part, ast.FormattedValue) for part in node.values):
        texts = ["\0".join(str(part.value) if isinstance(part, ast.Constant) else "" for part in node.values)]
    elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mod)):
        sides = [side.value for side in (node.left, node.right) if isinstance(side, ast.Constant)]
        texts = [side for side in sides if isinstance(side, str)]
    if any(map(SIGNS.search, texts)):
        yield function
    for child in ast.iter_child_nodes(node):
        yield from places(child, function)


def test_every_place_is_listed() -> None:
    counts: Counter[str] = Counter()
    for path in sorted((ROOT / "renderer").rglob("*.py")):
        inside = path.relative_to(ROOT / "renderer").as_posix()
        counts.update(f"{inside} {function}" for function in places(ast.parse(path.read_text("utf-8"))))
    assert counts == {place: number for place, (number, _) in PLACES.items()}


@pytest.mark.parametrize(
    "text", ["f'index .Values \"{x}\"'", "f'{{{{ {x} }}}}'", "'sh -c \"' + x", "f'pod=~{x}'", "f'`{x}`'", "f'$({x})'"]
)
def test_a_place_is_found(text: str) -> None:
    assert list(places(ast.parse(f"def f():\n    return {text}"))) == ["f"]


def test_nobody_else_quotes() -> None:
    for call, files in QUOTERS.items():
        callers = {
            path.relative_to(ROOT / "renderer").as_posix()
            for path in (ROOT / "renderer").rglob("*.py")
            if re.search(rf"\b{re.escape(call)}\b(?!`)", path.read_text("utf-8"))
        }
        assert callers == files, call


# Of templates in presets: those whose text is JSON, YAML or a script, and the word that is put into it.
IN_PRESETS = {
    "backends/tensorrt-llm.yaml": ["DraftModelPath|yaml"],
    "backends/vllm.yaml": [
        *("EnginePort", "LocalRanks", "LocalRanks"),  # numbers, in scripts
        *("Path|json", "DraftModelPath|json", "DraftModelPath|json", "DraftRevision|json"),
    ],
    "backends/llamacpp.yaml": ["DrainSleep", "Port", "Port", "DrainSleep", "Port"],
    "backends/sglang.yaml": ["EnginePort"],
}


def test_words_in_presets_are_quoted() -> None:
    """Where a preset's template is text of another language, each word in it is a number or goes through a filter."""
    words_by_file: dict[str, list[str]] = {}
    for path in sorted((ROOT / "presets").rglob("*.yaml")):
        if path.name == "kserve.yaml":
            continue  # expressions of KServe's own configuration, which are read and not filled in
        for document in yaml.safe_load_all(path.read_text("utf-8")):
            for text in strings(document):
                if "{{" in text and re.search(r"\"\w+\": |\n|\bexec |curl |\$\(", text):
                    words = re.findall(r"\{\{\s*([^}]*?)\s*\}\}", text)
                    words_by_file.setdefault(path.relative_to(ROOT / "presets").as_posix(), []).extend(words)
    assert words_by_file == IN_PRESETS


def strings(value: object) -> Iterator[str]:
    """All strings of a tree."""
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from strings(inner)


# --- The readers of these languages


def test_go_reads_its_strings_back(tmp_path: Path) -> None:
    """As a string of an action, and as text around actions; PromQL's strings are Go's."""
    assert escapes.promql_string('a"\\\n') == escapes.go_string('a"\\\n') == '"a\\"\\\\\\u000a"'
    chart = tmp_path / "chart"
    (chart / "templates").mkdir(parents=True)
    (chart / "Chart.yaml").write_text("{apiVersion: v2, name: a, version: 1.0.0}\n", "utf-8")
    rows = [f"s{i}: {{{{ {escapes.go_string(text)} | b64enc | quote }}}}" for i, text in enumerate(TEXTS)]
    for i, text in enumerate(TEXTS):
        body = escapes.go_template_text(text, before_action=True)
        rows.append(f'{{{{- define "t{i}" }}}}{body}{{{{ "" }}}}{{{{ end }}}}')
        rows.append(f't{i}: {{{{ include "t{i}" . | b64enc | quote }}}}')
    (chart / "templates" / "all.yaml").write_text("\n".join(rows) + "\n", "utf-8", newline="")
    done = subprocess.run([tool("helm"), "template", "a", chart], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    read = yaml.safe_load(done.stdout)
    for i, text in enumerate(TEXTS):
        assert [base64.b64decode(read[f"{form}{i}"]).decode() for form in "st"] == [text, text]


@pytest.mark.parametrize("text", TEXTS)
def test_readers_get_the_text_back(text: str) -> None:
    assert re.fullmatch(escapes.regex_literal(text), text)
    assert re2.fullmatch(escapes.regex_literal(text), text)
    assert not re2.fullmatch(escapes.regex_literal(text), f"{text}x")
    assert expanded(escapes.container_text(text), {"POD_NAME": "chat-0", "A": "b", "touch pwned": "x"}) == text
    glob = escapes.glob_literal(text)
    assert re.sub(r"\\(.)", r"\1", glob, flags=re.DOTALL) == text
    assert not re.search(r"[*?\[]", re.sub(r"\\.", "", glob, flags=re.DOTALL))
    words = {"ModelPath": text}
    for name, read in (("json", json.loads), ("yaml", yaml.safe_load)):
        filler = template.compile_template(f"{{{{ ModelPath|{name} }}}}", frozenset(words))
        assert filler
        assert read(str(filler(words))) == text
    if "\x00" not in text:
        filler = template.compile_template("printf %s {{ ModelPath|shell }}", frozenset(words))
        assert filler
        assert subprocess.run(["sh", "-c", str(filler(words))], capture_output=True, check=True).stdout.decode() == text


def expanded(text: str, variables: dict[str, str]) -> str:
    """What Kubernetes makes of an argument: `$$` is `$`, `$(NAME)` the variable, where there is one."""
    return re.sub(
        r"\$\$|\$\(([^)]*)\)",
        lambda match: "$" if match[0] == "$$" else variables.get(match[1], match[0]),
        text,
    )


def test_series_of_any_name() -> None:
    assert escapes.promql_selector("vllm:num_requests_waiting", 'a="b"') == 'vllm:num_requests_waiting{a="b"}'
    assert escapes.promql_selector('x"}) or vector(1', 'a="b"') == '{__name__="x\\"}) or vector(1",a="b"}'
