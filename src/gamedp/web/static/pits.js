// A board of pits, and stones sown one by one.

import { s, pause } from "./dom.js";
import { capital, named, words } from "./words.js";

const [CELL, STORE, ROW] = [92, 92, 116];
const BESIDE = 86; // height of a store above or below its row, on a telephone
const LINE = 64; // height of a line with the name of a row and its store, on a telephone
const NAMES = 92; // room for whose row it is, where that is not above and below
const GOLDEN = Math.PI * (3 - Math.sqrt(5));
const SHOWN = 24; // stones drawn in a pit; more are only counted

// The player, from 0, whom a name calls by a number.
function playerOf(name) {
  const found = /^(?:(first)|(second)|player (\d+))/.exec(name);
  return found && (found[1] ? 0 : found[2] ? 1 : Number(found[3]) - 1);
}

// A name on the board; the only person is called as everywhere on the page.
export const calledThere = (name, { you }) => (you !== undefined && playerOf(name) === you ? words.you : named(name));

const ownerOf = (view, row) => playerOf(view.names[row] ?? "") ?? row;

const nameOf = (view, row, memory) => calledThere(view.names[row] ?? words.row(row + 1), memory);

// The pits of a row by their names, from 1, though they may be seen the other way round.
function inOrder(view, row, n) {
  const names = view.pit_names?.[n];
  return names && Number(names[0]) > Number(names.at(-1)) ? row.toReversed() : row;
}

export function pitsInWords(view, memory) {
  return view.rows
    .map((row, n) => words.pitWords(nameOf(view, n, memory), inOrder(view, row, n).join(", "), view.stores[n]))
    .join("; ");
}

// Where everything lies: the middle of each pit and store, by the keys "row,place" and "store,row".
// Where there is little room, a store lies above or below its row, so that pits are wide enough for a thumb.
// `store` is how a store looks, and where its number stands. A board is turned about its middle.
function places(view, isNarrow, isTurned) {
  const all = unturned(view, isNarrow);
  if (isTurned) all.found = new Map([...all.found].map(([key, [x, y]]) => [key, [all.width - x, all.height - y]]));
  return all;
}

// Whether the lower one of two rows is another's, and the upper one that of the player who sits below.
const isUpper = (view, { below }) => below !== undefined && view.rows.length === 2
  && view.names.length === 2 && ownerOf(view, 0) === below && ownerOf(view, 1) !== below;

function unturned(view, isNarrow) {
  const columns = view.rows[0]?.length ?? 0;
  const two = view.rows.length === 2;
  const found = new Map();
  const lying = (width) => ({ x: -width / 2, y: -24, width, height: 48, rx: 24 });
  if (isNarrow && !two) {
    const width = columns * CELL;
    view.rows.forEach((row, y) => {
      const top = y * (LINE + ROW);
      row.forEach((_, x) => found.set(`${y},${x}`, [(x + 0.5) * CELL, top + LINE + ROW / 2]));
      found.set(`store,${y}`, [width * 0.75 - 12, top + LINE / 2 + 8]);
    });
    const store = { box: lying(width / 2), count: { x: 30 - width / 4, y: 7 } };
    return { found, width, height: view.rows.length * (LINE + ROW), two, store };
  }
  if (isNarrow) {
    const middle = (columns * CELL) / 2;
    view.rows.forEach((row, y) => {
      row.forEach((_, x) => found.set(`${y},${x}`, [(x + 0.5) * CELL, BESIDE + (y + 0.5) * ROW]));
      found.set(`store,${y}`, [middle, y ? BESIDE * 1.5 + 2 * ROW : BESIDE / 2]);
    });
    const store = { box: lying(columns * CELL - 24), count: { x: 0, y: 46 } };
    return { found, width: columns * CELL, height: 2 * (ROW + BESIDE), two, store };
  }
  view.rows.forEach((row, y) => {
    row.forEach((_, x) => {
      found.set(`${y},${x}`, [(two ? STORE : 0) + (x + 0.5) * CELL, (y + 0.5) * ROW]);
    });
    const side = two && y === 0 ? STORE / 2 : (two ? STORE : 0) + columns * CELL + STORE / 2;
    found.set(`store,${y}`, [side, two ? ROW : (y + 0.5) * ROW]);
  });
  const height = view.rows.length * ROW;
  const half = two ? height / 2 - 22 : 34;
  const store = { box: { x: -30, y: -half, width: 60, height: 2 * half, rx: 30 }, count: { x: 0, y: half + 18 } };
  return { found, width: columns * CELL + STORE * (two ? 2 : 1), height, two, store };
}

