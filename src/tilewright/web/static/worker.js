/**
 * Lets the page be opened without its server: files, and the answers that describe games, are kept as they were last
 * seen. While the server answers, its answers are used; nothing is ever older than it has to be.
 */

const CACHE = "tilewright";
const KEPT = /\/api\/v1\/(games|game|rules|agents)$/;

async function answer(request) {
  const kept = await caches.open(CACHE);
  try {
    const found = await fetch(request);
    if (found.ok) await kept.put(request, found.clone());
    return found;
  } catch (error) {
    const known = await kept.match(request);
    if (known) return known;
    throw error;
  }
}

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  const isOwn = url.origin === self.location.origin && request.method === "GET";
  if (isOwn && (KEPT.test(url.pathname) || !url.pathname.includes("/api/"))) event.respondWith(answer(request));
});
