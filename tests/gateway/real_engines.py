"""Engines that are real, in the place of those that are only pretended: llama.cpp with models of random weights."""

from __future__ import annotations

import http.client
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from tests.apiserver.server import Body, CannotJudge, leashed
from tests.engines.installation import llamacpp, preset_version
from tests.engines.models import Shape, write_gguf
from tests.gateway.fake_engines import REFUSE
from tests.gateway.pods import MAIN
from tests.gateway.trial import PAUSE, SERVING, Site

PORT = 8080
# Options that a command line has for its container: a file of the loader's, and an address of the container's own.
MODEL, HOST = "--model", "--host"


@contextmanager
def running(site: Site, namespace: str, workloads: Sequence[str]) -> Iterator[None]:
    """While the block lasts, each pod of these workloads is a llama-server with the command line that was rendered.
    CannotJudge where it is not built or does not answer.
    """
    tools, logs = site.stack.tools, site.stack.logs
    program = llamacpp(tools, preset_version("llamacpp")) / "llama-server"
    model = logs.parent / "model.gguf"
    write_gguf(model, Shape())
    with ExitStack() as stack:
        for workload in workloads:
            for pod in site.leaders(namespace, workload):
                address = pod["status"]["podIP"]
                site.stack.fakes.set_mode(address, REFUSE)
                options = [*_arguments(pod, {MODEL: str(model), HOST: address}), "--threads", "1"]
                log = logs / f"{pod['metadata']['name']}.log"
                stack.enter_context(leashed(program, log, options))
                if not site.until(partial(_answers, address), SERVING):
                    raise CannotJudge(f"llama-server of {workload} does not answer: {_end_of(log)}")
        yield
    for workload in workloads:
        site.set_mode(namespace, workload, "ok")


def _arguments(pod: Body, values: Mapping[str, str]) -> list[str]:
    """The arguments of the engine's container, with other values for some options."""
    main = next(container for container in pod["spec"]["containers"] if container["name"] == MAIN)
    words = [*main.get("command", ())[1:], *main["args"]]
    return [values.get(before, word) for before, word in zip(["", *words], words, strict=False)]


def _answers(address: str) -> bool:
    """Whether the server is healthy."""
    link = http.client.HTTPConnection(address, PORT, timeout=5)
    try:
        link.request("GET", "/health")
        return link.getresponse().status == 200
    except OSError:
        time.sleep(PAUSE)
        return False
    finally:
        link.close()


def _end_of(log: Path) -> str:
    return log.read_text("utf-8", "replace")[-600:] if log.is_file() else "it wrote nothing"
