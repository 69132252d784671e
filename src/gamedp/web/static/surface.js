// Where the decision changes, as a surface over two parts of the position: drawn on a canvas from
// the back to the front, turned by mouse and arrow keys; and as a slice and a table.

import { h } from "./dom.js";
import { capital, language, named } from "./words.js";

export const WORDS = {
  en: {
    lead: (action, z, x, y) =>
      `From where on ${action} is best. Height: ${z}; sides: ${x}, ${y}.`,
    nowhere: (action) => `never ${action}`,
    unreached: "not reached by best play",
    reached: "reached by best play",
    turn: "Drag, or use the arrow keys, to turn the picture.",
    slice: (y) => `Slice: ${y}`,
    table: "The slice as a table",
    never: "never",
  },
  de: {
    lead: (action, z, x, y) =>
      `Von wo an „${action}“ am besten ist. Höhe: ${z}; Seiten: ${x}, ${y}.`,
    nowhere: (action) => `nie ${action}`,
    unreached: "bei bestem Spiel nicht erreicht",
    reached: "bei bestem Spiel erreicht",
    turn: "Zum Drehen ziehen oder die Pfeiltasten drücken.",
    slice: (y) => `Schnitt: ${y}`,
    table: "Der Schnitt als Tabelle",
    never: "nie",
  },
};

const NEVER = -1;
const NOT_THERE = -2;
const [SIDE, ABOVE, BELOW] = [48, 30, 46]; // around the picture, for numbers and names

function read(buffer) {
  const [x0, nx, y0, ny, z0, z1] = new Int32Array(buffer, 0, 6);
  const count = nx * ny;
  const view = new DataView(buffer);
  const heights = new Int16Array(count);
  const tops = new Int16Array(count);
  const reached = new Uint8Array(buffer, 24 + 8 * count, count);
  for (let n = 0; n < count; n++) {
    heights[n] = view.getInt16(24 + 2 * n, true);
    tops[n] = view.getInt16(24 + 2 * (count + n), true);
  }
  return { x0, nx, y0, ny, z0, z1, heights, tops, reached };
}

// The picture, its legend, the slice and the table, of what the server answers.
export async function surface(play) {
  const { x, y, z, action } = play.game.surface;
  const query = { x, y, z, action, parameters: JSON.stringify(play.parameters) };
  const data = read(await play.source.surface(play.game.name, query, play.gone.signal));
  return show(data, { x, y, z, name: nameOf(play, action) });
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
  const where = { turn: 4.06, tilt: 0.75, slice: Math.floor(data.ny / 2) };
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
  new ResizeObserver(picture).observe(canvas);
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
  function cut() {
    where.slice = Number(slider.value) - data.y0;
    label.textContent = said.slice(`${names.y} ${slider.value}`);
    const columns = Array.from({ length: data.nx }, (_, n) => n)
      .filter((n) => data.heights[n * data.ny + where.slice] !== NOT_THERE);
    const cell = (n) => {
      const at = n * data.ny + where.slice;
      const text = data.heights[at] === NEVER ? said.never : String(data.heights[at]);
      return h("td", { class: data.reached[at] ? null : "unreached" }, text);
    };
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
    h("p", {}, lead), canvas,
    h("p", { class: "legend" }, key("reached", said.reached), key("unreached", said.unreached),
      key("never", said.nowhere(name))),
    h("p", { class: "note" }, said.turn),
    h("div", { class: "slice" }, label, slider), h("h3", {}, said.table), table,
  ];
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
  const z = (at) => (data.heights[at] === NEVER ? data.tops[at] : data.heights[at]);
  // As large as it fits, whichever way it is turned: the surface, the floor and the axis that stands on it.
  const [nearX, nearY] = [sine > 0 ? data.nx - 1 : 0, cosine > 0 ? data.ny - 1 : 0];
  const pole = [nearX ? 0 : data.nx - 1, nearY];
  const box = [0, data.nx - 1].flatMap((x) => [0, data.ny - 1].map((y) => turned(x, y, data.z0)));
  box.push(turned(...pole, data.z1));
  data.heights.forEach((height, at) => {
    if (height !== NOT_THERE) box.push(turned(Math.floor(at / data.ny), at % data.ny, z(at)));
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
  const kindOf = (at) => (data.heights[at] === NEVER ? "never" : data.reached[at] ? "reached" : "unreached");
  const cells = [];
  for (let i = 0; i + 1 < data.nx; i++) {
    for (let j = 0; j + 1 < data.ny; j++) {
      const corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]];
      const places = corners.map(([a, b]) => a * data.ny + b);
      if (places.some((at) => data.heights[at] === NOT_THERE)) continue;
      const points = corners.map(([a, b], n) => place(a, b, z(places[n])));
      const deep = points.reduce((sum, point) => sum + point[2], 0);
      const mean = places.reduce((sum, at) => sum + z(at), 0) / 4;
      cells.push({ points, deep, kind: kindOf(places[0]), light: (mean - data.z0) / span, slice: j === where.slice });
    }
  }
  cells.sort((one, other) => one.deep - other.deep);
  pen.lineWidth = 0.6;
  for (const { points, kind, light, slice } of cells) {
    pen.beginPath();
    points.forEach(([px, py], n) => (n ? pen.lineTo(px, py) : pen.moveTo(px, py)));
    pen.closePath();
    pen.fillStyle = `color-mix(in srgb, ${colour(`--surface-${kind}`)} ${Math.round(45 + 55 * light)}%, ${colour("--card")})`;
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
