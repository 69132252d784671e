// The same answers as the server's, of games whose positions are all in one file: no server needed.

import { Refused } from "./server.js";
import { words } from "./words.js";

const FORMAT = 1;

// Nobody looks ahead here.
export const canSearch = false;

const tables = new Map();

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

// A file of the folder; each time the one that is there now, so that all are of one export.
async function file(path, read, signal) {
  let response;
  try {
    response = await fetch(path, { signal, cache: "no-cache" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(words.unreachable, 0);
  }
  try {
    if (response.ok) return await read(response);
  } catch (error) {
    if (error.name === "AbortError") throw error;
  }
  throw new Refused(words.badFile(path), response.status);
}

// The data of a file that is packed, unless a server has unpacked it on the way.
async function unpacked(response) {
  const packed = await response.blob();
  const [first] = new Uint8Array(await packed.slice(0, 1).arrayBuffer());
  if (first !== 0x1f) return JSON.parse(await packed.text());
  return new Response(packed.stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

function demand(what) {
  if (!what) throw new Error("damaged");
}

let listed = [];

// There is no server that a page of its own could ask.
export const pages = async () => [];

export async function games() {
  listed = await file("data/games.json", async (response) => {
    const found = await response.json();
    for (const { name, file: path, surface: figure, parameters, given } of found) {
      demand(name && (path || figure) && parameters && given);
    }
    return found;
  });
  return listed;
}

// All that is used of a table is there, and it is that of the game.
function check(table, game) {
  const { positions, starts } = table;
  demand(table.format === FORMAT && table.game.name === game.name && starts.length);
  for (const { name, default: value } of game.parameters) demand(same(value, table.game.parameters[name]));
  for (const { position: place } of starts) demand(positions[place]);
  for (const { actions, over } of positions) {
    demand(over || actions.length);
    for (const { chance } of actions) for (const { next } of chance) demand(positions[next]);
  }
  return table;
}

const gameOf = (name) => listed.find((each) => each.name === name);

async function tableOf(name, { parameters = {} }, signal) {
  if (!tables.has(name)) {
    const read = async (response) => check(await unpacked(response), gameOf(name));
    tables.set(name, await file(gameOf(name).file, read, signal));
  }
  const table = tables.get(name);
  const isOther = Object.entries(parameters).some(([key, value]) => !same(value, table.game.parameters[key]));
  if (isOther) throw new Refused(words.otherRules, 422);
  return table;
}

// Numbers from 0 to 1 that the seed and the ply determine (mulberry32).
function chanceBy(seed, ply) {
  let state = (seed ^ Math.imul(ply + 1, 0x9e3779b9)) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

// One of some things that have a probability.
function drawn(random, things) {
  let left = random();
  for (const thing of things) {
    left -= thing.probability;
    if (left < 0) return thing;
  }
  return things.at(-1);
}

function begun(table, start) {
  if (start?.state !== undefined) {
    const place = table.positions.findIndex((each) => same(each.state, start.state));
    if (place < 0) throw new Refused(words.badAddress, 422);
    return { place, start };
  }
  const number = start?.drawn
    ?? table.starts.indexOf(drawn(chanceBy(start?.seed ?? 0, 2 ** 20), table.starts));
  if (!(Number.isInteger(number) && number in table.starts)) throw new Refused(words.badAddress, 422);
  return { place: table.starts[number].position, start: table.starts.length === 1 ? null : { drawn: number } };
}

function step(position, action, outcome) {
  const entry = position.actions.find((each) => each.action === action);
  const chance = entry?.chance.find((each) => each.outcome === outcome);
  if (!chance) throw new Refused(words.badAddress, 422);
  return { entry, chance };
}

// All that has happened along a line.
function follow(table, line) {
  const { place, start } = begun(table, line.start);
  const steps = [];
  let position = table.positions[place];
  let earned = Array(position.players).fill(0);
  line.actions.forEach((action, ply) => {
    const { entry, chance } = step(position, action, line.outcomes[ply]);
    steps.push({ position, entry, chance, earned });
    earned = earned.map((sum, player) => sum + entry.rewards[player]);
    position = table.positions[chance.next];
  });
  return { position, earned, steps, line: { ...line, start } };
}

const finite = (payoffs, earned) => payoffs?.map((each, player) => Number(each) + earned[player]) ?? null;

function choose(player, position, random) {
  if (player.kind === "search") throw new Refused(words.noSearch, 422);
  const errs = player.kind === "random" || (player.kind === "mistaken" && random() < player.chance);
  const from = errs ? position.actions.map((each) => each.action) : position.chosen;
  return from[Math.floor(random() * from.length)];
}

export async function position(name, body, signal) {
  const { line, then = null } = body;
  const table = await tableOf(name, body, signal);
  const now = follow(table, line);
  let played = null;
  let pending = null;
  if (then) {
    const random = chanceBy(then.seed ?? 0, line.actions.length);
    const action = then.player ? choose(then.player, now.position, random) : then.action;
    const entry = now.position.actions.find((each) => each.action === action);
    if (!entry) throw new Refused(words.badAddress, 422);
    if (then.by_hand && entry.chance.length > 1) {
      pending = { action, name: entry.name, chance: entry.chance };
    } else {
      const outcome = then.outcome ?? drawn(random, entry.chance).outcome;
      const { chance } = step(now.position, action, outcome);
      played = {
        mover: now.position.mover, action, name: entry.name, outcome, outcome_name: chance.name,
        probability: chance.probability, forced: now.position.actions.length === 1,
      };
      const longer = {
        ...now.line, actions: [...line.actions, action], outcomes: [...line.outcomes, outcome],
      };
      Object.assign(now, follow(table, longer));
    }
  }
  const payoffs = finite(now.position.payoffs, now.earned);
  return {
    ...now.position, game: table.game, line: now.line, played, previous: now.steps.at(-1)?.position.view ?? null,
    steps: now.steps.at(-1)?.chance.steps ?? [], pending, earned: now.earned, payoffs,
    range: table.range, basis: table.basis,
  };
}

// What every player gets in all, from what stands at a position and what has been earned.
function valuesOf(position, earned) {
  if (position.over) return finite(position.payoffs, earned);
  const values = [];
  for (const { player, number } of position.each) values[player] = Number(number) + earned[player];
  return values;
}

export async function history(name, body, signal) {
  const { line } = body;
  const table = await tableOf(name, body, signal);
  const now = follow(table, line);
  const plies = now.steps.map(({ position: before, entry, chance, earned }, ply) => {
    const { mover } = before;
    const chosen = Number(entry.number);
    const best = before.actions.filter((each) => each.best !== "no");
    return {
      ply, mover, action: entry.action, name: entry.name, outcome: chance.outcome,
      outcome_name: chance.name, probability: chance.probability,
      forced: before.actions.length === 1, before: Number(before.value.number),
      chosen, after: Number(chance.number),
      choice: entry.loss ? -Number(entry.loss) : 0,
      luck: entry.chance.length > 1 ? Number(chance.number) - chosen : 0,
      best: best.map((each) => each.action), best_name: best[0]?.name ?? null,
      mistake: entry.best === "no" && Number(entry.loss) > 0, values: valuesOf(before, earned),
    };
  });
  const players = Array.from({ length: now.position.players }, (_, player) => {
    const own = plies.filter((ply) => ply.mover === player);
    const sum = (numbers) => numbers.reduce((total, each) => total + each, 0);
    return {
      player, choices: own.filter((ply) => !ply.forced).length,
      mistakes: own.filter((ply) => ply.mistake).length,
      cost: -sum(own.map((ply) => ply.choice)) || 0, luck: sum(own.map((ply) => ply.luck)),
    };
  });
  const mistakes = plies.filter((ply) => ply.mistake).sort((one, other) => one.choice - other.choice);
  return {
    kind: "table", plies, values: valuesOf(now.position, now.earned), over: now.position.over,
    payoffs: finite(now.position.payoffs, now.earned), players,
    mistakes: mistakes.map((ply) => ply.ply),
  };
}

export async function puzzles(name, body, signal) {
  const { game, basis, puzzles: found = [] } = await tableOf(name, body, signal);
  return { game, basis, puzzles: found };
}

export const surface = (name, query, signal) =>
  file(gameOf(name).surface.file, (response) => response.arrayBuffer(), signal);
