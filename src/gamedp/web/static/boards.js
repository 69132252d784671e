// One drawing for each kind of view. A board is a picture in words for a screen reader; its parts
// that play an action can be clicked, and the list of actions does the same from the keyboard. What the
// actions are worth is written where `spots` of the view say that they are played.

import { h, s, still, pause } from "./dom.js";
import { named, number, words } from "./words.js";
import { calledThere, drawPits, movePits, pitsInWords, sow } from "./pits.js";

const DRAWN = 60; // pieces of a heap; more are only counted
const IN_A_LINE = 20;
const IN_A_NARROW_LINE = 12;

const WORDS = {
  heaps: (view) => view.counts.map((count, n) => words.heapWords(n + 1, count)).join("; "),
  pits: pitsInWords,
  grid: (view) =>
    view.rows
      .map((row, n) => {
        const cells = row.map((cell) => view.symbols[cell].trim() || words.empty);
        return words.gridWords(view.row_names?.[n] ?? n + 1, cells.join(", "));
      })
      .join("; "),
  dice: (view) => view.faces.map((face, n) => words.dieWords(face, view.kept[n])).join("; "),
  scores: (view, memory) =>
    view.rows
      .map(([name, ...parts]) => words.scoreWords(calledThere(name, memory), parts.join(" + "), view.most))
      .join("; "),
};

const DRAWINGS = {
  heaps, pits: (view, spots, memory) => drawPits(view, spots, memory, mark), grid, dice, card, scores, text,
};

export function draw(view, text, memory) {
  const kind = view && view.kind in DRAWINGS ? view.kind : "text";
  const seen = view ?? { text };
  const drawing = DRAWINGS[kind](seen, spotted(seen), memory);
  drawing.classList.add("drawing", `drawing-${kind}`);
  if (kind in WORDS) {
    drawing.setAttribute("role", "img");
    drawing.setAttribute("aria-label", `${words.board}: ${WORDS[kind](seen, memory)}`);
  }
  return drawing;
}

// From a place, as text, to its actions.
function spotted(view) {
  const found = new Map();
  for (const { place, action } of view.spots ?? []) {
    found.set(place.join(), [...(found.get(place.join()) ?? []), action]);
  }
  return found;
}

// Where a value is written: the middle of its chip, in the element's own units.
const anchors = new WeakMap();

export function mark(element, spots, place, anchor) {
  element.setAttribute("data-at", place.join());
  if (anchor) anchors.set(element, anchor);
  const actions = spots.get(place.join());
  if (actions) element.setAttribute("data-actions", actions.join(" "));
  if (actions?.length === 1) element.setAttribute("data-action", actions[0]);
  return element;
}

export const actionsOf = (part) => part.dataset.actions.split(" ").map(Number);

// Write what actions are worth where they are played; of several in one place, the best one.
export function writeValues(drawing, worth) {
  for (const part of drawing.querySelectorAll("[data-actions]")) {
    const known = actionsOf(part).map(worth).filter(Boolean);
    if (!known.length) continue;
    const best = known.reduce((one, other) => (other.value > one.value ? other : one));
    part.classList.add("valued", `tone-${best.tone}`);
    if (best.loss !== undefined) part.style.setProperty("--loss", best.loss);
    if (best.star) part.classList.add("is-best");
    const isTiny = part.classList.contains("match");
    const text = (isTiny ? best.tiny : best.short) + (known.length > 1 ? " …" : "");
    part.append(part instanceof SVGElement ? chip(part, best, text, isTiny) : plate(part, best, text));
  }
}

function chip(part, best, text, isTiny) {
  const { x, y, scale = 1, isTight } = anchors.get(part);
  const space = isTight ? "" : " ";
  const shown = (best.star && !isTiny ? `${best.star} ${text}` : text).replaceAll(" ", space);
  const width = isTiny ? 17 : (shown.length + (best.star ? 0.4 : 0)) * 8.6 + 10;
  return s("g", { class: "worth", "data-number": best.number, transform: `translate(${x} ${y}) scale(${scale})` },
    s("rect", { x: -width / 2, y: isTiny ? -8 : -10, width, height: isTiny ? (best.star ? 29 : 16) : 20, rx: isTiny ? 4 : 10 }),
    s("text", { y: isTiny ? 4.5 : 5 }, shown),
    best.star && isTiny ? s("text", { y: 18 }, best.star) : null);
}

