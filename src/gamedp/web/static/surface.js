// The positions in which an action is best, over three parts of the position: a body of cells, coloured by what the player to move
// can expect, drawn on a canvas from the back to the front; and slices through it. Both show where the game stands.

import { focusOn, h, s } from "./dom.js";
import { headline } from "./start.js";
import { capital, language, named, number, speakFor } from "./words.js";

export const WORDS = {
  en: {
    lead: (action, z, x, y) => `All positions in which ${action} is best. Sides: ${x}, ${y}; height: ${z}.`,
    at: (x, y) => `${x} against ${y}`,
    best: (where, action, z, spans) => `At ${where}, ${action} is best with ${spans.join(" or ")} (${z})`,
    between: (spans) => `, but not with ${spans.join(" or ")}.`,
    nowhere: (where, action) => `At ${where}, ${action} is never best.`,
    here: (z, value) => `The game is at ${z}: ${value}.`,
    colours: (low, high) => `what the player to move can expect there: ${low} to ${high}`,
    other: "another action is best",
    unreached: "pale in the slice: not reached by best play",
    mark: "where the game stands",
    turn: "Drag, or use the arrow keys, to turn the picture.",
    slice: (y) => `Slice: ${y}`,
    table: "The slice as a table",
    never: "never",
  },
  de: {
    lead: (action, z, x, y) => `Alle Stellungen, in denen „${action}“ am besten ist. Seiten: ${x}, ${y}; Höhe: ${z}.`,
    at: (x, y) => `${x} zu ${y}`,
    best: (where, action, z, spans) => `Bei ${where} ist „${action}“ mit ${spans.join(" oder ")} am besten (${z})`,
    between: (spans) => `, mit ${spans.join(" oder ")} aber nicht.`,
    nowhere: (where, action) => `Bei ${where} ist „${action}“ nie am besten.`,
    here: (z, value) => `Das Spiel steht bei ${z}: ${value}.`,
    colours: (low, high) => `was der Spieler am Zug dort erwarten kann: ${low} bis ${high}`,
    other: "ein anderer Zug ist am besten",
    unreached: "im Schnitt blass: bei bestem Spiel nicht erreicht",
    mark: "wo das Spiel steht",
    turn: "Zum Drehen ziehen oder die Pfeiltasten drücken.",
    slice: (y) => `Schnitt: ${y}`,
    table: "Der Schnitt als Tabelle",
    never: "nie",
  },
};

const NOT_THERE = -1;
const SHADES = 24; // colours of the scale
const LIGHTS = [100, 86, 72]; // of what is seen from above, and of the two sides
const [SIDE, ABOVE, BELOW] = [48, 30, 46]; // around the picture, for numbers and names

// Of each place, the largest z, the intervals of z, and the value of every state up to the largest z.
export function read(buffer) {
  const view = new DataView(buffer);
  const [x0, nx, y0, ny, z0, z1] = [0, 4, 8, 12, 16, 20].map((at) => view.getInt32(at, true));
  const count = nx * ny;
  const short = (at, n) => view.getInt16(at + 2 * n, true);
  const tops = Int16Array.from({ length: count }, (_, n) => short(24, n));
  const counts = Int16Array.from({ length: count }, (_, n) => short(24 + 2 * count, n));
  const reached = new Uint8Array(buffer, 24 + 4 * count, count);
  const start = 24 + 5 * count;
  let next = 0;
  const intervals = Array.from(counts, (each) => Array.from({ length: each }, () => {
    const n = next++;
    return { first: short(start, 2 * n), last: short(start, 2 * n + 1) };
  }));
  let at = start + 4 * next;
  const columns = Array.from(tops, (top) => {
    const begin = at - 4 * z0;
    at += top === NOT_THERE ? 0 : 4 * (top - z0 + 1);
    return (z) => view.getFloat32(begin + 4 * z, true);
  });
  let [low, high] = [Infinity, -Infinity];
  intervals.forEach((column, n) => column.forEach(({ first, last }) => {
    for (let z = first; z <= last; z++) [low, high] = [Math.min(low, columns[n](z)), Math.max(high, columns[n](z))];
  }));
  return { x0, nx, y0, ny, z0, z1, tops, intervals, reached, columns, low, high, faces: new Map() };
}

