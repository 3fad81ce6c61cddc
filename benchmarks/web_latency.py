"""How long requests take while agents think: `python benchmarks/web_latency.py URL THINKING [SECONDS]`."""

import sys
import threading
import time
import urllib.request

BOARD = "board=1120000000000001"
OTHERS = ("start?seed=3", f"move?{BOARD}&agent=greedy", "games", "jobs")


def main(url: str, thinking: int, seconds: float) -> None:
    def seconds_of(path: str) -> float:
        began = time.perf_counter()
        with urllib.request.urlopen(f"{url}/api/v1/{path}") as answer:
            answer.read()
        return time.perf_counter() - began

    for path in (f"move?{BOARD}&agent=heuristic:ms=5", *OTHERS, *OTHERS):
        seconds_of(path)  # loads what is measured below
    done = threading.Event()

    def think() -> None:
        while not done.is_set():
            seconds_of(f"move?{BOARD}&agent=heuristic:ms=500")

    thinkers = [threading.Thread(target=think) for _ in range(thinking)]
    for thinker in thinkers:
        thinker.start()
    times, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        times += [seconds_of(path) for path in OTHERS]
        time.sleep(0.01)
    done.set()
    for thinker in thinkers:
        thinker.join()
    middle, late, most = (1000 * sorted(times)[int(share * (len(times) - 1))] for share in (0.5, 0.95, 1))
    print(f"{thinking} thinking, {len(times)} requests: median {middle:.1f} ms, 95 % {late:.1f} ms, most {most:.1f} ms")


if __name__ == "__main__":
    main(sys.argv[1].rstrip("/"), int(sys.argv[2]), float(sys.argv[3]) if len(sys.argv) > 3 else 10.0)
