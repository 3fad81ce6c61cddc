"""Time from a key to the frame that shows its move, in Chromium, with and without latency of the network.

tilewright serve --no-open &
python benchmarks/key_to_screen.py http://127.0.0.1:2048
"""

import os
import statistics
import sys

from playwright.sync_api import Page, sync_playwright

KEYS = ("ArrowLeft", "ArrowDown", "ArrowRight", "ArrowUp")
MOVES = 60
WATCH = """() => {
    window.times = [];
    let pressed = 0;
    addEventListener("keydown", () => (pressed = performance.now()), true);
    new MutationObserver(() => {
        if (!pressed) return;
        const since = pressed;
        pressed = 0;
        requestAnimationFrame(() => {
            const channel = new MessageChannel(); // its message comes when the frame is drawn
            channel.port1.onmessage = () => times.push(performance.now() - since);
            channel.port2.postMessage(0);
        });
    }).observe(document.getElementById("board"), { attributes: true, attributeFilter: ["aria-label"] });
}"""


def measure(page: Page, game: str, latency: int) -> list[float]:
    page.click("#new")
    page.check(f"#new-dialog input[value='{game}']")
    page.fill("#new-seed", "7")
    page.click("#new-ok")
    page.wait_for_selector("#new-dialog", state="hidden")
    page.wait_for_timeout(2000)
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    limits = {"offline": False, "latency": latency, "downloadThroughput": -1, "uploadThroughput": -1}
    network.send("Network.emulateNetworkConditions", limits)
    page.evaluate("window.times = []")
    for i in range(MOVES):
        page.keyboard.press(KEYS[i % len(KEYS)])
        page.wait_for_timeout(100)
    network.send("Network.emulateNetworkConditions", {**limits, "latency": 0})
    found: list[float] = page.evaluate("times")
    return found


def main() -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page()
        page.goto(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:2048")
        page.wait_for_selector(".bar.best")
        page.evaluate(WATCH)
        for game in ("2048", "threes"):
            for latency in (0, 250):
                times = sorted(measure(page, game, latency))
                low, high = statistics.median(times), times[int(0.95 * (len(times) - 1))]
                print(f"{game}, {latency} ms latency, {len(times)} moves: median {low:.1f} ms, 95 % {high:.1f} ms")
        browser.close()


if __name__ == "__main__":
    main()