const shadeOf = ({ low, high }, value) => (high > low ? Math.round(((value - low) / (high - low)) * (SHADES - 1)) : 0);
const tint = (shade) => `color-mix(in oklab, var(--surface-high) ${Math.round((100 * shade) / (SHADES - 1))}%, var(--surface-low))`;

// The cells of an interval that `isSeen`, as runs of one colour.
function runs(data, at, { first, last }, isSeen = () => true) {
  const found = [];
  for (let z = first; z <= last; z++) {
    if (!isSeen(z)) continue;
    const shade = shadeOf(data, data.columns[at](z));
    const before = found.at(-1);
    if (before?.last === z - 1 && before.shade === shade) before.last = z;
    else found.push({ first: z, last: z, shade });
  }
  return found;
}

const isIn = (intervals, z) => intervals.some(({ first, last }) => first <= z && z <= last);

// What is seen of the body from one side: of each interval, the runs that the next column leaves open.
function sides(data, dx, dy) {
  const key = `${dx} ${dy}`;
  if (!data.faces.has(key)) {
    const { nx, ny } = data;
    data.faces.set(key, data.intervals.map((column, at) => {
      const [i, j] = [Math.floor(at / ny) + dx, (at % ny) + dy];
      const other = i >= 0 && i < nx && j >= 0 && j < ny ? data.intervals[i * ny + j] : [];
      return column.map((interval) => runs(data, at, interval, (z) => !isIn(other, z)));
    }));
  }
  return data.faces.get(key);
}

// The picture, its legend, the slice and the table, of what the server answers; `follow` is told each position of the game.
export async function surface(play) {
  const { x, y, z, action } = play.game.surface;
  const query = { x, y, z, action, parameters: JSON.stringify(play.parameters) };
  const data = read(await play.source.surface(play.game.name, query, play.gone.signal));
  return show(data, play, { x, y, z, name: nameOf(play, action) });
}

// The figure of a game alone, on a page of its own.
export async function showFigure(page, source, game, isGone) {
  speakFor(game);
  const { name, said } = headline(game, {});
  document.title = `${name} · gamedp`;
  const heading = h("h1", { tabindex: "-1" }, name);
  const play = { game, source, parameters: {}, gone: new AbortController(), positions: new Map(), now: null };
  const { parts } = await surface(play);
  if (isGone()) return;
  page.replaceChildren(h("div", { class: "play" }, h("section", { class: "surface" },
    h("div", { class: "title" }, heading, said.length ? h("p", { class: "rules" }, said.join(" · ")) : null),
    h("div", { class: "surface-body" }, ...parts))));
  if (window.parent === window) focusOn(heading);
}

// The slice through a position, with a ring where it is, and what it shows; null if the position is not on one.
export async function sliceHere(play, { state }) {
  const { x, y, z, action } = play.game.surface;
  const query = { x, y, z, action, parameters: JSON.stringify(play.parameters) };
  const data = read(await play.source.surface(play.game.name, query, play.gone.signal));
  const here = placeOf(data, { x, y, z }, state);
  if (!here) return null;
  const picture = profile(data, here.j, here, 480, "");
  return { picture, name: nameOf(play, action), x: named(x), y: `${named(y)}: ${data.y0 + here.j}`, z: named(z) };
}

function nameOf(play, action) {
  for (const position of play.positions.values()) {
    const found = position.actions.find((each) => each.action === action);
    if (found) return capital(named(found.name));
  }
  return capital(named(play.game.surface.name));
}

// Where the game stands, as places in the data; null if that is none of them.
function placeOf(data, { x, y, z }, state) {
  const part = (name) => Number(state?.[/^\[(\d+)\]$/.exec(name)?.[1] ?? name]);
  const [i, j, height] = [part(x) - data.x0, part(y) - data.y0, part(z)];
  const isThere = i >= 0 && i < data.nx && j >= 0 && j < data.ny && height <= data.tops[i * data.ny + j];
  return isThere ? { i, j, z: height } : null;
}

