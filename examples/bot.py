"""A bot in about twenty lines: it plays a game and asks a server for every move.

tilewright serve --no-open &
python examples/bot.py [http://127.0.0.1:2048] [agent]
"""

import json
import sys
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

server = sys.argv[1].rstrip("/") if len(sys.argv) > 1 else "http://127.0.0.1:2048"
agent = sys.argv[2] if len(sys.argv) > 2 else "heuristic:depth=2"


def ask(path: str, body: dict[str, object] | None = None, **query: str | int) -> Any:
    url = f"{server}/api/v1/{path}?{urllib.parse.urlencode(query)}"
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


try:
    game = ask("start", seed=7)
except urllib.error.URLError as error:
    sys.exit(f"{server}: {error.reason}; `tilewright serve --no-open` starts a server")
while not game["over"]:
    advice = ask("move", board=game["text"], agent=agent)
    position = {"board": game["text"], "score": game["score"], "stream": game["stream"]}
    game = ask("step", position | {"move": advice["move"]})
print(f"{agent}: {game['score']:,} points, largest tile {game['largest']:,}")
