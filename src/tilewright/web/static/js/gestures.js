/** Swipes of a finger and drags of a mouse, as moves; and whose the keys are after a click. */

const FAR = 24; // pixels

export function onSwipe(element, move) {
  let from = null;
  element.addEventListener("pointerdown", (event) => {
    if (event.button || event.target.closest("button")) return;
    from = [event.clientX, event.clientY];
    element.setPointerCapture(event.pointerId);
  });
  element.addEventListener("pointermove", (event) => {
    if (!from) return;
    const [x, y] = [event.clientX - from[0], event.clientY - from[1]];
    if (Math.max(Math.abs(x), Math.abs(y)) < FAR) return;
    from = null;
    if (Math.abs(x) > Math.abs(y)) move(x > 0 ? "right" : "left");
    else move(y > 0 ? "down" : "up");
  });
  for (const name of ["pointerup", "pointercancel"]) element.addEventListener(name, () => (from = null));
}

/** A slider or a list that was touched gives the keys back; whoever came to it by keys stays on it. */
export function giveBackKeys(view, giveBack) {
  let byPointer = false;
  addEventListener("pointerdown", () => (byPointer = true), true);
  addEventListener("keydown", () => (byPointer = false), true);
  view.addEventListener("change", (event) => {
    if (byPointer && event.target.matches("select, input[type=range]")) giveBack(event.target);
  });
}
