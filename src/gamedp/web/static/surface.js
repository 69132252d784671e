// Where an action is best, over two parts of the position: the least of a third as a surface, drawn on
// a canvas from the back to the front, turned by mouse and arrow keys; and slices that show all of it.

import { h, s } from "./dom.js";
import { capital, language, named, number } from "./words.js";

export const WORDS = {
  en: {
    lead: (action, z, x, y) =>
      `The lowest position of each column in which ${action} is best. Height: ${z}; sides: ${x}, ${y}.`,
    gaps: (action) => `Further up, ${action} may not be best any more, or be best again: the slice shows all of it.`,
    colours: (low, high) => `what the player to move can expect there: ${low} to ${high}`,
    nowhere: (action) => `never ${action}`,
    unreached: "pale: not reached by best play",
    turn: "Drag, or use the arrow keys, to turn the picture.",
    slice: (y) => `Slice: ${y}`,
    table: "The slice as a table",
    never: "never",
  },
  de: {
    lead: (action, z, x, y) =>
      `Die unterste Stellung jeder Säule, in der „${action}“ am besten ist. Höhe: ${z}; Seiten: ${x}, ${y}.`,
    gaps: (action) => `Weiter oben kann „${action}“ nicht mehr oder wieder am besten sein: Der Schnitt zeigt alles.`,
    colours: (low, high) => `was der Spieler am Zug dort erwarten kann: ${low} bis ${high}`,
    nowhere: (action) => `nie ${action}`,
    unreached: "blass: bei bestem Spiel nicht erreicht",
    turn: "Zum Drehen ziehen oder die Pfeiltasten drücken.",
    slice: (y) => `Schnitt: ${y}`,
    table: "Der Schnitt als Tabelle",
    never: "nie",
  },
};

const NOT_THERE = -1;
const [SIDE, ABOVE, BELOW] = [48, 30, 46]; // around the picture, for numbers and names

// Of each place, the largest z and the intervals of z, each with the value in its first state.
function read(buffer) {
  const view = new DataView(buffer);
  const [x0, nx, y0, ny, z0, z1] = [0, 4, 8, 12, 16, 20].map((at) => view.getInt32(at, true));
  const count = nx * ny;
  const short = (at, n) => view.getInt16(at + 2 * n, true);
  const tops = Int16Array.from({ length: count }, (_, n) => short(24, n));
  const counts = Int16Array.from({ length: count }, (_, n) => short(24 + 2 * count, n));
  const reached = new Uint8Array(buffer, 24 + 4 * count, count);
  const all = counts.reduce((sum, each) => sum + each, 0);
  const start = 24 + 5 * count;
  let next = 0;
  const intervals = Array.from(counts, (each) => Array.from({ length: each }, () => {
    const n = next++;
    return { first: short(start, 2 * n), last: short(start, 2 * n + 1), value: view.getFloat32(start + 4 * (all + n), true) };
  }));
  const values = intervals.flatMap((each) => each.map(({ value }) => value));
  const ends = (pick, from) => values.reduce((one, other) => pick(one, other), from);
  return { x0, nx, y0, ny, z0, z1, tops, intervals, reached, low: ends(Math.min, Infinity), high: ends(Math.max, -Infinity) };
}

// How far a value is from the least to the largest one.
const shareOf = ({ low, high }, value) => (high > low ? (value - low) / (high - low) : 0.5);
const tint = (data, value) => `color-mix(in oklab, var(--surface-high) ${Math.round(100 * shareOf(data, value))}%, var(--surface-low))`;

// The picture, its legend, the slice and the table, of what the server answers.
export async function surface(play) {
  const { x, y, z, action } = play.game.surface;
  const query = { x, y, z, action, parameters: JSON.stringify(play.parameters) };
  const data = read(await play.source.surface(play.game.name, query, play.gone.signal));
  return show(data, { x, y, z, name: nameOf(play, action) });
}

// The slice through a position, with a ring where it is, and what it shows; null if the position is not on one.
export async function sliceHere(play, { state }) {
  const { x, y, z, action } = play.game.surface;
  const [own, other, high] = [x, y, z].map((name) => state?.[name]);
  if (![own, other, high].every(Number.isInteger)) return null;
  const query = { x, y, z, action, parameters: JSON.stringify(play.parameters) };
  const data = read(await play.source.surface(play.game.name, query, play.gone.signal));
  const at = (own - data.x0) * data.ny + other - data.y0;
  if (!(data.tops[at] >= 0)) return null;
  const picture = profile(data, other - data.y0, 480, "", { column: own - data.x0, high });
  return { picture, name: nameOf(play, action), x: named(x), y: `${named(y)}: ${other}`, z: named(z) };
}

