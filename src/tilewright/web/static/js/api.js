/** The server's HTTP and WebSocket interface. */

const BASE = "api/v1";

async function ask(path, options) {
  let answer;
  try {
    answer = await fetch(`${BASE}/${path}`, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("the server does not answer");
  }
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.reason ?? answer.statusText);
  return found;
}

export function get(path, parameters = {}, signal = undefined) {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== "");
  const query = new URLSearchParams(given).toString();
  return ask(query ? `${path}?${query}` : path, { signal });
}

export function post(path, body) {
  return ask(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
}

export function remove(path) {
  return ask(path, { method: "DELETE" });
}

/** Open a socket, send the first message, and hand on every answer; `closed` is told once. */
export function open(path, request, { message, closed }) {
  const url = new URL(`${BASE}/${path}`, document.baseURI);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(url);
  socket.onopen = () => socket.send(JSON.stringify(request));
  socket.onmessage = (event) => message(JSON.parse(event.data));
  socket.onclose = (event) => closed(event.reason);
  return {
    send: (value) => socket.readyState === WebSocket.OPEN && socket.send(JSON.stringify(value)),
    close() {
      socket.onmessage = null;
      socket.onclose = null;
      socket.close();
    },
  };
}
