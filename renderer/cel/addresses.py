"""Kubernetes' functions about IP addresses and networks."""

from __future__ import annotations

import ipaddress
from typing import Final

from renderer.cel.carriers import CIDR, IP, NO_OVERLOAD, Address, Carrier, Network, carry, content, go_quoted, tag_of
from renderer.cel.compiler import Function


def _parsed(text: str) -> Address:
    """An address, without a zone, and no IPv4 address mapped into IPv6. Raises ValueError."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        fault = f"ParseAddr({go_quoted(text)}): {_address_fault(text)}"
        raise ValueError(f"IP Address {go_quoted(text)} parse error during conversion from string: {fault}") from None
    if "%" in text:
        raise ValueError(f"IP address {go_quoted(text)} with zone value is not allowed")
    if getattr(address, "ipv4_mapped", None) is not None:
        raise ValueError(f"IPv4-mapped IPv6 address {go_quoted(text)} is not allowed")
    return address


def _address_fault(text: str) -> str:
    """Why Go takes a text for no IPv4 address, in its words; of IPv6 addresses it has many."""
    if "." not in text or ":" in text:
        return "unable to parse IP"
    fields = 0
    value = digits = 0
    for i, character in enumerate(text):
        rest = f" (at {go_quoted(text[i:])})"
        if character.isascii() and character.isdigit():
            if digits == 1 and value == 0:
                return "IPv4 field has octet with leading zero"
            value, digits = value * 10 + int(character), digits + 1
            if value > 255:
                return "IPv4 field has value >255"
        elif character == ".":
            if i in (0, len(text) - 1) or text[i - 1] == ".":
                return f"IPv4 field must have at least one digit{rest}"
            if fields == 3:
                return "IPv4 address too long"
            fields, value, digits = fields + 1, 0, 0
        else:
            return f"unexpected character{rest}"
    return "IPv4 address too short"


def _network(text: str) -> Network:
    """A network, which may have bits behind its mask. Raises ValueError."""
    address, slash, bits = text.partition("/")
    wrong = "network address parse error during conversion from string: " * 2
    if not slash:
        raise ValueError(f"{wrong}netip.ParsePrefix({go_quoted(text)}): no '/'")
    if not bits.isascii() or not bits.isdigit() or (len(bits) > 1 and bits[0] == "0"):
        raise ValueError(f"{wrong}netip.ParsePrefix({go_quoted(text)}): bad bits after slash: {go_quoted(bits)}")
    try:
        network = ipaddress.ip_interface(text)
    except ValueError:
        raise ValueError(f"{wrong}netip.ParsePrefix({go_quoted(text)}): unable to parse IP") from None
    if "%" in address:
        raise ValueError(f"{wrong}netip.ParsePrefix({go_quoted(text)}): IPv6 zones cannot be present in a prefix")
    if getattr(network.ip, "ipv4_mapped", None) is not None:
        words = f"IPv4-mapped IPv6 address {go_quoted(text)} is not allowed"
        raise ValueError(f"network address parse error during conversion from string: {words}")
    return network


def _address_of(value: object) -> Address:
    return _parsed(value) if isinstance(value, str) else ipaddress.ip_address(content(value, IP))


def _network_of(value: object) -> Network:
    return _network(value) if isinstance(value, str) else ipaddress.ip_interface(content(value, CIDR))


def _ip(text: str) -> Carrier:
    return carry(IP, str(_parsed(text)))


def _cidr(text: str) -> Carrier:
    return carry(CIDR, str(_network(text)))


def _is_ip(text: str) -> bool:
    try:
        _parsed(text)
    except ValueError:
        return False
    return True


def _is_cidr(text: str) -> bool:
    try:
        _network(text)
    except ValueError:
        return False
    return True


def _to_string(value: object) -> str:
    return content(value, tag_of(value))


def _is_global_unicast(value: object) -> bool:
    address = _address_of(value)
    is_broadcast = address.version == 4 and int(address) == 2**32 - 1
    return not (
        is_broadcast or address.is_unspecified or address.is_loopback or address.is_multicast or (address.is_link_local)
    )


def _is_link_local_multicast(value: object) -> bool:
    address = _address_of(value)
    if address.version == 4:
        return address in ipaddress.ip_network("224.0.0.0/24")
    packed = address.packed
    return packed[0] == 0xFF and packed[1] & 0x0F == 0x02


def _contains_ip(network: object, address: object) -> bool:
    if isinstance(address, str) and not _is_ip(address):
        raise ValueError(NO_OVERLOAD)  # so says the server of a text that is not an address
    return _address_of(address) in _network_of(network).network


def _contains_cidr(network: object, other: object) -> bool:
    outer, inner = _network_of(network).network, _network_of(other).network
    return outer.version == inner.version and outer.prefixlen <= inner.prefixlen and outer.overlaps(inner)


FUNCTIONS: Final = (
    Function("ip", False, (("string", "IP"),), _ip),
    Function("isIP", False, (("string", "bool"),), _is_ip),
    Function("ip.isCanonical", False, (("string", "bool"),), lambda text: str(_parsed(text)) == text),
    Function("family", True, (("IP", "int"),), lambda value: _address_of(value).version),
    Function("isUnspecified", True, (("IP", "bool"),), lambda value: _address_of(value).is_unspecified),
    Function("isLoopback", True, (("IP", "bool"),), lambda value: _address_of(value).is_loopback),
    Function("isLinkLocalUnicast", True, (("IP", "bool"),), lambda value: _address_of(value).is_link_local),
    Function("isLinkLocalMulticast", True, (("IP", "bool"),), _is_link_local_multicast),
    Function("isGlobalUnicast", True, (("IP", "bool"),), _is_global_unicast),
    Function("cidr", False, (("string", "CIDR"),), _cidr),
    Function("isCIDR", False, (("string", "bool"),), _is_cidr),
    Function("ip", True, (("CIDR", "IP"),), lambda value: carry(IP, str(_network_of(value).ip))),
    Function("prefixLength", True, (("CIDR", "int"),), lambda value: _network_of(value).network.prefixlen),
    Function("masked", True, (("CIDR", "CIDR"),), lambda value: carry(CIDR, str(_network_of(value).network))),
    Function("containsIP", True, (("CIDR", "string", "bool"), ("CIDR", "IP", "bool")), _contains_ip),
    Function("containsCIDR", True, (("CIDR", "string", "bool"), ("CIDR", "CIDR", "bool")), _contains_cidr),
    Function("string", False, (("map", "string"),), _to_string),
)
