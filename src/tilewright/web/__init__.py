"""The web page and its HTTP and WebSocket interface; `tilewright serve` runs it. Needs the extra `[web]`."""