function stones(count, radius) {
  const group = s("g", { class: "stones" });
  const drawn = Math.min(count, SHOWN);
  for (let n = 0; n < drawn; n++) {
    const away = drawn === 1 ? 0 : (radius - 9) * Math.sqrt((n + 0.5) / Math.max(drawn, 5));
    group.append(s("circle", {
      class: `stone tone-${(n * 7) % 3}`,
      cx: away * Math.cos(n * GOLDEN), cy: away * Math.sin(n * GOLDEN), r: drawn > 14 ? 5.5 : 7.5,
    }));
  }
  return group;
}

function content(group, count, radius, at) {
  group.querySelector(".content")?.remove();
  group.append(s("g", { class: "content" }, stones(count, radius), s("text", { class: "count", ...at }, String(count))));
}

export function drawPits(view, spots, memory, mark) {
  const isNarrow = Boolean(memory.narrow);
  const radius = isNarrow ? 42 : 36;
  const isTurned = isUpper(view, memory);
  const { found, width, height, two, store } = places(view, isNarrow, isTurned);
  const isNamed = !two && view.names.length > 0;
  const left = isNamed && !isNarrow ? NAMES : 0;
  const drawing = s("svg", { viewBox: `${-6 - left} -6 ${width + 12 + left} ${height + 12}` },
    s("rect", { class: "wood", x: -4, y: -4, width: width + 8, height: height + 8, rx: 34 }));
  drawing.toggleAttribute("data-narrow", isNarrow);
  drawing.toggleAttribute("data-turned", isTurned);
  view.rows.forEach((row, y) => {
    row.forEach((count, x) => {
      const key = `${y},${x}`;
      const [cx, cy] = found.get(key);
      const pit = s("g", { class: `pit owner-${ownerOf(view, y)}`, transform: `translate(${cx} ${cy - 8})`, "data-key": key },
        s("circle", { class: "hollow", r: radius }));
      content(pit, count, 32, { x: 0, y: radius + 20 });
      mark(pit, spots, [y, x], { x: 0, y: 4 - radius, scale: isNarrow ? 1.5 : 1.05, isTight: isNarrow });
      const name = view.pit_names?.[y]?.[x];
      if (name) pit.append(s("text", { class: "called", x: 3 - CELL / 2, y: isNarrow ? radius + 18 : 6 - radius }, name));
      drawing.append(pit);
    });
    const key = `store,${y}`;
    const [cx, cy] = found.get(key);
    if (isNamed) drawing.append(s("text", { class: "called whose", x: isNarrow ? 8 : -left, y: cy }, capital(nameOf(view, y, memory))));
    const group = s("g", { class: `pit store owner-${ownerOf(view, y)}`, transform: `translate(${cx} ${cy - 8})`, "data-key": key },
      s("rect", { class: "hollow", ...store.box }));
    content(group, view.stores[y], isNarrow ? 24 : 30, store.count);
    drawing.append(group);
  });
  return drawing;
}

