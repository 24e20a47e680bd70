"""Kubernetes' named formats. A format, and what it has against a text, are optional values in the server's CEL; here
they are carried, and of an optional value's functions they have hasValue and value.
"""

from __future__ import annotations

import base64
import binascii
import datetime
import json
import re
from collections.abc import Callable, Mapping
from typing import Final

from renderer.cel.carriers import FAULTS, FORMAT, Carrier, carry, content, tag_of
from renderer.cel.compiler import Function
from renderer.cel.urls import parse_fault

_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_LABEL_1035: Final = "[a-z]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = rf"{_LABEL}(\.{_LABEL})*"
_VALUE: Final = "([A-Za-z0-9]([-A-Za-z0-9_.]*)?[A-Za-z0-9])|([A-Za-z0-9])|"
_NAME: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"


def _length(text: str, most: int) -> list[str]:
    return [f"must be no more than {most} bytes"] if len(text.encode()) > most else []


def _matching(text: str, pattern: str, words: str) -> list[str]:
    return [] if re.fullmatch(pattern, text) else [words]


def _label(text: str) -> list[str]:
    words = (
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must"
        " start and end with"
        " an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is"
        " '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
    )
    faults = _matching(text, _LABEL, words)
    if faults and not _subdomain_fault(text):
        faults = ["must not contain dots"]
    return _length(text, 63) + faults


def _label_1035(text: str) -> list[str]:
    words = (
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an"
        " alphabetic character,"
        " and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is"
        " '[a-z]([-a-z0-9]*[a-z0-9])?')"
    )
    return _length(text, 63) + _matching(text, _LABEL_1035, words)


def _subdomain(text: str) -> list[str]:
    words = (
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and"
        " must start and"
        " end with an alphanumeric character (e.g. 'example.com', regex used for validation is"
        r" '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
    )
    return _length(text, 253) + (_matching(text, _SUBDOMAIN, words) if _subdomain_fault(text) else [])


def _subdomain_fault(text: str) -> bool:
    return re.fullmatch(_SUBDOMAIN, text) is None


def _label_value(text: str) -> list[str]:
    words = (
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and"
        " must start and"
        " end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is"
        " '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
    )
    return _length(text, 63) + _matching(text, _VALUE, words)


def _qualified_name(text: str) -> list[str]:
    words = (
        "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an"
        " alphanumeric character"
        " (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is"
        " '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
    )
    parts = text.split("/")
    if len(parts) > 2:
        return [f"a qualified name {words} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"]
    faults: list[str] = []
    if len(parts) == 2:
        faults += [f"prefix part {fault}" for fault in (_subdomain(parts[0]) if parts[0] else ["must be non-empty"])]
    if not parts[-1]:
        faults.append("name part must be non-empty")
    faults += [f"name part {fault}" for fault in _length(parts[-1], 63)]
    return faults + [f"name part {fault}" for fault in _matching(parts[-1], _NAME, words)]


def _prefix(validate: Callable[[str], list[str]]) -> Callable[[str], list[str]]:
    """The same for a name that something is put behind."""
    return lambda text: validate(f"{text[:-2]}a" if len(text) > 1 and text.endswith("-") else text)


def _uri(text: str) -> list[str]:
    fault = parse_fault(text)
    return [fault] if fault else []


def _uuid(text: str) -> list[str]:
    pattern = "(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}"
    return _matching(text, pattern, "does not match the UUID format")


def _byte(text: str) -> list[str]:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return ["invalid base64"]
    return []


def _date(text: str) -> list[str]:
    try:
        datetime.date.fromisoformat(text if re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text) else "")
    except ValueError:
        return ["invalid date"]
    return []


_FORMATS: Final[Mapping[str, Callable[[str], list[str]]]] = {
    "dns1123Label": _label,
    "dns1123Subdomain": _subdomain,
    "dns1035Label": _label_1035,
    "qualifiedName": _qualified_name,
    "dns1123LabelPrefix": _prefix(_label),
    "dns1123SubdomainPrefix": _prefix(_subdomain),
    "dns1035LabelPrefix": _prefix(_label_1035),
    "labelValue": _label_value,
    "uri": _uri,
    "uuid": _uuid,
    "byte": _byte,
    "date": _date,
}
_NONE: Final = ""
_NO_VALUE: Final = "optional.none() dereference"


def _named(name: str) -> Carrier:
    return carry(FORMAT, name if name in _FORMATS else _NONE)


def _validate(value: object, text: str) -> Carrier:
    name = content(value, FORMAT)
    if name not in _FORMATS:
        raise ValueError(_NO_VALUE)
    faults = _FORMATS[name](text)
    return carry(FAULTS, json.dumps(faults) if faults else _NONE)


def _has_value(value: object) -> bool:
    return content(value, tag_of(value)) != _NONE


def _value(value: object) -> object:
    if not _has_value(value):
        raise ValueError(_NO_VALUE)
    return value if tag_of(value) == FORMAT else json.loads(content(value, FAULTS))


FUNCTIONS: Final = (
    Function("format.named", False, (("string", "OptionalFormat"),), _named),
    Function("validate", True, (("map", "string", "OptionalFaults"),), _validate),
    # What the language has for optional values is added to; the carrier is looked at when it runs.
    Function("hasValue", True, (("map", "bool"),), _has_value),
    Function("value", True, (("map", "dyn"),), _value),
)
