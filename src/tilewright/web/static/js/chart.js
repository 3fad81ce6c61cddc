/** Lines and stems in SVG: axes that suit the numbers, the size of their place, and a value under the pointer. */

import { svg } from "./dom.js";
import { compact } from "./numbers.js";

export const COLOURS = ["#2b7fa3", "#e07b39", "#3a9d7a", "#a05fb5", "#c94f5d", "#8a8f2a", "#5a6fc4", "#a2785a"];
const ROOM = { left: 52, right: 14, top: 12, bottom: 34 };

/** Round numbers that cover low to high. */
export function ticks(low, high, wanted) {
  const rough = (high - low || 1) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step * 1e-9; value += step) found.push(value);
  return found;
}

/** From where to where the numbers go up, with some air above. */
function range(values, fromZero) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const bottom = fromZero ? Math.min(0, low) : low - 0.1 * (high - low);
  return [bottom, high > bottom ? high + 0.06 * (high - bottom) : bottom + 1];
}

export class Chart {
  /** `options`: xLabel, format of y, stems (instead of lines), pick(x) when the visitor clicks. */
  constructor(element, options = {}) {
    this.element = element;
    this.options = { xLabel: "", format: compact, stems: false, fromZero: true, label: "Chart", ...options };
    this.series = [];
    this.mark = null;
    this.pointer = null; // where it is over the chart, from the left of the window
    element.classList.toggle("click", Boolean(options.pick));
    new ResizeObserver(() => this.#draw()).observe(element);
  }

  /** series: [{name, colour, points: [[x, y], …], dots: [[x, y, low, high], …]}] */
  show(series, { mark = null, xLabel = this.options.xLabel } = {}) {
    this.series = series;
    this.mark = mark;
    this.options.xLabel = xLabel;
    this.#draw();
  }

  setMark(x) {
    this.mark = x;
    this.#draw();
  }

  #draw() {
    const { width, height } = this.element.getBoundingClientRect();
    if (width < 60 || height < 60) return;
    const all = this.series.flatMap((one) => [...one.points, ...(one.dots ?? [])]);
    const drawing = svg("svg", { role: "img", "aria-label": this.#words(all), viewBox: `0 0 ${width} ${height}` });
    this.element.replaceChildren(drawing);
    if (!all.length) return;
    const right = Math.max(1, ...all.map((point) => point[0]));
    const ys = all.flatMap((point) => [point[1], ...point.slice(2)]);
    const [bottom, top] = range(ys, this.options.fromZero);
    const x = (value) => ROOM.left + (value / right) * (width - ROOM.left - ROOM.right);
    const y = (value) => height - ROOM.bottom - ((value - bottom) / (top - bottom)) * (height - ROOM.top - ROOM.bottom);
    this.#axes(drawing, x, y, { width, height, right, top, bottom });
    for (const one of this.series) this.#series(drawing, one, x, y);
    if (this.mark !== null) {
      drawing.append(svg("line", { class: "mark", x1: x(this.mark), x2: x(this.mark), y1: ROOM.top, y2: y(bottom) }));
    }
    this.#listen(drawing, x, y, right);
  }

  #axes(drawing, x, y, { width, height, right, top, bottom }) {
    for (const value of ticks(bottom, top, Math.max(2, height / 60))) {
      drawing.append(svg("line", { class: "grid", x1: ROOM.left, x2: width - ROOM.right, y1: y(value), y2: y(value) }));
      const words = svg("text", { x: ROOM.left - 8, y: y(value) + 4, "text-anchor": "end" }, this.options.format(value));
      drawing.append(words);
    }
    for (const value of ticks(0, right, Math.max(2, width / 85))) {
      drawing.append(svg("text", { x: x(value), y: height - ROOM.bottom + 17, "text-anchor": "middle" }, compact(value)));
    }
    const place = { x: width - ROOM.right, y: height - 2, "text-anchor": "end" };
    drawing.append(svg("text", place, this.options.xLabel));
  }

  #series(drawing, one, x, y) {
    if (this.options.stems) {
      const path = one.points.filter((point) => point[1]).map(([a, b]) => `M${x(a)} ${y(0)}V${y(b)}`);
      drawing.append(svg("path", { class: "stem", d: path.join("") || "M0 0" }));
      return;
    }
    const path = one.points.map(([a, b], i) => `${i ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("");
    const attributes = { class: "line", d: path || "M0 0", stroke: one.colour, "data-name": one.name };
    drawing.append(svg("path", { ...attributes, "data-points": one.points.length }));
    for (const [a, b, low, high] of one.dots ?? []) {
      drawing.append(svg("line", { x1: x(a), x2: x(a), y1: y(low), y2: y(high), stroke: one.colour, "stroke-width": 1.5 }));
      drawing.append(svg("circle", { cx: x(a), cy: y(b), r: 3.5, fill: one.colour }));
    }
  }

  #listen(drawing, x, y, right) {
    const tip = svg("g");
    drawing.append(tip);
    const at = (clientX) => {
      const { left } = drawing.getBoundingClientRect();
      return ((clientX - left - ROOM.left) / (x(right) - ROOM.left)) * right;
    };
    const showTip = () => {
      tip.replaceChildren();
      if (this.pointer === null) return;
      const wanted = at(this.pointer);
      for (const one of this.series) {
        const points = one.points;
        if (!points.length) continue;
        const near = points.reduce((a, b) => (Math.abs(b[0] - wanted) < Math.abs(a[0] - wanted) ? b : a));
        const end = x(near[0]) > x(right) * 0.75;
        const place = { x: x(near[0]) + (end ? -8 : 8), y: y(near[1]) - 7, "text-anchor": end ? "end" : "start" };
        tip.append(svg("circle", { cx: x(near[0]), cy: y(near[1]), r: 4, fill: one.colour }));
        tip.append(svg("text", { ...place, class: "tip" }, this.options.format(near[1])));
      }
    };
    drawing.addEventListener("pointermove", (event) => {
      this.pointer = event.clientX;
      showTip();
    });
    drawing.addEventListener("pointerleave", () => {
      this.pointer = null;
      showTip();
    });
    if (this.options.pick) drawing.addEventListener("click", (event) => this.options.pick(at(event.clientX)));
    showTip(); // a chart that is drawn again keeps what the pointer shows
  }

  #words(all) {
    if (!all.length) return `${this.options.label}: nothing to show yet`;
    const parts = this.series.filter((one) => one.points.length).map((one) => {
      const last = one.points.at(-1);
      return `${one.name}: ${this.options.format(last[1])} at ${compact(last[0])} ${this.options.xLabel}`;
    });
    return `${this.options.label}. ${parts.join("; ")}`;
  }
}