function plate(part, best, text) {
  const written = h("span", { class: "worth", "data-number": best.number }, `${best.star} ${text}`.trim());
  return part.tagName === "TR" ? h("td", { class: "worth-cell" }, written) : written;
}

// Mark what the last action has changed, or where it was played.
export function markLast(drawing, before, after, action) {
  if (!before || before.kind !== after.kind) return;
  if (after.kind === "heaps") {
    drawing.querySelectorAll(".heap").forEach((row, heap) => {
      for (const match of row.querySelectorAll(".match.gone")) {
        match.classList.toggle("last", Number(match.dataset.place) < before.counts[heap]);
      }
    });
    return;
  }
  const spot = (before.spots ?? []).find((each) => each.action === action)?.place.join();
  const changed = after.kind === "grid" ? changedCells(before, after) : [];
  const places = !changed.length || changed.includes(spot) ? [spot] : changed;
  for (const part of drawing.querySelectorAll("[data-at]")) {
    if (places.includes(part.dataset.at)) part.classList.add("last");
  }
}

const changedCells = (before, after) => after.rows.flatMap((row, y) =>
  row.flatMap((cell, x) => (before.rows[y]?.[x] === cell ? [] : [`${y},${x}`])));

// Moves what has changed from the one picture to the other.
export async function animate(frame, before, after, action) {
  if (still() || !before || !after || before.kind !== after.kind) return;
  if (after.kind === "pits") await sow(frame, before, after, action);
  if (after.kind === "heaps") await takeAway(frame, before, after);
}

// Shows a step: the picture after it, and what changes until then. `hand` is where stones in the hand are from.
export async function moveTo(frame, before, after, memory, pace, hand) {
  if (before.kind === "pits" && after.kind === "pits") return movePits(frame, before, after, pace, hand);
  frame.replaceChildren(draw(after, after.text, memory));
  if (before.kind === "heaps" && after.kind === "heaps") await takeAway(frame, before, after);
  return null;
}

function heaps(view, spots, memory) {
  memory.counts = view.counts.map((count, heap) => Math.max(count, memory.counts?.[heap] ?? 0));
  const most = Math.max(...memory.counts, 1);
  const perLine = Math.min(most, memory.narrow ? IN_A_NARROW_LINE : IN_A_LINE);
  const lines = Math.ceil(Math.min(most, DRAWN) / perLine);
  const [gap, length] = [18, 74];
  const many = view.counts.length > 1;
  const left = many ? 34 : 0; // for the numbers of the heaps
  const width = left + perLine * gap + 74;
  const heapHeight = lines * (length + 8) + 10;
  const drawing = s("svg", { viewBox: `0 0 ${width} ${heapHeight * view.counts.length}` });
  drawing.classList.toggle("few", perLine < 12);
  view.counts.forEach((count, heap) => {
    const top = heap * heapHeight;
    const row = s("g", { class: "heap", transform: `translate(0 ${top})` });
    if (heap) row.append(s("line", { class: "rule", x1: 0, x2: width, y1: 0, y2: 0 }));
    for (let place = 0; place < Math.min(memory.counts[heap], DRAWN); place++) {
      const x = left + 14 + (place % perLine) * gap;
      const y = 9 + Math.floor(place / perLine) * (length + 8);
      const match = s("g", { class: "match", transform: `translate(${x} ${y})`, "data-place": place });
      if (place >= count) {
        match.classList.add("gone");
        match.append(s("line", { class: "trace", x1: 0, x2: 0, y1: 6, y2: length }));
      } else {
        const lean = (((place * 37 + heap * 11) % 7) - 3) * 0.7;
        match.append(
          s("g", { transform: `rotate(${lean} 0 ${length / 2})` },
            s("rect", { class: "hit", x: -gap / 2, y: 0, width: gap, height: length + 4 }),
            s("rect", { class: "stick", x: -2.5, y: 6, width: 5, height: length - 6, rx: 1.5 }),
            s("ellipse", { class: "tip", cx: 0, cy: 8, rx: 4.6, ry: 7 })),
        );
        mark(match, spots, [heap, count - place], { x: 0, y: length - 12 });
      }
      row.append(match);
    }
    row.append(s("text", { class: "count", x: width - 8, y: 18 + length / 2 }, String(count)));
    if (many) row.append(s("text", { class: "called", x: 10, y: 15 + length / 2 }, String(heap + 1)));
    drawing.append(row);
  });
  return drawing;
}

