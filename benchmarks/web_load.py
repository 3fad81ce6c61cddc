"""Load on a server: 200 sockets at once, then many requests, with the memory and the descriptors of its process.

tilewright serve --no-open &
python benchmarks/web_load.py http://127.0.0.1:2048 PID [requests]
"""

import asyncio
import http.client
import sys
import time
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import websockets

SOCKETS = 200
CONNECTIONS = 8
PATHS = (
    "/api/v1/move?board=1120000000000001&agent=ntuple",
    "/api/v1/start?seed=7",
    "/api/v1/game?game=threes",
    "/api/v1/outcomes?board=1120000000000001&move=left",
    "/api/v1/move?board=x",
    "/index.html",
)
WATCH = '{"agent": "greedy", "games": 1, "speed": 1}'


async def socket(url: str, is_open: asyncio.Barrier) -> str:
    """Open a socket and start a game in it; all of them are open at the same time."""
    try:
        async with websockets.connect(url, open_timeout=60) as found:
            await found.send(WATCH)
            answer = await found.recv()
            await is_open.wait()
            return "refused" if '"reason"' in str(answer) else "served"
    except (OSError, websockets.WebSocketException):
        await is_open.wait()
        return "refused"


async def sockets(server: str) -> Counter[str]:
    is_open = asyncio.Barrier(SOCKETS)
    url = f"ws://{server}/api/v1/watch"
    return Counter(await asyncio.gather(*(socket(url, is_open) for _ in range(SOCKETS))))


def requests(server: str, count: int) -> Counter[int]:
    """Send requests over some connections in turn."""
    open_ones = [http.client.HTTPConnection(server) for _ in range(CONNECTIONS)]
    found: Counter[int] = Counter()
    for i in range(count):
        connection = open_ones[i % CONNECTIONS]
        connection.request("GET", PATHS[i % len(PATHS)])
        answer = connection.getresponse()
        answer.read()
        found[answer.status] += 1
    for connection in open_ones:
        connection.close()
    return found


def state_of(process: str) -> str:
    """The resident memory and the number of open descriptors of a process."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    memory = next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))
    return f"{memory / 1024:.0f} MB, {len(list(Path(f'/proc/{process}/fd').iterdir()))} descriptors"


def main() -> None:
    server, process = urlsplit(sys.argv[1]).netloc, sys.argv[2]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 20_000
    requests(server, 100)
    print(f"before: {state_of(process)}")
    found = asyncio.run(sockets(server))
    print(f"{SOCKETS} sockets at once: {found['served']} served, {found['refused']} refused")
    done = 0
    while done < count:
        began, part = time.monotonic(), min(5_000, count - done)
        statuses = requests(server, part)
        done += part
        rate = part / (time.monotonic() - began)
        print(f"after {done:,} requests: {state_of(process)}, {dict(sorted(statuses.items()))}, {rate:.0f} per second")


if __name__ == "__main__":
    main()
