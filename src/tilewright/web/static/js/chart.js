/** Lines and stems in SVG: axes that suit the numbers, the size of their place, and a value under the pointer. */

import { svg } from "./dom.js";
import { t } from "./language.js";
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

/** 1, 2 and 5 times powers of ten between two numbers above 0; powers alone where there are many. */
export function logTicks(low, high) {
  const found = [];
  const steps = high / low > 1e4 ? [1] : [1, 2, 5];
  for (let power = 10 ** Math.floor(Math.log10(low)); power <= high; power *= 10) {
    found.push(...steps.map((step) => step * power).filter((value) => value >= low && value <= high));
  }
  return found;
}

/** The mean of each point and those before it, `width` of them at most. */
export function smooth(points, width) {
  let sum = 0;
  return points.map(([x, y], i) => {
    sum += y - (i >= width ? points[i - width][1] : 0);
    return [x, sum / Math.min(i + 1, width)];
  });
}

/** From where to where the numbers go up, with some air above. */
function range(values, fromZero) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const bottom = fromZero ? Math.min(0, low) : low - 0.1 * (high - low);
  return [bottom, high > bottom ? high + 0.06 * (high - bottom) : bottom + 1];
}

export class Chart {
  /** `options`: xLabel, format of y, stems (instead of lines), logX and logY, pick(x) when the visitor clicks. */
  constructor(element, options = {}) {
    this.element = element;
    this.options = { xLabel: "", format: compact, stems: false, fromZero: true, logX: false, logY: false, label: "", ...options };
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
    const { logX, logY } = this.options;
    const all = this.series.flatMap((one) => [...one.points, ...(one.dots ?? [])]).filter((point) => this.#isShown(point));
    const drawing = svg("svg", { role: "img", "aria-label": this.#words(all), viewBox: `0 0 ${width} ${height}` });
    this.element.replaceChildren(drawing);
    if (!all.length) return;
    const xs = all.map((point) => point[0]);
    const right = Math.max(1, ...xs);
    const left = logX ? Math.min(...xs, right / 2) : 0;
    const ys = all.flatMap((point) => [point[1], ...point.slice(2)]).filter((value) => !logY || value > 0);
    const [bottom, top] = logY ? [Math.min(...ys), 1.1 * Math.max(...ys)] : range(ys, this.options.fromZero);
    const part = (value, low, high, isLog) => (isLog ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low));
    const x = (value) => ROOM.left + part(value, left, right, logX) * (width - ROOM.left - ROOM.right);
    const y = (value) => height - ROOM.bottom - part(Math.max(value, logY ? bottom : -Infinity), bottom, top, logY) * (height - ROOM.top - ROOM.bottom);
    this.#axes(drawing, x, y, { width, height, left, right, top, bottom });
    for (const one of this.series) this.#series(drawing, { ...one, points: one.points.filter((point) => this.#isShown(point)) }, x, y);
    if (this.mark !== null) {
      drawing.append(svg("line", { class: "mark", x1: x(this.mark), x2: x(this.mark), y1: ROOM.top, y2: y(bottom) }));
    }
    this.#listen(drawing, x, y, left, right);
  }

  /** A logarithmic axis has no place for 0. */
  #isShown([x, y]) {
    return (!this.options.logX || x > 0) && (!this.options.logY || y > 0);
  }

  #axes(drawing, x, y, { width, height, left, right, top, bottom }) {
    const { logX, logY } = this.options;
    for (const value of logY ? logTicks(bottom, top) : ticks(bottom, top, Math.max(2, height / 60))) {
      drawing.append(svg("line", { class: "grid", x1: ROOM.left, x2: width - ROOM.right, y1: y(value), y2: y(value) }));
      const words = svg("text", { x: ROOM.left - 8, y: y(value) + 4, "text-anchor": "end" }, this.options.format(value));
      drawing.append(words);
    }
    for (const value of logX ? logTicks(left, right) : ticks(0, right, Math.max(2, width / 85))) {
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

  #listen(drawing, x, y, left, right) {
    const tip = svg("g");
    drawing.append(tip);
    const at = (clientX) => {
      const part = (clientX - drawing.getBoundingClientRect().left - ROOM.left) / (x(right) - ROOM.left);
      return this.options.logX ? left * (right / left) ** part : part * right;
    };
    const showTip = () => {
      tip.replaceChildren();
      if (this.pointer === null) return;
      const wanted = at(this.pointer);
      for (const one of this.series) {
        const points = one.points.filter((point) => this.#isShown(point));
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
    if (!all.length) return t("chart.empty", { label: this.options.label });
    const parts = this.series.filter((one) => one.points.length).map((one) => {
      const last = one.points.at(-1);
      const value = this.options.format(last[1]);
      return t("chart.last", { name: one.name, value, x: compact(last[0]), unit: this.options.xLabel });
    });
    return `${this.options.label}. ${parts.join("; ")}`;
  }
}
