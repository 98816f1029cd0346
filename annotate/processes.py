"""Starting a process that outlives accord, and recognising it again by more than its number."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["free_port", "identity", "is_alive", "port_is_taken", "start_detached", "stop"]

# The shell starts the program in the background, says its number and ends: the program then
# belongs to the system and not to us, and leaves no zombie behind.
_START = 'log=$1; shift; umask 077; "$@" >"$log" 2>&1 </dev/null & echo $!'


def start_detached(
    command: Sequence[str | Path], *, environment: Mapping[str, str], folder: Path, log: Path
) -> int:
    """Start a program in a session of its own and return its process id.

    ``log`` takes what it prints; files it makes are readable by their owner only.
    """
    shell = subprocess.run(
        ["/bin/sh", "-c", _START, "sh", str(log), *map(str, command)],
        env=dict(environment),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,
        text=True,
        check=True,
    )
    return int(shell.stdout)


def identity(pid: int) -> str | None:
    """What tells this process from a later one with the same number; None when there is none.

    On Linux the boot and the tick it started at; elsewhere what ``ps`` says of its start.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        if Path("/proc/self/stat").exists():
            return None
        said = subprocess.run(
            ["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True
        ).stdout.split()
        return " ".join(said[1:]) if said and not said[0].startswith("Z") else None
    # A zombie has ended; only its parent has not noticed yet.
    return None if fields[0] in "ZX" else f"{boot} {fields[19]}"


def is_alive(pid: int, known_as: str, *, words: str) -> bool:
    """Whether the process ``pid`` is still the one that was ``known_as`` then.

    ``words`` must be in its command line, where the system shows it.
    """
    if identity(pid) != known_as:
        return False
    with contextlib.suppress(OSError):
        return words.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    return True


def stop(pid: int, known_as: str, *, patience: float = 10.0) -> None:
    """Ask the process to end and wait for it; make it end when ``patience`` seconds are over."""
    for sent in (signal.SIGTERM, signal.SIGKILL):
        if identity(pid) != known_as:
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, sent)
        deadline = time.monotonic() + patience
        while identity(pid) == known_as and time.monotonic() < deadline:
            time.sleep(0.05)


def port_is_taken(port: int) -> bool:
    """Whether something listens at, or has bound, this port of the loopback address."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        if probe.connect_ex(("127.0.0.1", port)) == 0:
            return True
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # Connections of an earlier server that are still winding down do not hold the port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return True
    return False


def free_port() -> int:
    """A port of the loopback address that nobody uses now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
