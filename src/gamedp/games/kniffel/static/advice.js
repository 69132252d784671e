// Every decision with its worth, the best one first; and what there is to say while it is worked out.

import { h, unseen } from "../../static/dom.js";
import { draw } from "../../static/boards.js";
import { number, small } from "../../static/words.js";

const FEW = 6;

export function smallDice(faces) {
  const drawing = draw({ kind: "dice", faces, kept: [], spots: [] }, "", {});
  drawing.removeAttribute("role");
  drawing.removeAttribute("aria-label");
  drawing.setAttribute("aria-hidden", "true");
  drawing.classList.add("small-dice", `dice-${faces.length}`);
  return drawing;
}

export const facesOf = (text) => [...text].filter((each) => /[1-6]/.test(each)).map(Number);

function keepWords(words, faces) {
  if (faces.length === 0) return words.keepNone;
  return faces.length === 5 ? words.keepAll : words.keepThese(faces.join(" "));
}

export const nameOf = (words, option) => (option.kept === undefined ? option.name : keepWords(words, facesOf(option.kept)));

export function keepName(words, kept) {
  const faces = facesOf(kept);
  const name = keepWords(words, faces);
  return faces.length ? [smallDice(faces), unseen(name)] : [name];
}

export function worth(value, goal) {
  if (goal === "points") return number(value, { fixed: true });
  return `${number(100 * value, { fixed: true, digits: 2 })} %`;
}

// What is only known to lie on one side of a number, rounded to that side.
const least = (value) => worth(Math.floor(1e4 * value) / 1e4);
const most = (value) => worth(Math.ceil(1e4 * value) / 1e4);

const isLoose = ({ goal, exact }) => goal !== "points" && !exact;

// Of bounds, none shows which decision is best: the first one is advised.
export const isBest = (found, option) => option.loss === 0 && (!isLoose(found) || option === found.options[0]);

// As a player says it: points, or the chance of the goal, with one digit. Of a bound, on its side of the number.
export function said(value, goal, round = (each) => each) {
  return goal === "points" ? number(value, { fixed: true, digits: 1 })
    : `${number(round(1e3 * value) / 10, { fixed: true, digits: 1 })} %`;
}

export function cost(loss, goal) {
  const size = goal === "points" ? loss : 100 * loss;
  return size < 0.05 ? `< ${number(0.1, { digits: 1 })}${goal === "points" ? "" : " %"}` : said(loss, goal);
}

export function heading(words, found, total) {
  const { goal, value, lower } = found;
  const shown = isLoose(found) ? words.atLeast(said(lower, goal, Math.floor)) : said(value, goal);
  const kind = found.plays === "victory" ? "victory" : goal;
  return h("p", { class: "worth" }, goal === "points" ? words.expected(shown) : words.probable[kind](total, shown));
}

// Every digit, what is proven of it, and why it is not what was asked for, if it is not.
export function exactly(words, found, options, fold) {
  const { goal, lower, upper, value } = found;
  const loose = isLoose(found);
  const bounds = found.then ? words.then[goal] : loose ? words.between(least(lower), most(upper))
    : upper > lower ? words.within(small(upper - lower)) : words.exact;
  const half = goal === "beat" && !found.then ? `; ${words.drawHalf}` : "";
  const cells = ({ value: its, lower: low, upper: high, loss }) =>
    (loose ? [least(low), most(high)] : [worth(its, goal), loss ? `−${worth(loss, goal)}` : worth(0, goal)]);
  const heads = [words.choices, ...(loose ? words.exactHeads.slice(2, 4) : [words.exactHeads[1], words.exactHeads[4]])];
  return h("details", { class: "exact", open: fold.open, ontoggle: (event) => (fold.open = event.target.open) },
    h("summary", { "data-key": "exact" }, words.exact0),
    h("p", { class: "note bounds" }, loose ? "" : `${worth(value, goal)}: `, bounds, half),
    loose && !found.then ? h("p", { class: "note" }, words.inexact) : null,
    found.too_large ? tooLarge(words, found) : null,
    options.length ? h("div", { class: "exact-table" }, h("table", {},
      h("thead", {}, h("tr", {}, ...heads.map((head) => h("th", { scope: "col" }, head)))),
      h("tbody", {}, ...options.map((option) => h("tr", {},
        h("th", { scope: "row" }, nameOf(words, option)), ...cells(option).map((cell) => h("td", {}, cell))))))) : null);
}