function show(data, play, { x, y, z, name }) {
  const names = { x: named(x), y: named(y), z: named(z) };
  const said = WORDS[language];
  const lead = said.lead(name, names.z, names.x, names.y);
  const value = (number_) => valueWords(play, number_);
  const canvas = h("canvas", { tabindex: "0", role: "img", "aria-label": `${lead} ${said.turn}` });
  const [i, j] = play.game.surface.at ?? [0, -1];
  const isShown = data.intervals[(i - data.x0) * data.ny + j - data.y0]?.length && j - data.y0 >= 0 && j - data.y0 < data.ny;
  const where = { turn: 4.06, tilt: 0.75, slice: isShown ? j - data.y0 : mostCut(data), here: null };
  let column = isShown ? i - data.x0 : 0; // which the sentence is of
  const picture = () => paint(canvas, data, where, names);
  let dragged = null;
  canvas.addEventListener("pointerdown", (event) => {
    dragged = [event.clientX, event.clientY];
    canvas.setPointerCapture(event.pointerId);
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => (dragged = null));
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

  const sentence = h("p", { class: "surface-here" });
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
      return h("td", { class: data.reached[at] ? null : "unreached" }, spans(data.intervals[at]).join(", ") || said.never);
    };
    const mark = where.here?.j === where.slice ? where.here : null;
    column = mark?.i ?? column;
    sentence.textContent = [sentenceOf(said, data, column, where.slice, name, names.z),
      mark ? said.here(mark.z, value(data.columns[mark.i * data.ny + mark.j](mark.z))) : ""].join(" ");
    flat.replaceChildren(profile(data, where.slice, mark, flat.clientWidth || canvas.clientWidth || 600, `${label.textContent}. ${names.x}, ${names.z}. ${sentence.textContent}`));
    table.replaceChildren(h("table", {},
      h("tbody", {},
        h("tr", {}, h("th", { scope: "row" }, capital(names.x)), ...columns.map((n) => h("td", {}, String(data.x0 + n)))),
        h("tr", {}, h("th", { scope: "row" }, capital(names.z)), ...columns.map(cell)))));
    picture();
  }
  // The slice goes where the game goes, from its first action on.
  function follow(now) {
    where.here = now && !now.over ? placeOf(data, { x, y, z }, now.state) : null;
    if (where.here && (now.played || now.previous)) slider.value = data.y0 + where.here.j;
    cut();
  }
  slider.addEventListener("input", cut);
  follow(play.now);
  const key = (kind, text) => h("span", { class: "key" }, h("span", { class: `swatch ${kind}`, "aria-hidden": "true" }), text);
  const parts = [
    h("p", {}, lead), sentence,
    h("div", { class: "surface-both" },
      h("div", {}, canvas, h("p", { class: "note" }, said.turn)),
      h("div", {}, h("div", { class: "slice" }, label, slider), flat)),
    h("p", { class: "legend" },
      data.low <= data.high ? key("values", said.colours(value(data.low), value(data.high))) : null,
      key("other", said.other), play.now ? key("mark", said.mark) : null, h("span", { class: "key" }, said.unreached)),
    h(play.page ? "h3" : "h2", {}, said.table), table,
  ];
  return { parts, follow };
}

// As a chance where all there is to win is known.
function valueWords({ now, game }, value) {
  const { kind, low, high } = now?.basis.stakes ?? game.surface.stakes ?? {};
  return ["win", "result"].includes(kind) ? `${number((100 * (value - low)) / (high - low), { digits: 1 })}\u00a0%` : number(value, { digits: 2 });
}

const span = (first, last) => (first === last ? String(first) : `${first}–${last}`);
const spans = (intervals) => intervals.map(({ first, last }) => span(first, last));

// In words: with which z the action is best here, and with which, between them, it is not.
function sentenceOf(said, data, i, j, name, z) {
  const column = data.intervals[i * data.ny + j];
  const where = said.at(data.x0 + i, data.y0 + j);
  if (!column.length) return said.nowhere(where, name);
  const gaps = column.slice(1).map(({ first }, n) => span(column[n].last + 1, first - 1));
  return said.best(where, name, z, spans(column)) + (gaps.length ? said.between(gaps) : ".");
}

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

