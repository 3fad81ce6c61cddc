/** The first start of a server: kernels are compiled once, which takes some seconds, and the visitor is told so. */

import { get } from "./api.js";
import { t } from "./language.js";

const AGAIN = 500; // milliseconds

/** What there is to wait for: that kernels are compiled, and about how long that takes, or another text. */
export async function waitingWords(otherwise) {
  const status = await get("status").catch(() => null);
  if (!status?.compiling) return otherwise;
  return t("status.compiling", { n: Math.round(status.about), s: Math.round(status.seconds) });
}

/** Say what there is to wait for, now and again, until the returned function is called. */
export function sayWhileWaiting(say, otherwise) {
  let timer = 0;
  let isOver = false;
  const look = async () => {
    const words = await waitingWords(otherwise);
    if (isOver) return;
    say(words);
    timer = setTimeout(look, AGAIN);
  };
  look();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
