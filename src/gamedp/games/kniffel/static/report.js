// The whole game afterwards: each decision beside the best one, counts by what they lost, and why.

import { h } from "../../static/dom.js";
import { facesOf, keepName, nameOf, smallDice, working } from "./advice.js";
import { number } from "../../static/words.js";

const points = (value, sign = false, digits = 1) => number(value, { fixed: true, digits, sign });

// A loss, or a part of one; where there is one, it is not said to be none.
const lost = (value, sign = false) => (value > 0 && value < 0.005 ? `< ${number(0.01, { digits: 2 })}` : points(value, sign, 2));

// The decision of all reports that has cost most, in words; null if there was none.
export function costliest(words, reports) {
  const all = reports.flatMap((each, player) => each.decisions.map((decision) => ({ ...decision, player })));
  const worst = all.reduce((one, other) => (other.loss > (one?.loss ?? 0) ? other : one), null);
  if (!worst) return null;
  const line = words.mistakeLine(worst.round, worst.throw, nameOf(words, worst.chosen), nameOf(words, worst.best));
  const who = reports.length > 1 ? `${words.player(worst.player + 1)}, ` : "";
  return { said: words.costliest(who + line, words.itCost(lost(worst.loss))), key: keyOf(worst, worst.player) };
}

const keyOf = ({ round, throw: number }, player) => `why-${player}-${round}-${number}`;

function table(head, rows, foot = null, kind = "") {
  return h("div", { class: `report ${kind}`, tabindex: "0", role: "region", "aria-label": head.label },
    h("table", {}, h("caption", { class: "unseen" }, head.label),
      head.cells.some(Boolean) ? h("thead", {}, h("tr", {}, ...head.cells.map((cell) =>
        cell ? h("th", { scope: "col" }, cell) : h("td", {})))) : null,
      h("tbody", {}, ...rows), foot ? h("tfoot", {}, ...foot) : null));
}

const line = (name, ...cells) =>
  h("tr", {}, h("th", { scope: "row" }, ...[name].flat()), ...cells.map((cell) => h("td", {}, cell)));

// The summary, and all decisions; `why(decision, signal, progress)` resolves to what
// the server tells of one. `gone` is the signal that this report is no longer shown.
export function drawReport(words, reports, { over, goal, why, onlyLosses, filter, gone }) {
  const names = reports.map((_, n) => (reports.length > 1 ? words.player(n + 1) : ""));
  const balance = [["start"], ["luck", true], ["loss"], ["now"]].map(([kind, sign], n) => {
    const name = kind === "now" && over ? words.reportRows[3] : words.reportRows[n === 3 ? 4 : n];
    return line(name, ...reports.map((each) =>
      kind === "now" && over ? String(each.points)
        : kind === "loss" ? (each.loss > 0 ? points(-each.loss, false, 2) : "0") : points(each[kind], sign)));
  });
  const means = [
    line(words.choices, ...reports.map((each) => String(each.choices))),
    line(words.mean, ...reports.map((each) => lost(each.mean_loss))),
  ];
  const classes = words.classes.map((name, n) =>
    line(name, ...reports.map((each) => String(each.classes[n]))));
  const summary = [
    h("h2", { tabindex: "-1", "data-key": "report" }, words.report),
    h("div", { class: "summary" },
      table({ label: words.report, cells: ["", ...names] }, balance, means),
      table({ label: words.classHead[0], cells: [words.classHead[0], ...names] }, classes)),
    h("p", { class: "note" }, words.goodMean, goal === "points" ? null : ` ${words.reportPoints}`),
  ];
  const all = [
    h("h2", {}, words.all13),
    h("label", { class: "toggle" },
      h("input", { type: "checkbox", checked: onlyLosses, "data-key": "only", onchange: filter }),
      h("span", { class: "slide", "aria-hidden": "true" }), words.onlyLosses),
    ...reports.flatMap((each, n) => [
      names[n] ? h("h3", {}, names[n]) : null, lines(words, each, { onlyLosses, why, gone, name: names[n], player: n })]),
  ];
  return { summary, all };
}

