// What a value means to a player: a chance to win, a result, a lead or a sum, in the unit of the game.
//
// Nothing is said that is not proven: a bound says so, and so does an estimate of a search.

import { counted, number, words } from "./words.js";

const LARGE_LOSS = 0.25; // of all there is to win: as bad as colours say
const UNIT = "\u00a0%"; // not broken from its number
const ONE_DIGIT = { digits: 1 };
const OPPOSITE = { "≤": "≥", "≥": "≤", "≲": "≳", "≳": "≲" };
const LIKELY = { "≤": "≲", "≥": "≳" };

const stakesOf = (now) => now.basis.stakes ?? {};
const shareOf = ({ low, high }, value) => (value - Number(low)) / (Number(high) - Number(low));
const isShare = (stakes) => stakes.kind === "win" || stakes.kind === "result";
const isFinal = (stakes, value) => isShare(stakes) && stakes.certain
  && [0, 0.5, 1].includes(shareOf(stakes, value));

// Of what is only just possible, or all but certain, no more is said than that.
export function percent(share) {
  if (share > 0 && share < 0.0005) return `< ${number(0.1)}${UNIT}`;
  if (share < 1 && share >= 0.9995) return `> ${number(99.9)}${UNIT}`;
  return `${number(100 * share, { digits: share === 1 || share === 0 ? 0 : 1 })}${UNIT}`;
}

function amount(size) {
  return size > 0 && size < 0.05 ? `< ${number(0.1, ONE_DIGIT)}` : number(size, ONE_DIGIT);
}

export const resultOf = (stakes, value) => ["loss", "draw", "win"][2 * shareOf(stakes, value)];

// "54.0 % to win", "2 stones ahead", "12.4 more points", "wins in 3".
function phrase(now, value, { ends, plies }, isOfPlayer) {
  const [lengths, results] = isOfPlayer ? [words.stands, words.standResults] : [words.ends, words.results];
  const stakes = stakesOf(now);
  const hasLength = ends && plies !== null && Number.isFinite(Number(plies));
  if (hasLength && isShare(stakes)) return lengths[ends](plies);
  if (isFinal(stakes, value)) return results[resultOf(stakes, value)];
  if (stakes.kind === "win") return words.toWin(percent(shareOf(stakes, value)));
  if (stakes.kind === "result") return words.ofThePoint(percent(shareOf(stakes, value)));
  const size = counted(Math.abs(value), amount(Math.abs(value)));
  if (stakes.kind === "lead") {
    return value === 0 ? words.level : value > 0 ? words.ahead(size) : words.behind(size);
  }
  const sum = (value < 0 ? "−" : "") + size;
  return stakes.rewards ?? now.earned.some(Number) ? words.more(sum) : sum;
}

// Whether a search has only estimated it: its bounds, if it has found any, prove less.
function isGuess(now, { relation, number: value, lower, upper }) {
  if (now.basis.kind !== "search" || now.over) return false;
  const [low, high] = [lower ?? -Infinity, upper ?? Infinity].map(Number);
  if (relation === "≤") return high > Number(value);
  if (relation === "≥") return low < Number(value);
  return high > low;
}

function signOf(now, entry) {
  const { relation } = entry;
  const isKnown = !isGuess(now, entry);
  if (relation && relation !== "=") return isKnown ? relation : LIKELY[relation];
  return isKnown ? "" : "≈";
}

// Of an action; or, as a noun, of a player.
export function said(now, entry, isOfPlayer = false) {
  if (entry.number === null) return words.unknown;
  const [value, sign] = [Number(entry.number), signOf(now, entry)];
  const isBehind = stakesOf(now).kind === "lead" && value < 0; // a number of at most -2: behind by 2 at least
  return (words.bounds[isBehind ? OPPOSITE[sign] ?? sign : sign] ?? "") + phrase(now, value, entry, isOfPlayer);
}

// What an action costs, beside the best; nothing where its result says it already.
export function costOf(now, entry) {
  if (entry.number === null || entry.best !== "no" || !(Number(entry.loss) > 0) || isResult(now)) return "";
  const own = signOf(now, entry);
  const known = isGuess(now, now.value) ? { "": "≈", ...LIKELY }[own] ?? own : own; // beside the best, which is one
  const sign = OPPOSITE[known] ?? known;
  return words.loses((words.bounds[sign] ?? "") + change(now, entry.loss, false));
}

// Without chance, a solved game is won, drawn or lost.
export const isResult = (now) => isShare(stakesOf(now)) && stakesOf(now).certain;

