"""Measure the latency of quick requests while agents search: `python benchmarks/web_latency.py URL SEARCHES [SECONDS]`.

SEARCHES clients ask for searches of 500 ms all the time. Beside them, one client measures requests that need no search.
"""

import sys
import threading
import time
import urllib.request

BOARD = "board=1120000000000001"
REQUESTS = ("start?seed=3", f"move?{BOARD}&agent=greedy", "games", "jobs")


def main(url: str, searches: int, seconds: float) -> None:
    """Print the median, the 95th percentile and the maximum."""

    def measure(path: str) -> float:
        started = time.perf_counter()
        with urllib.request.urlopen(f"{url}/api/v1/{path}") as answer:
            answer.read()
        return time.perf_counter() - started

    for path in (f"move?{BOARD}&agent=heuristic:ms=5", *REQUESTS, *REQUESTS):
        measure(path)  # the first request of each kind loads kernels
    done = threading.Event()

    def search() -> None:
        while not done.is_set():
            measure(f"move?{BOARD}&agent=heuristic:ms=500")

    clients = [threading.Thread(target=search, daemon=True) for _ in range(searches)]
    for client in clients:
        client.start()
    times, end = list[float](), time.monotonic() + seconds
    while time.monotonic() < end:
        times += [measure(path) for path in REQUESTS]
        time.sleep(0.01)
    done.set()
    for client in clients:
        client.join()
    median, late, longest = (1000 * sorted(times)[int(share * (len(times) - 1))] for share in (0.5, 0.95, 1))
    results = f"median {median:.1f} ms, 95 % {late:.1f} ms, maximum {longest:.1f} ms"
    print(f"{searches} searches, {len(times)} requests: {results}")


if __name__ == "__main__":
    main(sys.argv[1].rstrip("/"), int(sys.argv[2]), float(sys.argv[3]) if len(sys.argv) > 3 else 10.0)
