// The sheet as it is printed: two parts, sums, and a column for each player; dice, and fields.

import { focusOn, h, s } from "../../static/dom.js";
import { die, draw } from "../../static/boards.js";
import { facesOf } from "./advice.js";

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
    row("box", boxes[box], box < FACES ? words.noteUpper(boxes[box]) : words.notes[box - FACES],
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

export function oneDie(face, n, label, press, pressed) {
  const slot = h("span", { class: "slot" });
  slot.append(draw({ kind: "dice", faces: [face], kept: [pressed === true], spots: [] }, "", {}));
  return h("button", {
    type: "button", class: `die-button${pressed ? " stays" : ""}`, "data-key": `die-${n}`, "aria-label": label,
    "aria-pressed": pressed === null ? null : String(pressed), onclick: press,
  }, slot);
}

// What real dice show: so many faces, besides those that stay, typed or tapped. The last one enters them.
export function typing(words, who, stay, wanted, take) {
  // Where a finger taps, a keyboard on the screen would cover the faces.
  const keyboard = matchMedia("(pointer: coarse)").matches ? "none" : "numeric";
  const change = () => {
    const faces = facesOf(input.value);
    const isWrong = faces.length !== input.value.trim().length || faces.length > wanted;
    said.textContent = isWrong ? words.notDice(wanted) : words.missing(wanted - faces.length);
    if (!isWrong && faces.length === wanted) take(faces);
  };
  const input = h("input", { id: "typed", type: "text", inputmode: keyboard, autocomplete: "off", maxlength: 5, size: 6,
    "data-key": "throw", "aria-describedby": "typed-said", oninput: change });
  const said = h("p", { id: "typed-said", class: "note", role: "status" }, words.missing(wanted));
  const set = (text) => {
    input.value = text;
    change();
  };
  return h("form", { class: "typing", onsubmit: (event) => event.preventDefault() },
    h("label", { for: "typed" }, who, " ", stay.length ? words.typedKept(stay.join(" ")) : words.typed),
    h("span", { class: "typed-line" }, input,
      h("button", { type: "button", class: "tool", "aria-label": words.back1, onclick: () => { set(input.value.slice(0, -1)); focusOn(input); } }, "⌫"), said),
    h("div", { class: "faces", role: "group", "aria-label": words.tap }, ...[1, 2, 3, 4, 5, 6].map((face) =>
      h("button", { type: "button", class: "face-button", "data-key": "throw", "aria-label": String(face), onclick: () => set(input.value + face) },
        s("svg", { class: "face", viewBox: "0 0 60 60", "aria-hidden": "true" }, die(face))))));
}

export function select(id, label, options, value, change) {
  return h("div", { class: "field" }, h("label", { for: id }, label),
    h("select", { id, "data-key": id, onchange: change && ((event) => change(event.target.value)) },
      ...options.map(([key, name]) => h("option", { value: key, selected: key === value }, name))));
}