// Why it is not what was asked for, and from when on it will be.
function tooLarge(words, found) {
  const { goal, seconds, contexts, most: limit, entries } = found.too_large;
  const rounded = (value) => String(Math.ceil(value));
  const times = [rounded(seconds), rounded((seconds * limit) / contexts), entries];
  return h("p", { class: "note too-large" },
    found.then ? words.tooLarge(goal, ...times) : words.tooLargeVictory(...times));
}

export const seenOf = ({ options }, all) => (all ? options : options.slice(0, FEW));

// The list; `choose` takes one, `all` says whether every one is shown.
export function decisions(words, found, { choose, all, showAll }) {
  const { options, goal } = found;
  const worst = Math.max(...options.map((each) => each.loss), 1e-12);
  const seen = seenOf(found, all);
  const loose = isLoose(found);
  const items = seen.map((option, n) => {
    const best = isBest(found, option);
    const bar = h("span", { class: "bar-full" });
    bar.style.width = `${Math.max(2, 100 * (1 - option.loss / worst))}%`;
    const isKeep = option.kept !== undefined;
    const name = option.entry ? [words.enterNow(option.entry.name, option.entry.points)]
      : isKeep ? keepName(words, option.kept) : [option.name];
    return h("li", {}, h("button", {
      type: "button",
      class: `action${best ? " is-best" : ""}`,
      "data-key": `option-${n}`,
      onclick: () => choose(option),
    },
      h("span", { class: "name" }, ...name,
        isKeep ? null : h("span", { class: "entry-points" }, ` ${words.points(option.points)}`)),
      h("span", { class: "star", "aria-hidden": "true" }, best ? "★" : ""),
      h("span", { class: "bar", "aria-hidden": "true" }, bar),
      h("span", { class: "number" }, loose ? `≥ ${said(option.lower, goal, Math.floor)}` : said(option.value, goal)),
      h("span", { class: "more" },
        best ? (loose ? words.advised : words.best) : option.loss === 0 ? "" : words.loses(cost(option.loss, goal)))));
  });
  return [h("ol", { class: "actions with-values" }, ...items),
    options.length > FEW ? h("button", { type: "button", class: "tool", "data-key": "all", onclick: showAll },
      all ? words.fewer : words.all(options.length)) : null];
}

// `left` is how many seconds more it takes, as far as that is known.
export function working(words, news, left, stop) {
  const { done, total } = news;
  const bar = h("progress", { "aria-label": words.phase[news.phase] ?? news.phase });
  if (total) [bar.max, bar.value] = [total, done];
  return h("div", { class: "working", role: "status" },
    h("p", {}, words.phase[news.phase] ?? news.phase), bar,
    h("p", { class: "seconds" }, left === null ? words.seconds(number(news.seconds, { fixed: true, digits: 1 })) : words.left(left)),
    h("button", { type: "button", class: "tool", "data-key": "stop", onclick: stop }, words.stop));
}

// How much of a table of `total` tiers is done: of that many boxes, as many sets are filled as binomials count.
function shareOf({ done, total }) {
  let [size, sum] = [1, 0];
  for (let tier = 0; tier < done; tier++) {
    sum += size;
    size *= (total - 1 - tier) / (tier + 1);
  }
  return sum / 2 ** (total - 1);
}

// How many seconds a table takes from now on, by how far it has come since it was first heard of; null if that is not far.
export function secondsLeft(news, first) {
  if (!first || !news.total) return null;
  const done = shareOf(news) - shareOf(first);
  return done > 0.02 ? Math.ceil(((1 - shareOf(news)) * (news.seconds - first.seconds)) / done) : null;
}
