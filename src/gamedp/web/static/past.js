// The game so far: the curve of its values, every ply with choice and luck told apart, and the report.

import { chart } from "./chart.js";
import { h, s, unseen } from "./dom.js";
import { shared } from "./address.js";
import { capital, named, number, words } from "./words.js";

const TINY = 5e-5; // below what is shown

export function past(play) {
  const picture = h("div", { class: "chart-box" });
  const list = h("ol", { class: "plies" });
  const note = h("p", { class: "note" });
  const search = h("button", { type: "button", class: "tool", hidden: true, onclick: () => play.searchBack() },
    words.searchBack);
  const report = h("div", { class: "report", hidden: true });
  const branches = h("div", { class: "branches", hidden: true });
  const go = (ply) => play.look(Math.max(0, Math.min(play.line.actions.length, ply)));
  const arrow = (path, name, to) =>
    h("button", { type: "button", class: "tool arrow", "aria-label": name, title: name, onclick: () => go(to()) },
      s("svg", { viewBox: "0 0 20 20", width: 18, height: 18, "aria-hidden": "true" }, s("path", { d: path })));
  const arrows = h("div", { class: "arrows" },
    arrow("M16 4v12L7 10zM4 4h2v12H4z", words.first, () => 0),
    arrow("M14 4v12L5 10z", words.back, () => play.cursor - 1),
    arrow("M6 4v12l9-6z", words.forward, () => play.cursor + 1),
    arrow("M4 4v12l9-6zM14 4h2v12h-2z", words.last, () => play.line.actions.length));
  const element = h("section", { class: "past" },
    h("div", { class: "past-head" }, h("h2", {}, words.history), arrows),
    picture, report, note, search, list, branches);

  function paint() {
    const known = play.past?.kind === "none" ? estimated(play) : play.past;
    const isShown = play.values || play.now?.over;
    const eye = play.eye;
    const shown = isShown ? known : null;
    const plies = known?.plies ?? [];
    picture.replaceChildren(...chart(shown, {
      eye, many: play.seats.length > 2, range: play.now?.range, cursor: play.cursor,
      who: play.nameOf(eye), go, width: picture.clientWidth,
      hasChance: play.hasChance || plies.some((ply) => ply.probability < 1),
    }));
    note.textContent = plies.length === 0 ? words.historyEmpty
      : known.kind === "none" ? words.historySearch : "";
    search.hidden = known?.kind !== "none" || !plies.length || known.values !== null;
    const had = [list, branches].some((part) => part.contains(document.activeElement));
    list.replaceChildren(...plies.map((ply) => h("li", {}, row(play, ply, isShown, go))));
    const isOver = Boolean(play.now?.over) && play.isLive && known?.over && known.kind !== "none";
    report.hidden = !isOver;
    report.replaceChildren(...(isOver ? reportOf(play, known, go) : []));
    const here = list.querySelector("[aria-current]");
    if (here) list.scrollTop = here.offsetTop - list.clientHeight / 2;
    branches.hidden = !play.branches.length;
    branches.replaceChildren(h("h3", {}, words.branches), h("ul", {}, ...play.branches.map((each) => branch(play, each))));
    if (had) (here ?? play.panel.heading).focus();
  }

  paint();
  let width = 0;
  new ResizeObserver(() => {
    if (Math.abs(picture.clientWidth - width) < 2) return;
    width = picture.clientWidth;
    paint();
  }).observe(picture);
  return { element, paint };
}

// The past of a game that is only searched, with what searches have found so far.
function estimated(play) {
  const found = play.estimates();
  if (found.length !== play.past.plies.length + 1 || found.includes(null)) return play.past;
  const plies = play.past.plies.map((ply, n) => ({ ...ply, values: found[n] }));
  return { ...play.past, plies, values: found.at(-1) };
}

// A line that was left: one click goes back into it, another one forgets it.
function branch(play, line) {
  const at = shared(line, play.line);
  const names = play.namesOf(line)?.slice(at) ?? [];
  const some = names.slice(0, 4).map((name) => capital(named(name))).join(", ");
  const name = words.branch(at + 1, names.length > 4 ? `${some} …` : some);
  return h("li", {},
    h("button", { type: "button", class: "tool", onclick: () => play.takeBranch(line) }, name),
    h("button", { type: "button", class: "tool", "aria-label": words.removeBranch(name), onclick: () => play.removeBranch(line) }, "×"));
}

function row(play, ply, isShown, go) {
  const what = capital(named(ply.name)) + (ply.outcome_name ? `, ${named(ply.outcome_name)}` : "");
  const who = play.nameOf(ply.mover);
  const parts = [
    h("span", { class: "ply-number" }, String(ply.ply + 1)),
    h("span", { class: `sign sign-${ply.mover}`, "aria-hidden": "true" }),
    unseen(`${who}: `), h("span", { class: "ply-name" }, what),
  ];
  if (isShown && ply.choice !== null) {
    parts.push(part(ply.choice, words.choice, "choice", ply.mistake), part(ply.luck, words.luck, "luck"));
  }
  const at = ply.ply + 1;
  return h("button", {
    type: "button", class: `ply${ply.mistake && isShown ? " is-mistake" : ""}`, onclick: () => go(at),
    "aria-current": at === play.cursor ? "step" : null,
  }, ...parts);
}

function part(value, name, kind, isMistake = false) {
  const isSome = Math.abs(value) >= TINY || isMistake;
  return h("span", { class: `part part-${kind}${isMistake ? " is-mistake" : ""}` },
    ...(isSome ? [unseen(`, ${name} `), number(value, { sign: true })] : []));
}

function reportOf(play, known, go) {
  const rows = known.players.map((each) =>
    h("tr", {}, h("th", { scope: "row" }, play.nameOf(each.player)),
      h("td", {}, String(each.choices)), h("td", {}, String(each.mistakes)),
      h("td", {}, number(each.cost)), h("td", {}, number(each.luck, { sign: true }))));
  const heads = [words.reportWho, words.reportChoices, words.reportMistakes, words.reportCost, words.reportLuck];
  const mistakes = known.mistakes.map((n) => {
    const ply = known.plies[n];
    const line = words.mistakeLine(ply.ply + 1, play.nameOf(ply.mover), named(ply.name), named(ply.best_name));
    return h("li", {}, h("button", { type: "button", class: "ply", onclick: () => go(ply.ply) },
      h("span", { class: "ply-name" }, line), h("span", { class: "part part-choice is-mistake" }, number(ply.choice))));
  });
  return [
    h("h3", {}, words.report),
    h("table", {}, h("thead", {}, h("tr", {}, ...heads.map((head) => h("th", { scope: "col" }, head)))),
      h("tbody", {}, ...rows)),
    mistakes.length ? h("h4", {}, words.mistakesList) : h("p", {}, words.noMistakes),
    mistakes.length ? h("ol", { class: "plies mistakes" }, ...mistakes) : null,
  ].filter(Boolean);
}
