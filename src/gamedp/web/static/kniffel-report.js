// The whole game afterwards: each decision beside the best one, counts by what they lost, and why.

import { h } from "./dom.js";
import { keepName, smallDice, facesOf } from "./kniffel-advice.js";
import { number } from "./words.js";

const points = (value, sign = false) => number(value, { fixed: true, digits: 4, sign });

function table(head, rows, foot = null, kind = "") {
  return h("div", { class: `report ${kind}`, tabindex: "0", role: "region", "aria-label": head.label },
    h("table", {}, h("caption", { class: "unseen" }, head.label),
      head.cells.some(Boolean) ? h("thead", {}, h("tr", {}, ...head.cells.map((cell) =>
        cell ? h("th", { scope: "col" }, cell) : h("td", {})))) : null,
      h("tbody", {}, ...rows), foot ? h("tfoot", {}, ...foot) : null));
}

const line = (name, ...cells) =>
  h("tr", {}, h("th", { scope: "row" }, name), ...cells.map((cell) => h("td", {}, cell)));

// The summary, and all decisions; `why(decision)` resolves to what the server tells of one.
export function drawReport(words, reports, { over, why, onlyLosses, filter }) {
  const names = reports.map((_, n) => (reports.length > 1 ? words.player(n + 1) : ""));
  const balance = [["start"], ["luck", true], ["loss"], ["now"]].map(([kind, sign], n) => {
    const name = kind === "now" && over ? words.reportRows[3] : words.reportRows[n === 3 ? 4 : n];
    return line(name, ...reports.map((each) =>
      kind === "now" && over ? String(each.points)
        : kind === "loss" ? points(-each.loss) : points(each[kind], sign)));
  });
  const means = [
    line(words.choices, ...reports.map((each) => String(each.choices))),
    line(words.mean, ...reports.map((each) => points(each.mean_loss))),
  ];
  const classes = words.classes.map((name, n) =>
    line(name, ...reports.map((each) => String(each.classes[n]))));
  const summary = [
    h("h2", { tabindex: "-1", "data-key": "report" }, words.report),
    h("div", { class: "summary" },
      table({ label: words.report, cells: ["", ...names] }, balance, means),
      table({ label: words.classHead[0], cells: [words.classHead[0], ...names] }, classes)),
    h("p", { class: "note" }, words.goodMean),
  ];
  const all = [
    h("h2", {}, words.all13),
    h("label", { class: "toggle" },
      h("input", { type: "checkbox", checked: onlyLosses, "data-key": "only", onchange: filter }),
      h("span", { class: "slide", "aria-hidden": "true" }), words.onlyLosses),
    ...reports.flatMap((each, n) => [
      names[n] ? h("h3", {}, names[n]) : null, lines(words, each, onlyLosses, why, names[n])]),
  ];
  return { summary, all };
}

function lines(words, report, onlyLosses, why, name) {
  const seen = report.decisions.filter((each) => !onlyLosses || each.loss > 0);
  if (seen.length === 0) return h("p", { class: "note" }, words.noMistakes);
  const rows = seen.flatMap((each) => {
    const loss = h("td", { class: each.loss > 0 ? "lost" : null, "data-label": words.lineHead[7] }, each.loss > 0 ? points(each.loss) : "–");
    const row = h("tr", { class: "line" },
      h("th", { scope: "row", "data-label": words.lineHead[0] }, String(each.round)),
      h("td", { "data-label": words.lineHead[1] }, String(each.throw)),
      h("td", {}, smallDice(facesOf(each.dice)), h("span", { class: "unseen" }, each.dice)),
      h("td", { "data-label": words.lineHead[3] }, ...named(words, each.chosen)), h("td", {}, points(each.chosen.value)),
      h("td", { "data-label": words.lineHead[5] }, ...named(words, each.best)), h("td", {}, points(each.best.value)), loss);
    if (each.loss > 0) {
      const ask = h("button", {
        type: "button", class: "why", "aria-expanded": "false",
        "aria-label": words.whyOf(each.round, each.throw),
        onclick: () => open(words, each, row, ask, why),
      }, words.why);
      loss.append(" ", ask);
    }
    return [row];
  });
  return table({ label: `${words.all13} ${name}`.trim(), cells: words.lineHead }, rows, null, "decisions");
}

const named = (words, option) =>
  option.kept === undefined ? [`${option.name} (${option.points})`] : keepName(words, option.kept);

async function open(words, decision, row, button, why) {
  if (button.getAttribute("aria-expanded") === "true") {
    row.nextElementSibling.remove();
    button.setAttribute("aria-expanded", "false");
    return;
  }
  if (button.getAttribute("aria-busy")) return;
  button.setAttribute("aria-busy", "true");
  try {
    const found = await why(decision);
    button.setAttribute("aria-expanded", "true");
    row.after(h("tr", { class: "reason" }, h("td", { colspan: words.lineHead.length }, ...reason(words, found))));
  } catch (error) {
    if (error.name !== "AbortError") {
      row.after(h("tr", { class: "reason" }, h("td", { colspan: words.lineHead.length }, error.message || words.unreachable)));
      button.setAttribute("aria-expanded", "true");
    }
  } finally {
    button.removeAttribute("aria-busy");
  }
}

function reason(words, { chosen, best }) {
  const boxes = new Map();
  for (const [n, side] of [chosen, best].entries()) {
    for (const box of side.boxes) {
      if (!boxes.has(box.box)) boxes.set(box.box, { name: box.name, sides: [null, null] });
      boxes.get(box.box).sides[n] = box;
    }
  }
  const often = (each) => Math.max(...each.sides.map((side) => side?.probability ?? 0));
  const rows = [...boxes.values()].sort((one, other) => often(other) - often(one)).map((each) =>
    line(each.name, ...each.sides.map((side) => side === null ? "–"
      : `${number(100 * side.probability, { fixed: true, digits: 1 })} % · ${number(side.points, { fixed: true, digits: 1 })}`)));
  const sums = [
    line(words.whyEntered, ...[chosen, best].map((side) => String(side.entered))),
    line(words.whyTurn, ...[chosen, best].map((side) => points(side.turn))),
    line(words.whyLater, ...[chosen, best].map((side) => points(side.later))),
    line(words.whySum, ...[chosen, best].map((side) => points(side.value))),
  ];
  const title = (side, n) => `${words.whyHead[n + 1]}: ${side.name === "-" ? words.keepNone : side.name}`;
  return [h("p", { class: "note" }, words.whyLead),
    h("table", { class: "why-table" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, words.whyHead[0]),
        h("th", { scope: "col" }, title(chosen, 0)), h("th", { scope: "col" }, title(best, 1)))),
      h("tbody", {}, ...rows), h("tfoot", {}, ...sums))];
}