async function takeAway(frame, before, after) {
  const rows = frame.querySelectorAll(".heap");
  const moves = [];
  after.counts.forEach((count, heap) => {
    for (const match of rows[heap]?.querySelectorAll(".match") ?? []) {
      const place = Number(match.dataset.place);
      if (place < count || place >= before.counts[heap]) continue;
      const ghost = s("g", { class: "match ghost", transform: match.getAttribute("transform") },
        s("rect", { class: "stick", x: -2.5, y: 6, width: 5, height: 68, rx: 1.5 }),
        s("ellipse", { class: "tip", cx: 0, cy: 8, rx: 4.6, ry: 7 }));
      match.parentNode.append(ghost);
      const [x, y] = /\(([\d.]+) ([\d.]+)\)/.exec(match.getAttribute("transform")).slice(1);
      const move = ghost.animate(
        [
          { transform: `translate(${x}px, ${y}px)`, opacity: 1 },
          { transform: `translate(${x}px, ${Number(y) - 22}px)`, opacity: 0 },
        ],
        { duration: 320, easing: "ease-in", fill: "forwards" },
      );
      moves.push(move.finished.then(() => ghost.remove()));
    }
  });
  await Promise.all(moves);
}

function grid(view, spots, memory) {
  const [rows, columns] = [view.rows.length, view.rows[0]?.length ?? 0];
  const [names, letters] = [view.row_names ?? [], view.column_names ?? []];
  const [left, below] = [names.length ? 24 : 0, letters.length ? 24 : 0];
  const [width, height] = [Math.max(columns, 1) * 60, Math.max(rows, 1) * 60];
  const drawing = s("svg", { viewBox: `${-left} 0 ${width + 2 * left} ${height + below}` });
  drawing.classList.toggle("wide", columns > 6);
  names.forEach((name, y) => drawing.append(s("text", { class: "called", x: -14, y: y * 60 + 36 }, name)));
  letters.forEach((name, x) => drawing.append(s("text", { class: "called", x: x * 60 + 30, y: height + 18 }, name)));
  view.rows.forEach((row, y) => {
    row.forEach((cell, x) => {
      const group = s("g", { class: `cell symbol-${cell}`, transform: `translate(${x * 60} ${y * 60})` },
        s("rect", { class: "square", x: 2, y: 2, width: 56, height: 56, rx: 8 }),
        piece(view.symbols[cell].trim()));
      const isTight = Boolean(memory.narrow) && columns > 4; // small cells, whose numbers are to be read
      drawing.append(mark(group, spots, [y, x], { x: 30, y: isTight ? 46 : 47, scale: isTight ? Math.min(1.1, 0.155 * columns) : 0.82, isTight }));
    });
  });
  return drawing;
}

function piece(symbol) {
  if (!symbol) return s("circle", { class: "nothing", cx: 30, cy: 30, r: 4 });
  if (/^[xX×]$/.test(symbol)) return s("path", { class: "piece line", d: "M18 18 42 42 M42 18 18 42" });
  if (/^[oO]$/.test(symbol)) return s("circle", { class: "piece line", cx: 30, cy: 30, r: 14 });
  if (symbol === "●") return s("circle", { class: "piece disc", cx: 30, cy: 30, r: 20 });
  if (symbol === "○") {
    return s("g", { class: "piece" },
      s("circle", { class: "disc other", cx: 30, cy: 30, r: 20 }), s("circle", { class: "dent", cx: 30, cy: 30, r: 11 }));
  }
  return s("text", { class: "piece letter", x: 30, y: 40 }, symbol);
}

