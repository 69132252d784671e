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

export function keepName(words, kept) {
  const faces = facesOf(kept);
  if (faces.length === 0) return [words.keepNone];
  const name = faces.length === 5 ? words.keepAll : words.keepThese(faces.join(" "));
  return [smallDice(faces), unseen(name)];
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

export function heading(words, found, total) {
  const { goal, value, lower, upper } = found;
  const loose = isLoose(found);
  const shown = loose ? words.atLeast(least(lower)) : worth(value, goal);
  const kind = found.plays === "victory" ? "victory" : goal;
  const said = goal === "points" ? words.expected(shown) : words.probable[kind](total, shown);
  const bounds = found.then ? words.then[goal] : loose ? words.between(least(lower), most(upper))
    : upper > lower ? words.within(small(upper - lower)) : words.exact;
  const half = goal === "beat" && !found.then ? `; ${words.drawHalf}` : "";
  return [h("p", { class: "worth" }, said), h("p", { class: "note bounds" }, bounds, half),
    loose && !found.then ? h("p", { class: "note" }, words.inexact) : null];
}

// Why it is not what was asked for, and from when on it will be.
export function tooLarge(words, found) {
  const { goal, seconds, contexts, most: limit, entries } = found.too_large;
  const rounded = (value) => String(Math.ceil(value));
  const times = [rounded(seconds), rounded((seconds * limit) / contexts), entries];
  return h("p", { class: "note too-large", role: "note" },
    found.then ? words.tooLarge(goal, ...times) : words.tooLargeVictory(...times));
}

// The list; `choose` takes one, `all` says whether every one is shown.
export function decisions(words, found, { choose, all, showAll }) {
  const { options, goal } = found;
  const worst = Math.max(...options.map((each) => each.loss), 1e-12);
  const seen = all ? options : options.slice(0, FEW);
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
      h("span", { class: "number" }, loose ? `≥ ${least(option.lower)}` : worth(option.value, goal)),
      h("span", { class: "more" },
        best ? (loose ? words.advised : words.best) : option.loss === 0 ? "" : [h("span", { "aria-hidden": "true" }, `−${worth(option.loss, goal)}`),
          unseen(words.worse(worth(option.loss, goal)))])));
  });
  return [h("ol", { class: "actions with-values" }, ...items),
    options.length > FEW ? h("button", { type: "button", class: "tool", "data-key": "all", onclick: showAll },
      all ? words.fewer : words.all(options.length)) : null];
}

export function working(words, news, stop) {
  const { done, total } = news;
  const bar = h("progress", { "aria-label": words.phase[news.phase] ?? news.phase });
  if (total) [bar.max, bar.value] = [total, done];
  return h("div", { class: "working", role: "status" },
    h("p", {}, words.phase[news.phase] ?? news.phase), bar,
    h("p", { class: "seconds" }, words.seconds(number(news.seconds, { fixed: true, digits: 1 }))),
    h("button", { type: "button", class: "tool", "data-key": "stop", onclick: stop }, words.stop));
}
