"""The programs that the gateways are made of, and how a container finds its own."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.apiserver.server import CannotJudge

BUILT = (
    "etcd",
    "kube-apiserver",
    "ai-gateway-controller",
    "ai-gateway-extproc",
    "envoy-gateway",
    "epp",
    "ratelimit",
    "envoy",
)
# Program: the Debian package that has it. redis-check-rdb under the name redis-server is the server; as a package that
# would be a service of this machine too.
INSTALLED = {
    "bwrap": "bubblewrap",
    "ip": "iproute2",
    "openssl": "openssl",
    "redis-check-rdb": "redis-tools",
    "mount": "mount",
}
# Container of a Deployment: the program that it runs. Envoy Gateway's shutdown manager is not needed.
OF_CONTAINER: Mapping[str, str] = {
    "envoy": "envoy",
    "ai-gateway-extproc": "ai-gateway-extproc",
    "envoy-ratelimit": "ratelimit",
    "epp": "epp",
}


def required_machine() -> None:
    """Raises CannotJudge where this machine does not suffice, whatever is built on it, and says what is missing."""
    if sys.platform != "linux":
        raise CannotJudge("gateways run in namespaces of Linux")
    if os.geteuid():
        raise CannotJudge("namespaces need root")
    if missing := [name for name in INSTALLED if shutil.which(name) is None]:
        packages = " ".join(INSTALLED[name] for name in missing)
        raise CannotJudge(f"{', '.join(missing)} missing: apt-get install --no-install-recommends {packages}")


def required(tools: Path) -> None:
    """Raises CannotJudge where this machine or what is built on it does not suffice, and says what is missing."""
    required_machine()
    if missing := [name for name in BUILT if not (tools / name).exists()]:
        raise CannotJudge(f"{', '.join(missing)} not built: scripts/tools.sh {' '.join(missing)}")