const PIPS = {
  1: [[0, 0]],
  2: [[-1, -1], [1, 1]],
  3: [[-1, -1], [0, 0], [1, 1]],
  4: [[-1, -1], [1, -1], [-1, 1], [1, 1]],
  5: [[-1, -1], [1, -1], [0, 0], [-1, 1], [1, 1]],
  6: [[-1, -1], [1, -1], [-1, 0], [1, 0], [-1, 1], [1, 1]],
};

export function die(face, x = 0, y = 0) {
  const group = s("g", { class: "die", transform: `translate(${x} ${y})` },
    s("rect", { class: "die-body", x: 4, y: 4, width: 52, height: 52, rx: 11 }));
  for (const [dx, dy] of PIPS[face] ?? []) {
    group.append(s("circle", { class: "pip", cx: 30 + dx * 14, cy: 30 + dy * 14, r: 5 }));
  }
  if (!(face in PIPS)) group.append(s("text", { class: "die-number", x: 30, y: 39 }, String(face)));
  return group;
}

function dice(view, spots) {
  const drawing = s("svg", { viewBox: `0 0 ${Math.max(view.faces.length, 1) * 66} 74` });
  view.faces.forEach((face, n) => {
    const one = die(face, 3 + n * 66, view.kept[n] ? 10 : 2);
    if (view.kept[n]) one.classList.add("kept");
    drawing.append(mark(one, spots, [n], { x: 30, y: 54, scale: 0.8 }));
  });
  return drawing;
}

// The dice that chance has brought: they fall, and show other faces on the way.
export async function fall(tray, view) {
  const drawing = draw(view, "", {});
  tray.replaceChildren(drawing);
  if (still()) return;
  const turns = [...drawing.querySelectorAll(".die")].map((one, n) => {
    const place = one.getAttribute("transform").match(/\(([\d.]+) ([\d.]+)\)/).slice(1);
    const [x, y] = place.map(Number);
    return one.animate(
      [
        { transform: `translate(${x - 40}px, ${y - 70}px) rotate(-200deg)`, opacity: 0 },
        { transform: `translate(${x - 8}px, ${y}px) rotate(-28deg)`, opacity: 1, offset: 0.55 },
        { transform: `translate(${x - 3}px, ${y - 12}px) rotate(-8deg)`, offset: 0.75 },
        { transform: `translate(${x}px, ${y}px) rotate(0deg)` },
      ],
      { duration: 420 + 60 * n, easing: "ease-out" },
    ).finished;
  });
  await Promise.all(turns);
  await pause(120);
}

function card(view, spots) {
  const body = view.rows.map(([name, ...entries], n) =>
    mark(h("tr", {}, h("th", { scope: "row" }, named(name)),
      ...entries.map((entry) => (typeof entry === "string" ? h("td", { class: "words" }, entry)
        : h("td", {}, entry === null ? "–" : number(entry))))), spots, [n]));
  return h("table", {}, h("tbody", {}, ...body));
}

function scores(view, spots, memory) {
  const rows = view.rows.map(([name, ...parts], n) => {
    let sum = 0;
    const bar = h("div", { class: "score-bar" });
    parts.forEach((part, level) => {
      const piece = h("div", { class: level ? "risked" : "safe" });
      const from = Math.min(sum, view.most) / view.most;
      sum += part;
      piece.style.left = `${100 * from}%`;
      piece.style.width = `${100 * (Math.min(sum, view.most) / view.most - from)}%`;
      bar.append(piece);
    });
    const numbers = parts.map((part) => number(part));
    return mark(h("div", { class: `score score-${n}` },
      h("span", { class: "score-name" }, calledThere(name, memory)), bar,
      h("span", { class: "score-number" }, h("b", {}, numbers[0] ?? "0"),
        parts.slice(1).some(Boolean) ? ` + ${numbers.slice(1).join(" + ")}` : "")), spots, [n]);
  });
  const marks = [0, 0.5, 1].map((part) => h("span", {}, number(Math.round(part * view.most))));
  return h("div", {}, ...rows, h("div", { class: "score-scale" }, ...marks));
}

function text(view) {
  return h("pre", { tabindex: "0", "aria-label": words.board, role: "region" }, view.text);
}
