"""Judge calls against a stand-in on loopback: the share of the ideal rate, CPU a call, a rerun.

    python benchmarks/judge.py [--rounds 2] [--latency 0.1] [--in-flight 64]

One process asks, in turn: accord's judge with its ledger, the openai package with its default
client, and the openai package over an httpx client, whose pool was its default before httpx2. The
stand-in is a process of its own, answers after ``latency`` +- 50 %, and refuses everything after
3,000 requests. Ratios of medians count; seconds depend on what else the machine does.

Bars: >= 0.5 of the ideal rate on a quiet core; >= 3 times the client over httpx, and no slower than
today's default; <= 3 ms of CPU a call with the ledger; <= 100 us an item for a rerun.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

LIMIT = 3000
JITTER = 0.5
REQUESTS = {"accord": 800, "openai default": 500, "openai over httpx": 200}  # a round


async def serve(latency: float) -> None:
    body = json.dumps(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "stub",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": '{"verdict": "CORRECT"}'},
                    "finish_reason": "stop",
                }
            ],
            "usage": {"prompt_tokens": 210, "completion_tokens": 8, "total_tokens": 218},
        }
    ).encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    reply = head % len(body) + body
    busy = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
    served = 0

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal served
        try:
            while True:
                lines = (await reader.readuntil(b"\r\n\r\n")).lower().split(b"\r\n")
                length = [line[15:] for line in lines if line.startswith(b"content-length:")]
                await reader.readexactly(int(length[0]) if length else 0)
                served += 1
                if served > LIMIT:
                    writer.write(busy)
                    break
                await asyncio.sleep(latency * random.uniform(1 - JITTER, 1 + JITTER))
                writer.write(reply)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


def cpu() -> float:
    times = os.times()
    return times.user + times.system


def ours(url: str, n: int, in_flight: int, ledger: Any, round_: int) -> None:
    from accord.scoring.openai_judge import OpenAIJudge
    from accord.scoring.records import Item

    table = {"type": "openai", "endpoint": url, "model": f"stub-{round_}", "in_flight": in_flight}
    judge = OpenAIJudge.from_table("stub", table, replies=ledger)
    items = [Item(f"i{k}", "q", "Which?", f"element {k}", f"Element no. {k}") for k in range(n)]
    found = judge.judge(items)
    assert all(judgement.verdict == "CORRECT" for judgement in found)
    if round_ == 0:
        # The rerun: every reply comes from the ledger.
        started = time.perf_counter()
        again = OpenAIJudge.from_table("stub", table, replies=ledger)
        again.judge(items)
        RERUN.append((time.perf_counter() - started) / n * 1e6)
        assert again.summary is not None and again.summary.asked == 0


RERUN: list[float] = []


def peer(url: str, n: int, in_flight: int, over_httpx: bool) -> None:
    from openai import AsyncOpenAI

    async def run() -> None:
        http: Any = None
        if over_httpx:
            import httpx

            limits = httpx.Limits(max_connections=in_flight, max_keepalive_connections=in_flight)
            http = httpx.AsyncClient(limits=limits, timeout=600)
        todo = iter(range(n))
        async with AsyncOpenAI(
            base_url=url, api_key="none", max_retries=0, http_client=http
        ) as client:

            async def worker() -> None:
                for k in todo:
                    await client.chat.completions.create(
                        model="stub",
                        messages=[{"role": "user", "content": f"element {k} " * 150}],
                        temperature=0,
                    )

            await asyncio.gather(*(worker() for _ in range(in_flight)))

    asyncio.run(run())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=2, choices=(1, 2))
    parser.add_argument("--latency", type=float, default=0.1)
    parser.add_argument("--in-flight", type=int, default=64)
    options = parser.parse_args()
    if options.serve:
        asyncio.run(serve(options.latency))
        return 0

    import aiohttp  # noqa: F401  (imports are not part of the measured time)
    import openai.resources.chat.completions  # noqa: F401

    from accord.study.ledger import Ledger

    arguments = [sys.executable, __file__, "--serve", "--latency", str(options.latency)]
    ideal = options.in_flight / options.latency
    figures: dict[str, list[tuple[float, float]]] = {name: [] for name in REQUESTS}
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as server,
    ):
        assert server.stdout is not None
        try:
            url = f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
            with Ledger.create(Path(folder) / "ledger.sqlite") as ledger:
                for round_ in range(options.rounds):
                    for name, n in REQUESTS.items():
                        used, started, reruns = cpu(), time.perf_counter(), sum(RERUN)
                        if name == "accord":
                            ours(url, n, options.in_flight, ledger, round_)
                        else:
                            peer(url, n, options.in_flight, name == "openai over httpx")
                        # The rerun of the first round is not part of its calls.
                        rerun = (sum(RERUN) - reruns) * n / 1e6
                        seconds = time.perf_counter() - started - rerun
                        figures[name].append((n / seconds / ideal, (cpu() - used - rerun) / n))
        finally:
            server.kill()

    share = {name: statistics.median(s for s, _ in runs) for name, runs in figures.items()}
    ms = {name: statistics.median(c for _, c in runs) * 1e3 for name, runs in figures.items()}
    times = {
        name: statistics.median(
            a / b for (a, _), (b, _) in zip(figures["accord"], runs, strict=True)
        )
        for name, runs in figures.items()
    }
    print(f"{options.in_flight} in flight, {options.latency:g} s: ideal {ideal:,.0f} calls/s")
    for name, value in share.items():
        print(f"{name:17} {value:.2f} of ideal, {ms[name]:.1f} ms of CPU a call")
    bars = [
        ("share of the ideal rate", share["accord"], ">=", 0.5),
        ("times openai over httpx", times["openai over httpx"], ">=", 3.0),
        ("times openai's default client", times["openai default"], ">=", 1.0),
        ("ms of CPU a call, ledger included", ms["accord"], "<=", 3.0),
        ("us an item for a rerun", RERUN[0], "<=", 100.0),
    ]
    met = True
    for name, value, sign, bar in bars:
        good = value >= bar if sign == ">=" else value <= bar
        met = met and good
        print(f"{'met   ' if good else 'MISSED'} {name}: {value:.2f} (bar {sign} {bar:g})")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
