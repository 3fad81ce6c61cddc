"""The web page and its HTTP and WebSocket API, started by `tilewright serve`. Needs the extra `[web]`."""
