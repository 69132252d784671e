// The sheet as it is printed: two parts, sums, and a column for each player.

import { h, s } from "./dom.js";
import { die } from "./boards.js";

const FACES = 6;

function smallDie(face) {
  return s("svg", { class: "small-die", viewBox: "0 0 60 60", "aria-hidden": "true" }, die(face));
}

// `columns`: {name, card (sums included), cells(box) -> an element or a text, active}
export function drawSheet(words, boxes, columns, { furtherCell = null } = {}) {
  const row = (kind, name, note, cells, icon = null) =>
    h("tr", { class: kind },
      h("th", { scope: "row" }, h("span", { class: "box-line" }, icon, h("span", {}, name),
        note ? h("span", { class: "box-note" }, note) : null)),
      ...cells.map((cell, n) => h("td", { class: columns[n].active ? "active" : null }, cell)));
  const sums = (kind, name, value) => row(`sum ${kind}`, name, null, columns.map(value));
  const boxRow = (box) =>
    row("box", boxes[box], box < FACES ? words.noteUpper(box) : words.notes[box - FACES],
      columns.map((column) => column.cells(box)), box < FACES ? smallDie(box + 1) : null);
  const part = (name) =>
    h("tr", { class: "part-name" }, h("th", { scope: "colgroup", colspan: columns.length + 1 }, name));
  const numbers = boxes.map((_, box) => box);
  const withFurther = furtherCell || columns.some(({ card }) => card?.further);
  return h("table", { class: `sheet columns-${columns.length}` },
    h("caption", { class: "unseen" }, words.sheet),
    h("thead", {}, h("tr", {}, h("td", {}),
      ...columns.map((column) => h("th", { scope: "col", class: column.active ? "active" : null }, column.name)))),
    h("tbody", {}, part(words.upperPart), ...numbers.slice(0, FACES).map(boxRow),
      sums("", words.sum, ({ card }) => known(card?.upper_part)),
      sums("", words.bonus, ({ card }) => known(card && (card.bonus || bonusSoFar(card)))),
      sums("part-sum", words.upperTotal, ({ card }) => known(card && card.upper_part + card.bonus))),
    h("tbody", {}, part(words.lowerPart), ...numbers.slice(FACES).map(boxRow),
      withFurther ? row("sum", words.further, null,
        columns.map((column, n) => furtherCell?.(n) ?? known(column.card?.further))) : null,
      sums("", words.lowerTotal, ({ card }) => known(card?.lower_part)),
      sums("", words.upperTotal, ({ card }) => known(card && card.upper_part + card.bonus)),
      sums("grand", words.grand, ({ card }) => known(card?.points))));
}

const known = (value) => (value === undefined || value === null ? "" : String(value));

const bonusSoFar = (card) => (card.card.slice(0, FACES).includes(null) ? "" : "0");
