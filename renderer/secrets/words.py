"""Names and values of variables, options and keys that are secrets, as far as names and values alone tell."""

from __future__ import annotations

import os
import re
from functools import lru_cache

from renderer.source.paths import PRESETS


@lru_cache(maxsize=1)
def harmless_variables() -> frozenset[str]:
    """Environment variables that presets set or engines read, except secrets by name."""
    with open(os.path.join(PRESETS, "variables.txt"), encoding="utf-8") as file:
        return frozenset(line.strip() for line in file if line[0] != "#")


# --- Names

_LONGEST_NAME = 200  # of a longer one only the end is read
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_SECRETS = {"PAT", "PSK", "CREDS", "AUTHORIZATION", "BEARER", "COOKIE", "COOKIES", "JWT", "SAS"}
_ENDINGS = re.compile(r"(?:PASSWORDS?|PASSWD|PASSPHRASE|PASSCODE|SECRETS?|CREDENTIALS?|TOKENS?|PASS|PWD)$")
_NO_ENDINGS = {"BYPASS", "COMPASS", "TRESPASS"}
_KEY = re.compile(r"KEYS?$")
_SECRET_KEY = re.compile(r"(?:API|ACCESS|SECRET|PRIVATE|AUTH|SIGNING|ENCRYPTION|MASTER|SHARED)KEYS?$")
_KEY_WORDS = {"API", "ACCESS", "SECRET", "PRIVATE", "AUTH", "SIGNING", "ENCRYPTION", "DECRYPTION", "MASTER", "SHARED"}
_KEY_WORDS |= {"ACCOUNT", "CLIENT", "DEPLOY", "LICENSE", "SERVICE", "SSH", "STORAGE", "SUBSCRIPTION", "WEBHOOK"}
# Words behind that of a secret with which a name is a fact about the secret, as its file.
_FACTS = {"FILE", "FILES", "PATH", "DIR", "FOLDER", "NAME", "NAMES", "NAMESPACE", "ID", "IDS", "URL", "URI", "ENDPOINT"}
_FACTS |= {"REF", "REFS", "ENV", "TYPE", "KIND", "TTL", "EXPIRY", "EXPIRATION", "LENGTH", "LEN", "LIMIT", "COUNT"}
_FACTS |= {"SIZE", "INTERVAL", "TIMEOUT", "SECONDS", "PER", "ENABLED", "REQUIRED", "PROVIDER", "HEADER", "HEADERS"}
_FACTS |= {"PREFIX", "SUFFIX", "FIELD", "FORMAT", "ALGORITHM", "VERSION", "MAP", "MODE", "BUDGET", "INDEX", "ONLY"}
_FACTS |= {"BUCKETS", "DETAILS", "DISTRIBUTION", "HISTOGRAM", "LATENCY", "METRICS", "RATIO", "THRESHOLD", "USAGE"}
_PROGRAMS = {"COMMAND", "TEMPLATE", "SCRIPT"}
# Words with which TOKEN and TOKENS, or TOKENS alone, are tokens of a text.
_TOKEN = {"MAX", "MIN", "NUM", "SPECIAL", "STOP", "IMAGE", "AUDIO", "PAD", "EOS", "BOS", "UNK", "SEP", "CLS", "MASK"}
_TOKEN |= {"FIRST", "NEXT", "CLASSIFIER"}
_TOKENS = _TOKEN | {"NEW", "TOTAL", "BATCHED", "INPUT", "OUTPUT", "PREFILL", "DECODE", "DRAFT", "SPECULATIVE", "SPEC"}
_TOKENS |= {"EVERY", "GRAPH", "GUIDE"}


@lru_cache(4096)
def names_secret(name: str) -> str:
    """The word that marks a name as that of a secret, such as TOKEN; '' without one."""
    words = _words(name)
    if words == ["AUTH"]:
        return "AUTH"
    if "/" in name and not _PROGRAMS.isdisjoint(words):  # an annotation that holds code, such as a template of a file
        return ""
    if name in ("PWD", "OLDPWD") or "EXISTING" in words:  # the working directory; the name of a Secret
        return ""
    if words[:1] == ["ENABLE"] or {"INITIAL", "CLUSTER"} <= {*words}:  # a switch; what etcd calls a new cluster
        return ""
    for i in reversed(range(len(words))):
        word, before = words[i], words[i - 1] if i else ""
        if word in _FACTS or words[i:] == ["PASS", "CONFIG"]:  # of a compiler's passes
            return ""
        ending = _ENDINGS.search(word)
        if ending and ending[0] in ("TOKEN", "TOKENS"):
            text_words = _TOKENS if ending[0] == "TOKENS" else _TOKEN
            if not text_words.isdisjoint([*words, word.removesuffix(ending[0])]):
                return ""
        if word in _SECRETS or (ending and word not in _NO_ENDINGS) or _SECRET_KEY.search(word):
            return ending[0] if ending else word
        if word in ("KEY", "KEYS"):
            if before in _KEY_WORDS:
                return word
            if _ENDINGS.search(before):  # under which key of a Secret a password stands
                return ""
    return ""