function nameOf(play, action) {
  for (const position of play.positions.values()) {
    const found = position.actions.find((each) => each.action === action);
    if (found) return capital(named(found.name));
  }
  return capital(named(play.game.surface.name));
}

function show(data, { x, y, z, name }) {
  const names = { x: named(x), y: named(y), z: named(z) };
  const said = WORDS[language];
  const lead = said.lead(name, names.z, names.x, names.y);
  const canvas = h("canvas", { tabindex: "0", role: "img", "aria-label": `${lead} ${said.turn}` });
  const where = { turn: 4.06, tilt: 0.75, slice: mostCut(data) };
  const picture = () => paint(canvas, data, where, names);
  let dragged = null;
  canvas.addEventListener("pointerdown", (event) => {
    dragged = [event.clientX, event.clientY];
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointerup", () => (dragged = null));
  canvas.addEventListener("pointermove", (event) => {
    if (!dragged) return;
    turn((event.clientX - dragged[0]) / 140, (event.clientY - dragged[1]) / 160);
    dragged = [event.clientX, event.clientY];
  });
  const steps = { ArrowLeft: [-0.12, 0], ArrowRight: [0.12, 0], ArrowUp: [0, -0.08], ArrowDown: [0, 0.08] };
  canvas.addEventListener("keydown", (event) => {
    if (!(event.key in steps)) return;
    event.preventDefault();
    turn(...steps[event.key]);
  });
  function turn(around, over) {
    where.turn += around;
    where.tilt = Math.max(0.12, Math.min(1.45, where.tilt + over));
    picture();
  }
  new ResizeObserver(() => cut()).observe(canvas);
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  scheme.addEventListener("change", function again() {
    if (canvas.isConnected) picture();
    else scheme.removeEventListener("change", again);
  });

  const label = h("label", { for: "surface-slice" });
  const slider = h("input", {
    id: "surface-slice", type: "range", min: data.y0, max: data.y0 + data.ny - 1, value: data.y0 + where.slice,
  });
  const table = h("div", { class: "surface-table", tabindex: "0", role: "region", "aria-label": said.table });
  const flat = h("div", { class: "surface-flat" });
  function cut() {
    where.slice = Number(slider.value) - data.y0;
    label.textContent = said.slice(`${names.y} ${slider.value}`);
    const columns = Array.from({ length: data.nx }, (_, n) => n)
      .filter((n) => data.tops[n * data.ny + where.slice] !== NOT_THERE);
    const cell = (n) => {
      const at = n * data.ny + where.slice;
      return h("td", { class: data.reached[at] ? null : "unreached" }, spans(data.intervals[at]) || said.never);
    };
    flat.replaceChildren(profile(data, where.slice, canvas.clientWidth || 600, `${label.textContent}. ${names.x}, ${names.z}`));
    table.replaceChildren(h("table", {},
      h("tbody", {},
        h("tr", {}, h("th", { scope: "row" }, capital(names.x)), ...columns.map((n) => h("td", {}, String(data.x0 + n)))),
        h("tr", {}, h("th", { scope: "row" }, capital(names.z)), ...columns.map(cell)))));
    picture();
  }
  slider.addEventListener("input", cut);
  cut();
  const key = (kind, text) => h("span", { class: "key" }, h("span", { class: `swatch ${kind}`, "aria-hidden": "true" }), text);
  return [
    h("p", {}, lead, " ", said.gaps(name)), canvas,
    h("p", { class: "legend" },
      data.low <= data.high ? key("values", said.colours(number(data.low, { digits: 2 }), number(data.high, { digits: 2 }))) : null,
      key("never", said.nowhere(name)), h("span", { class: "key" }, said.unreached)),
    h("p", { class: "note" }, said.turn),
    h("div", { class: "slice" }, label, slider), flat, h("h3", {}, said.table), table,
  ];
}

const spans = (intervals) =>
  intervals.map(({ first, last }) => (first === last ? String(first) : `${first}–${last}`)).join(", ");

// The slice in which the action is interrupted most, for there is most to see; else the middle one.
function mostCut({ nx, ny, intervals }) {
  const gaps = Array.from({ length: ny }, (_, j) => {
    let sum = 0;
    for (let i = 0; i < nx; i++) {
      const column = intervals[i * ny + j];
      for (let n = 1; n < column.length; n++) sum += column[n].first - column[n - 1].last;
    }
    return sum;
  });
  const most = gaps.reduce((one, other) => Math.max(one, other), 0);
  return most ? gaps.indexOf(most) : Math.floor(ny / 2);
}

// A slice, flat: each column as high as there are positions, and coloured where the action is best.
function profile(data, slice, wide, title, here = null) {
  const { nx, ny, z0, z1, x0, tops, intervals, reached } = data;
  const [left, foot, high] = [30, 20, 180 + wide / 10];
  const [column, row] = [(wide - left) / nx, (high - foot) / (z1 - z0 + 1)];
  const bar = (i, first, last, more) => s("rect", {
    x: left + i * column, width: column, y: high - foot - (last - z0 + 1) * row, height: (last - first + 1) * row, ...more,
  });
  const parts = [];
  for (let i = 0; i < nx; i++) {
    const at = i * ny + slice;
    if (tops[at] === NOT_THERE) continue;
    parts.push(bar(i, z0, tops[at], { class: "there" }));
    for (const { first, last, value } of intervals[at]) {
      const part = bar(i, first, last, { class: reached[at] ? "best" : "best unreached" });
      part.style.fill = tint(data, value);
      parts.push(part);
    }
  }
  if (here) {
    const middle = { cx: left + (here.column + 0.5) * column, cy: high - foot - (here.high - z0 + 0.5) * row };
    parts.push(s("circle", { class: "ring-under", ...middle, r: 8 }), s("circle", { class: "ring", ...middle, r: 8 }));
  }
  const text = (x, y, content, kind) => s("text", { x, y, class: `tick ${kind}` }, String(content));
  return s("svg", { viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": title }, ...parts,
    text(left - 6, high - foot, z0, ""), text(left - 6, 12, z1, ""),
    text(left + column / 2, high - 4, x0, "middle"), text(wide - column / 2 - 6, high - 4, x0 + nx - 1, "middle"));
}

function paint(canvas, data, where, names) {
  const width = canvas.clientWidth;
  if (!width) return;
  const height = Math.min(460, Math.max(225, width * 0.66));
  const ratio = devicePixelRatio || 1;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  const style = getComputedStyle(canvas);
  const colour = (name) => style.getPropertyValue(name).trim();
  const [sine, cosine] = [Math.sin(where.turn), Math.cos(where.turn)];
  const [up, flat] = [Math.cos(where.tilt), Math.sin(where.tilt)];
  const span = Math.max(data.z1 - data.z0, 1);
  const turned = (x, y, z) => {
    const [u, v] = [x / Math.max(data.nx - 1, 1) - 0.5, y / Math.max(data.ny - 1, 1) - 0.5];
    const [across, deep] = [u * cosine - v * sine, u * sine + v * cosine];
    return [across, deep * flat - ((z - data.z0) / span) * 0.6 * up, deep];
  };
  const z = (at) => data.intervals[at][0]?.first ?? data.tops[at];
  // As large as it fits, whichever way it is turned: the surface, the floor and the axis that stands on it.
  const [nearX, nearY] = [sine > 0 ? data.nx - 1 : 0, cosine > 0 ? data.ny - 1 : 0];
  const pole = [nearX ? 0 : data.nx - 1, nearY];
  const box = [0, data.nx - 1].flatMap((x) => [0, data.ny - 1].map((y) => turned(x, y, data.z0)));
  box.push(turned(...pole, data.z1));
  data.tops.forEach((top, at) => {
    if (top !== NOT_THERE) box.push(turned(Math.floor(at / data.ny), at % data.ny, z(at)));
  });
  const ends = (n) => box.reduce(([low, high], p) => [Math.min(low, p[n]), Math.max(high, p[n])], [Infinity, -Infinity]);
  const [[left, right], [top, bottom]] = [ends(0), ends(1)];
  const size = Math.min((width - 2 * SIDE) / (right - left), (height - ABOVE - BELOW) / (bottom - top));
  const place = (x, y, z) => {
    const [across, down, deep] = turned(x, y, z);
    return [
      width / 2 + (across - (left + right) / 2) * size,
      (height + ABOVE - BELOW) / 2 + (down - (top + bottom) / 2) * size, deep,
    ];
  };
  const axes = { near: [nearX, nearY], pole, foot: place(...pole, data.z0), top: place(...pole, data.z1) };
  lines(pen, data, place, axes, colour("--rule"));
  // Canvases know no variables: these are the colours that `tint` mixes.
  const [least, most, never, card] = ["--surface-low", "--surface-high", "--surface-never", "--card"].map(colour);
  const fillOf = (at) => {
    const [interval] = data.intervals[at];
    if (!interval) return never;
    return `color-mix(in oklab, ${most} ${Math.round(100 * shareOf(data, interval.value))}%, ${least})`;
  };
  const cells = [];
  for (let i = 0; i + 1 < data.nx; i++) {
    for (let j = 0; j + 1 < data.ny; j++) {
      const corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]];
      const places = corners.map(([a, b]) => a * data.ny + b);
      if (places.some((at) => data.tops[at] === NOT_THERE)) continue;
      const points = corners.map(([a, b], n) => place(a, b, z(places[n])));
      const deep = points.reduce((sum, point) => sum + point[2], 0);
      const mean = places.reduce((sum, at) => sum + z(at), 0) / 4;
      const light = (data.reached[places[0]] ? 80 : 35) + 20 * ((mean - data.z0) / span);
      cells.push({ points, deep, fill: fillOf(places[0]), light: Math.round(light), slice: j === where.slice });
    }
  }
  cells.sort((one, other) => one.deep - other.deep);
  pen.lineWidth = 0.6;
  for (const { points, fill, light, slice } of cells) {
    pen.beginPath();
    points.forEach(([px, py], n) => (n ? pen.lineTo(px, py) : pen.moveTo(px, py)));
    pen.closePath();
    pen.fillStyle = `color-mix(in srgb, ${fill} ${light}%, ${card})`;
    pen.strokeStyle = slice ? colour("--ink") : colour("--surface-line");
    pen.lineWidth = slice ? 1.4 : 0.5;
    pen.fill();
    pen.stroke();
  }
  letters(pen, data, place, axes, names, colour);
}

// The floor, and the axis that stands on it.
function lines(pen, data, place, { foot, top }, colour) {
  const [right, back] = [data.nx - 1, data.ny - 1];
  const floor = [[0, 0], [right, 0], [right, back], [0, back], [0, 0]].map(([x, y]) => place(x, y, data.z0));
  pen.strokeStyle = colour;
  pen.lineWidth = 1;
  pen.beginPath();
  for (const line of [floor, [foot, top]]) line.forEach(([x, y], n) => (n ? pen.lineTo(x, y) : pen.moveTo(x, y)));
  pen.stroke();
}

// What stands at the axes: their names, and as many numbers as there is room for.
function letters(pen, data, place, { near: [nearX, nearY], pole, foot, top }, names, colour) {
  const [right, back] = [data.nx - 1, data.ny - 1];
  const middle = place(right / 2, back / 2, data.z0);
  const taken = [];
  pen.font = "13px system-ui, sans-serif";
  pen.textBaseline = "middle";
  pen.strokeStyle = colour("--card");
  pen.lineWidth = 4;
  pen.lineJoin = "round";
  function write(text, left, y) {
    const wide = pen.measureText(text).width;
    const x = Math.max(2, Math.min(pen.canvas.clientWidth - wide - 2, left));
    const isTaken = taken.some((each) => x < each.x + each.wide + 6 && each.x < x + wide + 6 && Math.abs(y - each.y) < 15);
    if (isTaken) return false;
    taken.push({ x, y, wide });
    pen.strokeText(text, x, y);
    pen.fillText(text, x, y);
    return true;
  }
  // Away from the middle of the floor.
  function beside(text, [x, y], away) {
    const [dx, dy] = [x - middle[0], y - middle[1]];
    const length = Math.hypot(dx, dy) || 1;
    const wide = pen.measureText(text).width;
    const from = x + (dx / length) * away - (Math.abs(dx) < 20 ? wide / 2 : dx > 0 ? 0 : wide);
    return write(text, from, y + (dy / length) * away);
  }
  const ticks = (first, count) => {
    const step = [1, 2, 5, 10, 20, 25, 50, 100, 200, 500].find((each) => count / each <= 5) ?? 1000;
    const found = [];
    for (let value = Math.ceil(first / step) * step; value < first + count; value += step) found.push(value);
    return found;
  };
  pen.fillStyle = colour("--ink");
  write(names.z, top[0] - pen.measureText(names.z).width / 2, top[1] - 16);
  for (const [name, at] of [[names.x, [right / 2, nearY]], [names.y, [nearX, back / 2]]]) {
    [40, 52, 64].some((away) => beside(name, place(...at, data.z0), away));
  }
  pen.fillStyle = colour("--quiet");
  for (const value of ticks(data.z0, data.z1 - data.z0 + 1)) {
    const wide = pen.measureText(String(value)).width;
    write(String(value), foot[0] + (foot[0] > middle[0] ? 8 : -8 - wide), place(...pole, value)[1]);
  }
  for (const value of ticks(data.x0, data.nx)) beside(String(value), place(value - data.x0, nearY, data.z0), 16);
  for (const value of ticks(data.y0, data.ny)) beside(String(value), place(nearX, value - data.y0, data.z0), 16);
}
