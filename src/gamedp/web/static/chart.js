// The values of a game as a curve: dashed where a choice cost something, solid where chance moved it,
// dotted where they are only estimates of searches.

import { h, s } from "./dom.js";
import { number, words } from "./words.js";
import { spanOf, ticksOf } from "./worth.js";

const [HEIGHT, LEFT, TOP, BOTTOM] = [180, 64, 14, 24];

// Points (ply, value, why the line leads there) of what one player can expect.
function course(past, eye, many) {
  const points = [{ at: 0, value: valueOf(past, 0, eye), by: "start" }];
  past.plies.forEach((ply, n) => {
    const before = valueOf(past, n, eye);
    const after = valueOf(past, n + 1, eye);
    const sign = ply.mover === eye ? 1 : -1;
    if (ply.choice === null) {
      points.push({ at: n + 1, value: after, by: "estimate" });
      return;
    }
    if (many && ply.mover !== eye) {
      points.push({ at: n + 1, value: after, by: "luck" });
      return;
    }
    points.push({ at: n + 0.5, value: before + sign * ply.choice, by: "choice", mistake: ply.mistake });
    points.push({ at: n + 1, value: after, by: "luck" });
  });
  return points;
}

const valueOf = (past, ply, eye) =>
  Number((ply < past.plies.length ? past.plies[ply].values : past.values)?.[eye]);

export function chart(past, { eye, many, now, cursor, who, go, width, hasChance }) {
  const WIDTH = Math.max(width || 560, 200);
  const known = past && past.values && past.plies.every((ply) => ply.values !== null);
  const drawing = s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart" });
  const all = known ? course(past, eye, many) : [];
  const points = all.every(({ value }) => Number.isFinite(value)) ? all : []; // what is infinite has no place
  const values = points.map((point) => point.value);
  const [low, high] = spanOf(now, values);
  const length = Math.max(past?.plies.length ?? 0, 4);
  const x = (at) => LEFT + (at / length) * (WIDTH - LEFT - 12);
  const y = (value) => TOP + ((high - value) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  for (const [value, text] of ticksOf(now, [low, high])) {
    drawing.append(s("line", { class: "grid-line", x1: LEFT, x2: WIDTH - 12, y1: y(value), y2: y(value) }),
      s("text", { class: "tick", x: LEFT - 8, y: y(value) + 4 }, text));
  }
  for (let ply = 0; ply <= length; ply += Math.max(1, Math.ceil(length / 8))) {
    drawing.append(s("text", { class: "tick middle", x: x(ply), y: HEIGHT - 6 }, String(ply)));
  }
  points.slice(1).forEach((point, n) => {
    const from = points[n];
    const place = { x1: x(from.at), y1: y(from.value), x2: x(point.at), y2: y(point.value) };
    drawing.append(s("line", { class: `by-${point.by}${point.mistake ? " mistake" : ""}`, ...place }));
    if (point.mistake) {
      const [px, py] = [x(point.at), y(point.value)];
      drawing.append(s("path", { class: "mistake-mark", d: `M${px - 6} ${py - 5}h12l-6 11z` }));
    }
  });
  if (points.length) {
    const here = points.findLast((point) => point.at <= cursor) ?? points[0];
    drawing.append(
      s("line", { class: "cursor", x1: x(cursor), x2: x(cursor), y1: TOP, y2: HEIGHT - BOTTOM }),
      s("circle", { class: "here", cx: x(here.at), cy: y(here.value), r: 5.5 }),
    );
    drawing.addEventListener("click", (event) => {
      const box = drawing.getBoundingClientRect();
      const at = (((event.clientX - box.left) / box.width) * WIDTH - LEFT) / (WIDTH - LEFT - 12);
      go(Math.max(0, Math.min(past.plies.length, Math.round(at * length))));
    });
  }
  const [first, last] = [points[0], points.at(-1)];
  const isEstimate = past?.kind === "none";
  drawing.setAttribute("role", "img");
  drawing.setAttribute(
    "aria-label",
    first ? words.chartLabel(who, number(first.value), number(last.value), past.plies.length)
      + (isEstimate ? ` (${words.estimate})` : "") : words.historyEmpty,
  );
  const key = (name, kind) =>
    h("span", { class: "key" }, s("svg", { viewBox: "0 0 28 8", width: 28, height: 8, "aria-hidden": "true" },
      s("line", { class: kind, x1: 0, x2: 28, y1: 4, y2: 4 })), name);
  const kinds = isEstimate ? [key(words.estimate, "by-estimate")]
    : [key(words.choice, "by-choice mistake"), hasChance ? key(words.luck, "by-luck") : null];
  return [drawing, h("p", { class: "legend" }, h("span", {}, who), ...kinds)];
}