// What a mistake has made of a position; short, as it stands in a list.
export function fallOf(now, ply, isShort) {
  const stakes = stakesOf(now);
  if (!isResult(now)) return isShort ? change(now, ply.choice) : words.itCost(change(now, -ply.choice, false));
  const [from, to] = [ply.before, ply.chosen].map((value) => resultOf(stakes, Number(value)));
  return isShort ? `${words.letters[from]} → ${words.letters[to]}` : words.itTurned(words.standResults[from], words.standResults[to]);
}

// As short as it fits on a board; `tiny`, also on a match.
export function short(now, entry, tiny = false) {
  if (entry.number === null) return "?";
  const [stakes, value] = [stakesOf(now), Number(entry.number)];
  const sign = tiny || !signOf(now, entry) ? "" : `${signOf(now, entry)} `;
  const length = entry.plies !== null && Number.isFinite(Number(entry.plies)) ? entry.plies : "";
  if (isFinal(stakes, value)) {
    const letter = words.letters[resultOf(stakes, value)];
    return tiny ? letter : `${sign}${letter} ${length}`.trim();
  }
  if (isShare(stakes)) {
    return tiny ? number(Math.round(100 * shareOf(stakes, value))) : sign + percent(shareOf(stakes, value));
  }
  return sign + number(value, { sign: stakes.kind === "lead", digits: tiny ? 0 : 1 });
}

// A difference of values, as it is shown beside what caused it.
export function change(now, value, sign = true) {
  const stakes = stakesOf(now);
  if (!isShare(stakes)) {
    const text = number(value, { sign, digits: 2 });
    return sign ? text : counted(Number(value), text);
  }
  if (stakes.certain) return number(value / (Number(stakes.high) - Number(stakes.low)), { sign, digits: 1 });
  return `${number(100 * (value / (Number(stakes.high) - Number(stakes.low))), { sign, digits: 1 })}${UNIT}`;
}

// How far a chart reaches: over what occurs, and not over less than a twentieth of all there is to win.
export function spanOf(now, values) {
  const stakes = now ? stakesOf(now) : {};
  if (isShare(stakes) && (stakes.certain || !values.length)) return [Number(stakes.low), Number(stakes.high)];
  let [low, high] = values.length ? [Math.min(...values), Math.max(...values)] : [0, 1];
  const least = isShare(stakes) ? (Number(stakes.high) - Number(stakes.low)) / 20 : 1;
  const lacks = (least - (high - low)) / 2;
  if (lacks > 0) [low, high] = [low - lacks, high + lacks];
  if (!isShare(stakes)) return [low, high];
  const shift = Math.max(0, Number(stakes.low) - low) - Math.max(0, high - Number(stakes.high));
  return [low + shift, high + shift];
}

// The numbers beside a chart.
export function ticksOf(now, [low, high]) {
  const stakes = now ? stakesOf(now) : {};
  const values = stakes.kind === "win" && stakes.certain ? [low, high] : [low, (low + high) / 2, high];
  const text = (value) => {
    if (!isShare(stakes)) return number(value, { digits: 1, sign: stakes.kind === "lead" });
    if (stakes.certain) return words.results[resultOf(stakes, value)];
    const percents = 100 * shareOf(stakes, value);
    return number(percents, { digits: shareOf(stakes, high) - shareOf(stakes, low) < 0.1 ? 1 : 0, fixed: true }) + UNIT;
  };
  return values.map((value) => [value, text(value)]);
}

// Won, drawn or lost where that is certain; else by the loss: 0 for the best, 1 for the worst.
export function toneOf(now, entry) {
  if (entry.number === null || isGuess(now, entry) && entry.loss === null) return { tone: "unknown" };
  const [stakes, value] = [stakesOf(now), Number(entry.number)];
  if (entry.relation === "=" && isFinal(stakes, value)) return { tone: resultOf(stakes, value) };
  const losses = now.actions.map(({ loss }) => Number(loss ?? 0));
  const most = isShare(stakes) ? LARGE_LOSS * (Number(stakes.high) - Number(stakes.low)) : Math.max(...losses, 1e-9);
  return { tone: "scale", loss: Math.min(1, Number(entry.loss ?? 0) / most) };
}

// The whole numbers of halves, where a duel is balanced; null where that is unknown.
export function balanceOf(now, value, around) {
  const stakes = stakesOf(now);
  if (isShare(stakes)) return shareOf(stakes, value);
  if (stakes.kind !== "lead") {
    const [low, high] = now.range?.map(Number) ?? [0, 0];
    return high > low ? (value - low) / (high - low) : null;
  }
  const some = Math.max(...(now.range ?? [1]).map((limit) => Math.abs(Number(limit)))) / 4;
  return 0.5 + value / (2 * Math.max(around, Math.abs(value), some));
}