// A slice, flat: each column as high as there are positions, and every cell coloured where the action is best; a ring is
// where the game stands.
function profile(data, slice, here, wide, title) {
  const { nx, ny, z0, z1, x0, tops, intervals, reached } = data;
  const [left, foot, high] = [30, 20, 180 + wide / 5];
  const [column, row] = [(wide - left) / nx, (high - foot) / (z1 - z0 + 1)];
  const bar = (i, first, last, more) => s("rect", {
    x: left + i * column, width: column, y: high - foot - (last - z0 + 1) * row, height: (last - first + 1) * row, ...more,
  });
  const parts = [];
  for (let i = 0; i < nx; i++) {
    const at = i * ny + slice;
    if (tops[at] === NOT_THERE) continue;
    parts.push(bar(i, z0, tops[at], { class: "there" }));
    for (const interval of intervals[at]) {
      parts.push(s("g", { class: reached[at] ? "best" : "best unreached" }, ...runs(data, at, interval).map(({ first, last, shade }) => {
        const part = bar(i, first, last, {});
        part.style.fill = tint(shade);
        return part;
      })));
    }
  }
  if (here) {
    const middle = { cx: left + (here.i + 0.5) * column, cy: high - foot - (here.z - z0 + 0.5) * row };
    parts.push(s("circle", { class: "ring-under", ...middle, r: 8 }), s("circle", { class: "ring", ...middle, r: 8 }));
  }
  const text = (x, y, content, kind) => s("text", { x, y, class: `tick ${kind}` }, String(content));
  return s("svg", { viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": title }, ...parts,
    text(left - 6, high - foot, z0, ""), text(left - 6, 12, z1, ""),
    text(left + column / 2, high - 4, x0, "middle"), text(wide - column / 2 - 6, high - 4, x0 + nx - 1, "middle"));
}

// The colours of the style sheet mixed: for each light, from above and from the sides, as many as there are shades.
function palette(colour) {
  const pen = h("canvas", { width: SHADES, height: LIGHTS.length }).getContext("2d", { willReadFrequently: true });
  const [least, most] = ["--surface-low", "--surface-high"].map(colour);
  LIGHTS.forEach((light, row) => {
    for (let shade = 0; shade < SHADES; shade++) {
      const mixed = `color-mix(in oklab, ${most} ${Math.round((100 * shade) / (SHADES - 1))}%, ${least})`;
      pen.fillStyle = `color-mix(in srgb, ${mixed} ${light}%, black)`;
      pen.fillRect(shade, row, 1, 1);
    }
  });
  const { data } = pen.getImageData(0, 0, SHADES, LIGHTS.length);
  return LIGHTS.map((_, row) => Array.from({ length: SHADES }, (__, shade) => {
    const at = 4 * (row * SHADES + shade);
    return `rgb(${data[at]} ${data[at + 1]} ${data[at + 2]})`;
  }));
}

function paint(canvas, data, where, names) {
  const width = canvas.clientWidth;
  if (!width) return;
  const height = Math.min(460, Math.max(225, width * 0.72));
  const ratio = devicePixelRatio || 1;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  const style = getComputedStyle(canvas);
  const colour = (name) => style.getPropertyValue(name).trim();
  const { nx, ny, z0, z1 } = data;
  const [sine, cosine] = [Math.sin(where.turn), Math.cos(where.turn)];
  const [up, flat] = [Math.cos(where.tilt), Math.sin(where.tilt)];
  const turned = (x, y, z) => {
    const [u, v] = [x / nx - 0.5, y / ny - 0.5];
    const [across, deep] = [u * cosine - v * sine, u * sine + v * cosine];
    return [across, deep * flat - ((z - z0) / (z1 - z0 + 1)) * 0.6 * up];
  };
  // As large as it fits, whichever way it is turned: the body, the floor and the axis that stands on it.
  const [nearX, nearY] = [sine > 0 ? nx : 0, cosine > 0 ? ny : 0];
  const pole = [nearX ? 0 : nx, nearY];
  const box = [0, nx].flatMap((x) => [0, ny].map((y) => turned(x, y, z0)));
  box.push(turned(...pole, z1));
  data.intervals.forEach((column, at) => {
    if (column.length) box.push(turned(Math.floor(at / ny) + 0.5, (at % ny) + 0.5, column.at(-1).last + 1));
  });
  const ends = (n) => box.reduce(([low, high], p) => [Math.min(low, p[n]), Math.max(high, p[n])], [Infinity, -Infinity]);
  const [[left, right], [top, bottom]] = [ends(0), ends(1)];
  const size = Math.min((width - 2 * SIDE) / (right - left), (height - ABOVE - BELOW) / (bottom - top));
  const place = (x, y, z) => {
    const [across, down] = turned(x, y, z);
    return [
      width / 2 + (across - (left + right) / 2) * size,
      (height + ABOVE - BELOW) / 2 + (down - (top + bottom) / 2) * size,
    ];
  };
  const axes = { near: [nearX, nearY], pole, foot: place(...pole, z0), top: place(...pole, z1) };
  lines(pen, data, place, axes, colour("--rule"));
  const fills = palette(colour);
  function quad(corners, fill, stroke, wide) {
    pen.beginPath();
    corners.forEach((corner, n) => (n ? pen.lineTo(...place(...corner)) : pen.moveTo(...place(...corner))));
    pen.closePath();
    pen.fillStyle = fill;
    pen.strokeStyle = stroke;
    pen.lineWidth = wide;
    pen.fill();
    pen.stroke();
  }
  const [ink, edge] = [colour("--ink"), colour("--surface-line")];
  const [bySide, byFront] = [sides(data, sine > 0 ? 1 : -1, 0), sides(data, 0, cosine > 0 ? 1 : -1)];
  // From the back to the front, and upwards in a column: what is nearer is never behind.
  const order = (count, isUp) => Array.from({ length: count }, (_, n) => (isUp ? n : count - 1 - n));
  for (const i of order(nx, sine > 0)) {
    for (const j of order(ny, cosine > 0)) {
      const at = i * ny + j;
      const [x, y] = [i + (sine > 0), j + (cosine > 0)];
      const isCut = j === where.slice;
      data.intervals[at].forEach(({ last }, n) => {
        for (const { first, last: end, shade } of bySide[at][n]) {
          quad([[x, j, first], [x, j + 1, first], [x, j + 1, end + 1], [x, j, end + 1]], fills[1][shade], fills[1][shade], 0.6);
        }
        for (const { first, last: end, shade } of byFront[at][n]) {
          quad([[i, y, first], [i + 1, y, first], [i + 1, y, end + 1], [i, y, end + 1]], fills[2][shade], fills[2][shade], 0.6);
        }
        quad([[i, j, last + 1], [i + 1, j, last + 1], [i + 1, j + 1, last + 1], [i, j + 1, last + 1]],
          fills[0][shadeOf(data, data.columns[at](last))], isCut ? ink : edge, isCut ? 1.2 : 0.4);
      });
    }
  }
  letters(pen, data, place, axes, names, colour);
  if (where.here) pin(pen, place, where.here, z0, ink, colour("--card"));
}

// Where the game stands: a pin on the floor, as high as it is.
function pin(pen, place, { i, j, z }, z0, ink, card) {
  const [foot, head] = [place(i + 0.5, j + 0.5, z0), place(i + 0.5, j + 0.5, z + 0.5)];
  for (const [stroke, wide] of [[card, 5], [ink, 2]]) {
    pen.strokeStyle = stroke;
    pen.lineWidth = wide;
    pen.beginPath();
    pen.moveTo(...foot);
    pen.lineTo(...head);
    pen.stroke();
    pen.beginPath();
    pen.arc(...head, 5, 0, 2 * Math.PI);
    pen.fillStyle = card;
    pen.fill();
    pen.stroke();
  }
}

// The floor, and the axis that stands on it.
function lines(pen, data, place, { foot, top }, colour) {
  const [right, back] = [data.nx, data.ny];
  const floor = [[0, 0], [right, 0], [right, back], [0, back], [0, 0]].map(([x, y]) => place(x, y, data.z0));
  pen.strokeStyle = colour;
  pen.lineWidth = 1;
  pen.beginPath();
  for (const line of [floor, [foot, top]]) line.forEach(([x, y], n) => (n ? pen.lineTo(x, y) : pen.moveTo(x, y)));
  pen.stroke();
}

// What stands at the axes: their names, and as many numbers as there is room for.
function letters(pen, data, place, { near: [nearX, nearY], pole, foot, top }, names, colour) {
  const [right, back] = [data.nx, data.ny];
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
  for (const value of ticks(data.x0, data.nx)) beside(String(value), place(value - data.x0 + 0.5, nearY, data.z0), 16);
  for (const value of ticks(data.y0, data.ny)) beside(String(value), place(nearX, value - data.y0 + 0.5, data.z0), 16);
}