// The keys in the order of sowing, anticlockwise; the stores of others are left out.
function ring(view, row) {
  const columns = view.rows[0].map((_, x) => x);
  if (view.rows.length === 2) {
    const round = [
      ...columns.map((x) => `1,${x}`), "store,1", ...columns.toReversed().map((x) => `0,${x}`), "store,0",
    ];
    return round.filter((key) => key !== `store,${1 - row}`);
  }
  return view.rows.flatMap((_, y) => [
    ...columns.map((x) => `${y},${x}`), ...(y === row ? [`store,${y}`] : []),
  ]);
}

const countAt = (view, key) => {
  const [row, place] = key.split(",");
  return row === "store" ? view.stores[place] : view.rows[row][place];
};

// The pits of the drawing in `frame`: where they are, what shows another number in one, and a stone that flies.
function pitsOf(frame, view) {
  const drawing = frame.querySelector("svg");
  const isNarrow = drawing.hasAttribute("data-narrow");
  const { found, store } = places(view, isNarrow, drawing.hasAttribute("data-turned"));
  const groups = new Map([...frame.querySelectorAll("[data-key]")].map((g) => [g.dataset.key, g]));
  const show = (key, count) => {
    const isStore = key.startsWith("store");
    content(groups.get(key), count, isStore ? 24 : 32, isStore ? store.count : { x: 0, y: isNarrow ? 62 : 56 });
  };
  const fly = async (from, to, duration) => {
    const [[x0, y0], [x, y]] = [found.get(from), found.get(to)];
    const stone = s("circle", { class: "stone flying", r: 7.5 });
    drawing.append(stone);
    await stone.animate(
      [
        { transform: `translate(${x0}px, ${y0 - 8}px)` },
        { transform: `translate(${(x + x0) / 2}px, ${Math.min(y, y0) - 46}px)`, offset: 0.5 },
        { transform: `translate(${x}px, ${y - 8}px)` },
      ],
      { duration, easing: "ease-in-out", fill: "forwards" },
    ).finished;
    stone.remove();
  };
  return { keys: [...groups.keys()], show, fly };
}

// Show a step of a move: stones come from the pits that have fewer now, or from the hand, which holds those of
// the pit `hand`. Returns where the hand's are from after it.
export async function movePits(frame, before, after, pace, hand) {
  const { keys, show, fly } = pitsOf(frame, before);
  const gain = (key) => countAt(after, key) - countAt(before, key);
  const [fewer, more] = [keys.filter((key) => gain(key) < 0), keys.filter((key) => gain(key) > 0)];
  for (const key of fewer) show(key, countAt(after, key));
  const from = fewer.length || hand === null ? fewer : [hand];
  await Promise.all(more.flatMap((to) => from.map((key) => fly(key, to, pace * (fewer.length ? 2.5 : 1)))));
  for (const key of more) show(key, countAt(after, key));
  return fewer.length ? fewer[0] : hand;
}

// `frame` shows the new position; show the old one again, sow, and let the rest follow.
export async function sow(frame, before, after, action) {
  const spot = before.spots.find((each) => each.action === action);
  if (!spot) return;
  const [row, place] = spot.place;
  const from = `${row},${place}`;
  const { keys, show, fly } = pitsOf(frame, before);
  const held = new Map(keys.map((key) => [key, countAt(before, key)]));
  for (const [key, count] of held) show(key, count);
  let hand = held.get(from);
  const step = Math.max(30, Math.min(110, 900 / Math.max(hand, 1)));
  show(from, 0);
  held.set(from, 0);
  const round = ring(before, row);
  for (let at = round.indexOf(from) + 1; hand > 0; hand--, at++) {
    const key = round[at % round.length];
    fly(from, key, 2.2 * step).then(() => {
      held.set(key, held.get(key) + 1);
      show(key, held.get(key));
    });
    await pause(step);
  }
  await pause(2.2 * step + 60);
  const different = [...held].filter(([key, count]) => countAt(after, key) !== count);
  if (different.length) await pause(220); // a capture, or a chain: seen as one step
  for (const key of keys) show(key, countAt(after, key));
}