def _words(name: str) -> list[str]:
    """The words of a name in capitals, as CLIENT and SECRET of `clientSecret`, without the domain of an annotation."""
    return [word.upper() for word in _WORD.findall(name.rpartition("/")[2][-_LONGEST_NAME:])]


def _names_key(name: str) -> bool:
    """Whether the last word of a name, numbers aside, is KEY or KEYS or ends so."""
    words = [word for word in _words(name) if not word.isdigit()]
    return bool(words) and words[0] != "ENABLE" and bool(_KEY.search(words[-1]))


# --- Values

VARIABLE_NAME = re.compile(r"[A-Z][A-Z0-9_]*")
REFERENCE = re.compile(r"\$\([A-Za-z_][\w.-]*\)")
_UNIT = r"(?:%|m|[kKMGTPE]i?|[KMG]i?B|B|[munµ]?s|min|h|d)?"
_NUMBER = re.compile(rf"[+-]?\d{{1,15}}(?:\.\d{{1,15}})?(?:[eE][+-]?\d{{1,3}})?{_UNIT}")
_PATH = re.compile(r"/?(?:/(?>[a-z._-]{33,80}|[A-Za-z0-9._@+-]{1,32})){1,16}/?")  # atomic, so that it takes linear time
_OBJECT = re.compile(r"[a-z0-9]+(?:[-./][a-z0-9]+){0,20}")
_PARTS = re.compile(r"[-./]")
_NAMES = re.compile(r"(?>[a-z]{1,20}(?:[_.:*,-]|\Z)){1,20}")  # words of people
_KEY_FILE = re.compile(r"\.(?:crt|jks|key|p12|pem)\Z")
_SCHEMES = {"basic", "bearer", "digest", "ntlm", "negotiate", "kerberos", "oauth", "oauth2", "oidc", "saml", "ldap"}
_SCHEMES |= {"token", "password", "jwt", "apikey", "api-key", "anonymous"}
_SWITCHES = {"true", "false", "yes", "no", "on", "off", "none", "null", "enabled", "disabled", "required", "optional"}
_COMMON = _SWITCHES | {"auto", "default", "always", "never", "all", "any", "trace", "debug", "info", "notice", "warn"}
_COMMON |= {"warning", "error", "critical", "fatal", "cpu", "gpu", "cuda", "rocm", "xpu", "float16", "bfloat16"}
_COMMON |= {"fp16", "bf16", "fp8", "int8", "int4", "json", "text", "plain", "http", "https", "grpc", "tcp", "udp"}
_COMMON |= {"spawn", "fork", "forkserver", "utc", "leader", "worker", "production", "staging", "development", "test"}


def is_literal_secret(name: object, value: object) -> bool:
    """Whether the value of an environment variable is a secret in plain text, by its name."""
    if not isinstance(name, str) or not isinstance(value, str) or not is_literal(value):
        return False
    word = names_secret(name) or ("KEY" if _names_key(name) else "")
    if word == "KEY" and not names_secret(name) and name.upper().endswith("KEYS") and _NAMES.fullmatch(value):
        return False  # which keys there are, as in CHECK_KEYS: queue
    return reveals_secret(word, name, value)


def is_harmless(name: str, value: str) -> bool:
    return not is_literal_secret(name, value)


def reveals_secret(word: str, name: str, value: str) -> bool:
    """Whether the value is a secret, when its name has the word of one."""
    if not word or value.lower() in _SWITCHES or (word == "TOKENS" and value.isdigit()) or value.startswith("{{"):
        return False
    if word == "AUTH" and value.lower() in _SCHEMES:
        return False
    if word.startswith("SECRET") and "/" in name and _names_object(value):  # an annotation, with the name of a Secret
        return False
    # GOOGLE_APPLICATION_CREDENTIALS is a path, and RAY_TLS_SERVER_KEY that of a key's file.
    return not (value.startswith("/") and (word.startswith("CREDENTIAL") or _KEY_FILE.search(value)))


def _names_object(value: str) -> bool:
    """Whether the value reads as the name of an object, or as a path of names: one of its parts is a word."""
    return bool(_OBJECT.fullmatch(value)) and any(map(str.isalpha, _PARTS.split(value)))


def is_literal(value: object) -> bool:
    return isinstance(value, str) and bool(value) and not REFERENCE.fullmatch(value)


def may_be_shown(name: object, value: str) -> bool:
    """Whether the value of an environment variable may be shown."""
    if is_literal_secret(name, value):
        return False
    if name in harmless_variables() or value.lower() in _COMMON or not REFERENCE.sub("", value).strip(".:/,-_ "):
        return True
    return all(map(_NUMBER.fullmatch, value.split(","))) or all(map(_PATH.fullmatch, value.split(":")))
