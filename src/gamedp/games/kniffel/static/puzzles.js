// Puzzles: the list of them, each with a link of its own; and what is said of a decision.

import { h } from "../../static/dom.js";
import { number } from "../../static/words.js";
import { cost, facesOf, nameOf, smallDice } from "./advice.js";
import { LETTERS, sorted } from "./game.js";
import { DEFAULTS, hashOf } from "./settings.js";

// The address of one of the puzzles, which are counted from 1; after the last comes the first.
export function addressOf(puzzles, n, rules) {
  const place = (n - 1) % puzzles.length;
  return `#${hashOf({ ...DEFAULTS, rules, puzzle: String(place + 1), game: puzzles[place].game })}`;
}

export function drawPuzzles(words, puzzles, rules) {
  return h("ol", { class: "puzzle-list" }, ...puzzles.map(({ round, throw: times, dice, choices, gap }, n) => {
    const points = number(Math.floor(10 * gap) / 10, { fixed: true, digits: 1 });
    return h("li", {}, smallDice(facesOf(dice)),
      h("h2", {}, h("a", { href: addressOf(puzzles, n + 1, rules) }, words.puzzle(n + 1))),
      h("p", { class: "note" }, words.puzzleAt(round, times)), h("p", {}, words.puzzleGap(choices, points)));
  }));
}

// What is said of what was tried: the dice that stay, or the letter of a box; null if it is no decision here.
export function verdict(words, { options }, tried) {
  if (!/^(0|[1-6]+|[a-m])$/.test(tried)) return null;
  const box = LETTERS.indexOf(tried);
  const wanted = (kept) => (box >= 0 ? facesOf(kept).length === 5 : sorted(facesOf(kept)) === sorted(facesOf(tried)));
  const chosen = options.find((each) => (each.kept === undefined ? each.box === box : wanted(each.kept)));
  const isEarly = box >= 0 && chosen?.kept !== undefined; // all dice are kept until the entry, at best
  if (!chosen || (isEarly && !chosen.loss)) return null;
  const name = nameOf(words, chosen);
  const lost = cost(chosen.loss, "points");
  if (isEarly) return words.puzzleEarly(lost);
  return chosen.loss ? words.puzzleFailed(name, lost)
    : words.puzzleSolved(name, options[1]?.loss ? cost(options[1].loss, "points") : "");
}
