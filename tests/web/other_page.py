"""Another site with a game of 2048, made for the tests: the classes of a tile say its value and its place."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["serving"]

PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>A game</title>
<body><p class="best"></p><div class="tile-container"></div>
<script>
  const asked = new URLSearchParams(location.search);
  let cells = (asked.get("board") ?? "").split(",").filter(Boolean).map(Number);
  let seed = Number(asked.get("seed") ?? 1);
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;

  function add() {
    const empty = cells.flatMap((value, place) => (value ? [] : [place]));
    cells[empty[Math.floor(random() * empty.length)]] = random() < 0.9 ? 2 : 4;
  }
  if (!cells.length) {
    cells = Array(16).fill(0);
    add();
    add();
  }

  // Places of every line, the one at the wall first: which -> [first, step along the line, step to the next line].
  const LINES = { 38: [0, 4, 1], 39: [3, -1, 4], 40: [12, -4, 1], 37: [0, 1, 4] };

  function move(which) {
    const [first, along, next] = LINES[which];
    const before = String(cells);
    for (let line = 0; line < 4; line++) {
      const places = [0, 1, 2, 3].map((i) => first + line * next + i * along);
      const tiles = places.map((place) => cells[place]).filter(Boolean);
      for (let i = 0; i + 1 < tiles.length; i++) {
        if (tiles[i] === tiles[i + 1]) tiles.splice(i, 2, 2 * tiles[i]);
      }
      places.forEach((place, i) => (cells[place] = tiles[i] ?? 0));
    }
    if (String(cells) === before) return;
    add();
    draw();
  }

  function draw() {
    requestAnimationFrame(() => {
      const tiles = cells.flatMap((value, place) => {
        if (!value) return [];
        const tile = document.createElement("div");
        tile.className = `tile tile-${value} tile-position-${(place % 4) + 1}-${Math.floor(place / 4) + 1}`;
        tile.textContent = value;
        return [tile];
      });
      document.querySelector(".tile-container").replaceChildren(...tiles);
      document.querySelector(".best").textContent = Math.max(...cells);
    });
  }

  addEventListener("keydown", (event) => event.which in LINES && move(event.which));
  draw();
</script></body></html>
"""


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = PAGE.encode() if self.path.partition("?")[0] == "/" else b""
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving() -> Iterator[str]:
    """Serve the page on a free port; yields its origin."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
