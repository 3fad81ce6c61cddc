/** The server's HTTP and WebSocket interface. */

import { t } from "./language.js";

const BASE = "api/v1";
const CLOSED_NORMALLY = 1000;

/** The server could not be reached; what was asked may be asked again. */
export class NoAnswer extends Error {
  constructor() {
    super(t("server.silent"));
  }
}

async function ask(path, options) {
  let answer;
  try {
    answer = await fetch(`${BASE}/${path}`, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new NoAnswer();
  }
  let found;
  try {
    found = await answer.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new NoAnswer();
  }
  if (!answer.ok) throw new Error(found.reason ?? answer.statusText);
  return found;
}

export function get(path, parameters = {}, signal = undefined) {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== "");
  const query = new URLSearchParams(given).toString();
  return ask(query ? `${path}?${query}` : path, { signal });
}

export function post(path, body, signal = undefined) {
  return ask(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });
}

export function remove(path) {
  return ask(path, { method: "DELETE" });
}

/** Start a job, look at it until it ends, and return it; `progress` sees every state, a signal stops the job. */
export async function runJob(path, request, { progress, signal, every = 150 }) {
  let job = await post(path, request);
  const stop = () => remove(`jobs/${job.id}`).catch(() => {});
  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  try {
    while (job.state === "waiting" || job.state === "running") {
      await new Promise((resolve) => setTimeout(resolve, every));
      job = await get(`jobs/${job.id}`, {}, signal);
      progress(job);
    }
    return job;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/**
 * Open a socket, send the first message, and hand on every answer. `closed` is told once: an empty text after the end
 * that the server meant, or why the socket is closed otherwise.
 */
export function open(path, request, { message, closed }) {
  const url = new URL(`${BASE}/${path}`, document.baseURI);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(url);
  let refused = "";
  socket.onopen = () => socket.send(JSON.stringify(request));
  socket.onmessage = (event) => {
    const answer = JSON.parse(event.data);
    if (answer.reason) refused = answer.reason;
    else message(answer);
  };
  socket.onclose = (event) => closed(refused || (event.code === CLOSED_NORMALLY ? "" : event.reason || t("server.silent")));
  return {
    send: (value) => socket.readyState === WebSocket.OPEN && socket.send(JSON.stringify(value)),
    close() {
      socket.onmessage = null;
      socket.onclose = null;
      socket.close();
    },
  };
}
