// The whole game in the page's address: `#name/` and base64url of compact JSON.

export function toAddress(name, rest) {
  const text = JSON.stringify(rest);
  if (text === "{}") return `#${encodeURIComponent(name)}`;
  let bytes = "";
  for (const byte of new TextEncoder().encode(text)) bytes += String.fromCharCode(byte);
  const code = btoa(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  return `#${encodeURIComponent(name)}/${code}`;
}

// null if it names no game; {name, rest: null} if the rest cannot be read. `#name/puzzles` lists the puzzles.
export function fromAddress(hash) {
  const [name, ...parts] = hash.replace(/^#/, "").split("/");
  if (!name) return null;
  const isPuzzles = parts[0] === "puzzles";
  const code = parts[isPuzzles ? 1 : 0];
  try {
    const known = decodeURIComponent(name);
    if (!code) return { name: known, rest: {}, isPuzzles };
    const bytes = atob(code.replaceAll("-", "+").replaceAll("_", "/"));
    const text = new TextDecoder().decode(Uint8Array.from(bytes, (c) => c.charCodeAt(0)));
    const rest = JSON.parse(text);
    const good = rest !== null && typeof rest === "object" && !Array.isArray(rest);
    return { name: known, rest: good ? rest : null, isPuzzles };
  } catch {
    return { name, rest: null };
  }
}

export const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

export const defaultsOf = (game) => Object.fromEntries(game.parameters.map((each) => [each.name, each.default]));

// All parameters of a game of which some are chosen. A link has all, for it may be opened where others are given.
export const stated = (game, chosen) => ({ ...defaultsOf(game), ...game.given, ...chosen });

// Those of a link that are not the game's own here.
export function chosenOf(game, all) {
  const own = stated(game, {});
  return Object.fromEntries(Object.entries(all).filter(([name, value]) => !same(value, own[name])));
}

// The game's own part: parameters, start, actions, outcomes; zeros at the end are left out.
export function packed(parameters, line) {
  const outcomes = [...line.outcomes];
  while (outcomes.at(-1) === 0) outcomes.pop();
  const rest = {};
  if (Object.keys(parameters).length) rest.p = parameters;
  if (line.start !== null && line.start !== undefined) rest.s = line.start;
  if (line.actions.length) rest.a = line.actions;
  if (outcomes.length) rest.o = outcomes;
  return rest;
}

// How many plies two lines share.
export function shared(one, other) {
  const apart = one.actions.findIndex((action, ply) =>
    action !== other.actions[ply] || one.outcomes[ply] !== other.outcomes[ply]);
  return apart < 0 ? one.actions.length : apart;
}

// Where each branch leaves another line: of the line itself (0) and the branches before it (from 1),
// the one with which it has the most plies in common.
export function tree(line, branches) {
  const lines = [line];
  return branches.map((branch) => {
    const common = lines.map((each) => shared(branch, each));
    const at = Math.max(...common);
    lines.push(branch);
    return { branch, of: common.indexOf(at), at };
  });
}

// A branch is the number of the line that it leaves, after how many plies, and what follows then.
export const packedBranches = (line, branches) =>
  tree(line, branches).map(({ branch, of, at }) => ({
    ...(of ? { w: of } : {}), ...(at ? { f: at } : {}),
    ...packed({}, { start: null, actions: branch.actions.slice(at), outcomes: branch.outcomes.slice(at) }),
  }));

export function unpackedBranches(given, line) {
  const lines = [line];
  for (const each of given) {
    const { w = 0, f = 0 } = Object(each);
    const own = unpacked(Object(each))?.line;
    const from = Number.isSafeInteger(w) ? lines[w] : null;
    const isGood = own && from && Number.isSafeInteger(f) && f >= 0 && f <= from.actions.length;
    lines.push(isGood ? {
      start: null, actions: [...from.actions.slice(0, f), ...own.actions],
      outcomes: [...from.outcomes.slice(0, f), ...own.outcomes],
    } : null);
  }
  return lines.slice(1).filter(Boolean);
}

const list = (value) => (Array.isArray(value) && value.every(Number.isSafeInteger) ? value : null);

export function unpacked(rest) {
  const actions = list(rest.a ?? []);
  const given = list(rest.o ?? []);
  const parameters = rest.p ?? {};
  if (!actions || !given || given.length > actions.length || typeof parameters !== "object"
    || Array.isArray(parameters)) {
    return null;
  }
  const outcomes = actions.map((_, ply) => given[ply] ?? 0);
  return { parameters, line: { start: rest.s ?? null, actions, outcomes } };
}