function lines(words, report, { onlyLosses, why, gone, name, player }) {
  const seen = report.decisions.filter((each) => !onlyLosses || each.loss > 0);
  if (seen.length === 0) return h("p", { class: "note" }, words.noMistakes);
  const rows = seen.flatMap((each) => {
    const loss = h("td", { class: each.loss > 0 ? "lost" : null, "data-label": words.lineHead[7] }, each.loss > 0 ? lost(each.loss) : "–");
    const row = h("tr", { class: "decision" },
      h("th", { scope: "row", "data-label": words.lineHead[0] }, String(each.round)),
      h("td", { "data-label": words.lineHead[1] }, String(each.throw)),
      h("td", {}, smallDice(facesOf(each.dice)), h("span", { class: "unseen" }, each.dice)),
      h("td", { "data-label": words.lineHead[3] }, ...named(words, each.chosen)), h("td", {}, points(each.chosen.value)),
      h("td", { "data-label": words.lineHead[5] }, ...named(words, each.best)), h("td", {}, points(each.best.value)), loss);
    if (each.loss > 0) {
      const ask = h("button", {
        type: "button", class: "why", "aria-expanded": "false", "data-key": keyOf(each, player),
        "aria-label": words.whyOf(each.round, each.throw),
        onclick: () => open(words, each, row, ask, { why, gone }),
      }, words.why);
      loss.append(" ", ask);
    }
    return [row];
  });
  return table({ label: `${words.all13} ${name}`.trim(), cells: words.lineHead }, rows, null, "decisions");
}

const named = (words, option) =>
  option.kept === undefined ? [`${option.name} (${option.points})`] : keepName(words, option.kept);

async function open(words, decision, row, button, { why, gone }) {
  if (button.getAttribute("aria-busy")) return;
  if (button.getAttribute("aria-expanded") === "true") {
    row.nextElementSibling.remove();
    button.setAttribute("aria-expanded", "false");
    return;
  }
  const cell = h("td", { colspan: words.lineHead.length });
  const below = h("tr", { class: "reason" }, cell);
  const stop = new AbortController();
  gone.addEventListener("abort", () => stop.abort());
  const show = (...content) => { // the focus stays there, or goes back to where it came from
    const had = cell.contains(document.activeElement);
    cell.replaceChildren(...content);
    if (had) (cell.querySelector("button") ?? button).focus();
  };
  button.setAttribute("aria-busy", "true");
  button.setAttribute("aria-expanded", "true");
  row.after(below);
  try {
    const found = await why(decision, stop.signal, (news) => show(working(words, news, () => stop.abort())));
    show(...reason(words, found));
  } catch (error) {
    if (error.name === "AbortError") {
      show();
      below.remove();
      button.setAttribute("aria-expanded", "false");
    } else if ("status" in error) show(h("p", { role: "alert" }, error.message || words.unreachable));
    else throw error;
  } finally {
    button.removeAttribute("aria-busy");
  }
}

const share = (part) => `${number(100 * part, { fixed: true, digits: 1 })} %`;

// What each box will hold in the end, on average, after both decisions: the costliest box first.
function reason(words, { chosen, best }) {
  const sides = [chosen, best];
  const row = (name, one, other, note = null) => ({
    apart: one - other,
    line: line(note ? [name, h("span", { class: "why-now" }, note)] : name, ...[one, other].map((each) => points(each, false, 2)), points(one - other, true, 2)),
  });
  const boxes = chosen.boxes.map((each, n) => {
    const [one, other] = [each, best.boxes[n]];
    return row(each.name, one.points, other.points, one.now + other.now > 0 ? words.whyNow(share(one.now), share(other.now)) : null);
  });
  boxes.push(row(words.whyBonus, chosen.bonus, best.bonus));
  if (chosen.further + best.further > 0) boxes.push(row(words.further, chosen.further, best.further));
  boxes.sort((one, other) => one.apart - other.apart);
  const sums = [
    line(words.whyEntered, ...sides.map((side) => String(side.entered)), ""),
    line(words.whySum, ...sides.map((side) => points(side.value, false, 2)), points(chosen.value - best.value, true, 2)),
  ];
  const title = (side, n) => `${words.whyHead[n + 1]}: ${side.name === "-" ? words.keepNone : side.name}`;
  return [h("p", { class: "note" }, words.whyLead),
    h("table", { class: "why-table" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, words.whyHead[0]),
        ...sides.map((side, n) => h("th", { scope: "col" }, title(side, n))), h("th", { scope: "col" }, words.whyHead[3]))),
      h("tbody", {}, ...boxes.map((each) => each.line)), h("tfoot", {}, ...sums))];
}
