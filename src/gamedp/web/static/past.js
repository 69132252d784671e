// The game so far: the curve of its values, every ply with choice and luck told apart, and the report.

import { tree } from "./address.js";
import { chart } from "./chart.js";
import { become, focusOn, h, s, unseen } from "./dom.js";
import { capital, named, words } from "./words.js";
import { change, fallOf, isResult } from "./worth.js";

const TINY = 5e-5; // below what is shown
const MOST_NAMES = 6; // of the plies of a branch

export function past(play) {
  const picture = h("div", { class: "chart-box" });
  const list = h("ol", { class: "plies" });
  const note = h("p", { class: "note" });
  const search = h("button", { type: "button", class: "tool", hidden: true, onclick: () => play.searchBack() },
    words.searchBack);
  const report = h("div", { class: "report", hidden: true });
  const go = (ply) => play.look(Math.max(0, Math.min(play.line.actions.length, ply)));
  const arrow = (path, name, to, key) =>
    h("button", { type: "button", class: "tool arrow", "aria-label": name, "aria-keyshortcuts": key, title: name, onclick: () => go(to()) },
      s("svg", { viewBox: "0 0 20 20", width: 18, height: 18, "aria-hidden": "true" }, s("path", { d: path })));
  const arrows = h("div", { class: "arrows" },
    arrow("M16 4v12L7 10zM4 4h2v12H4z", words.first, () => 0),
    arrow("M14 4v12L5 10z", words.back, () => play.cursor - 1, "ArrowLeft"),
    arrow("M6 4v12l9-6z", words.forward, () => play.cursor + 1, "ArrowRight"),
    arrow("M4 4v12l9-6zM14 4h2v12h-2z", words.last, () => play.line.actions.length));
  const element = h("section", { class: "past" },
    h("div", { class: "past-head" }, h("h2", {}, words.history), arrows),
    picture, report, note, search, list);

  let shown = "";

  function paint() {
    const known = play.past?.kind === "none" ? estimated(play) : play.past;
    const isShown = play.values || play.now?.over;
    const eye = play.eye;
    const plies = known?.plies ?? [];
    const hasChance = play.hasChance || plies.some((ply) => ply.probability < 1);
    picture.replaceChildren(...chart(isShown ? known : null, {
      eye, many: play.seats.length > 2, now: play.now, cursor: play.cursor,
      who: play.nameOf(eye), go, width: picture.clientWidth,
      hasChance,
    }));
    const isNew = play.now && !play.line.actions.length;
    note.textContent = [
      play.pastTrouble || (isNew ? words.historyEmpty : known?.kind === "none" ? words[play.hasChance ? "historySearchChance" : "historySearch"] : ""),
      play.leftOut ? words.leftOut(play.leftOut) : "",
    ].filter(Boolean).join(" ");
    search.hidden = known?.kind !== "none" || !plies.length || known.values !== null;
    const had = element.contains(document.activeElement);
    const branches = branchesOf(play);
    // A branch stands where it begins, below the ply that was played instead.
    const later = branches.filter(({ of, at }) => !of && at >= plies.length);
    become(list, h("ol", { class: `plies${hasChance ? " with-luck" : ""}` },
      ...plies.map((ply, n) => h("li", {}, row(play, ply, isShown, go),
        nested(play, branches, branches.filter(({ of, at }) => !of && at === n)))),
      later.length ? h("li", {}, nested(play, branches, later)) : null));
    const isOver = Boolean(play.now?.over) && play.isLive && known?.over && (known.kind !== "none" || known.values !== null);
    const told = !isOver ? [] : known.kind === "none" ? searchedReport(play, known, go) : reportOf(play, known, go);
    become(report, h("div", { class: "report", hidden: !isOver }, ...told));
    const here = list.querySelector("[aria-current]");
    const place = `${play.cursor} ${plies.length}`;
    if (here && place !== shown) list.scrollTop = here.offsetTop - list.clientHeight / 2;
    shown = place;
    if (had && !element.contains(document.activeElement)) focusOn(here ?? play.panel.heading);
  }

  paint();
  let width = 0;
  new ResizeObserver(() => {
    if (!picture.isConnected || Math.abs(picture.clientWidth - width) < 2) return;
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

// The lines that were left, each with its number, from 1, and where it leaves which one.
const branchesOf = (play) => tree(play.line, play.branches).map((each, n) => ({ ...each, number: n + 1 }));

// Branches, and below each those that leave it: one click goes into it, another one forgets it.
function nested(play, all, some) {
  if (!some.length) return null;
  return h("ul", { class: "branches", "aria-label": words.branches }, ...some.map(({ branch, at, number: own }) => {
    const names = play.namesOf(branch).slice(at).map((name) => capital(named(name)));
    const text = names.length > MOST_NAMES ? `${names.slice(0, MOST_NAMES).join(", ")} …` : names.join(", ");
    return h("li", {},
      h("div", { class: "branch" },
        h("button", { type: "button", class: "line", onclick: () => play.takeBranch(branch) },
          h("span", { class: "ply-number", "aria-hidden": "true" }, String(at + 1)),
          unseen(`${words.fromPly} ${at + 1}: `), h("span", {}, text)),
        h("button", {
          type: "button", class: "quiet", onclick: () => play.removeBranch(branch),
          "aria-label": words.removeBranch(`${words.fromPly} ${at + 1}: ${text}`),
        }, "×")),
      nested(play, all, all.filter(({ of }) => of === own)));
  }));
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
    parts.push(part(ply.choice, fallOf(play.now, ply, true), words.choice, "choice", ply.mistake), part(ply.luck, change(play.now, ply.luck), words.luck, "luck"));
  }
  const at = ply.ply + 1;
  return h("button", {
    type: "button", class: `ply${ply.mistake && isShown ? " is-mistake" : ""}`, onclick: () => go(at),
    "aria-current": at === play.cursor ? "step" : null,
  }, ...parts);
}

function part(value, text, name, kind, isMistake = false) {
  const isSome = Math.abs(value) >= TINY || isMistake;
  return h("span", { class: `part part-${kind}${isMistake ? " is-mistake" : ""}`, "data-number": isSome ? value : null },
    ...(isSome ? [unseen(`, ${name} `), text] : []));
}

export const mistakeWords = (play, ply) =>
  words.mistakeLine(ply.ply + 1, play.nameOf(ply.mover), named(ply.name), named(ply.best_name));

// The mistakes of a game that is only searched: what bounds prove, and then what the search thinks.
export function searchedReport(play, known, go) {
  const found = known.plies.flatMap((ply) => {
    const before = play.positionOf(ply.ply);
    const entry = before.actions.find(({ action }) => action === ply.action);
    const best = before.actions.find((each) => each.best !== "no" && each.number !== null);
    if (!best || entry.number === null || entry.best !== "no") return [];
    const bounds = [before.value.lower, entry.upper];
    const sure = bounds.includes(null) ? 0 : Number(bounds[0]) - Number(bounds[1]);
    const cost = sure > 0 ? sure : Number(entry.loss);
    return cost > 0 ? [{ ply: { ...ply, best_name: best.name }, before, isProven: sure > 0, cost }] : [];
  }).sort((one, other) => other.isProven - one.isProven || other.cost - one.cost);
  const rows = found.map(({ ply, before, isProven, cost }) => {
    const size = (isProven ? words.bounds["≥"] : words.bounds["≈"]) + change(before, cost, false);
    return h("li", {}, h("button", { type: "button", class: "ply", onclick: () => go(ply.ply) },
      h("span", { class: "ply-name" }, mistakeWords(play, ply)),
      h("span", { class: `part${isProven ? " part-choice is-mistake" : ""}` }, words[isProven ? "provenCost" : "opinionCost"](size))));
  });
  return [
    h("h3", {}, words.report),
    rows.length ? h("h4", {}, words.searchedMistakes) : h("p", {}, words.noSearchedMistakes),
    rows.length ? h("ol", { class: "plies mistakes" }, ...rows) : null,
  ].filter(Boolean);
}

function reportOf(play, known, go) {
  const hasChance = play.hasChance || known.plies.some((ply) => ply.probability < 1);
  const rows = known.players.map((each) =>
    h("tr", {}, h("th", { scope: "row" }, play.nameOf(each.player)),
      h("td", {}, String(each.choices)), h("td", {}, String(each.mistakes)),
      isResult(play.now) ? null : h("td", {}, change(play.now, each.cost, false)), hasChance ? h("td", {}, change(play.now, each.luck)) : null));
  const heads = [words.reportWho, words.reportChoices, words.reportMistakes,
    ...(isResult(play.now) ? [] : [words.reportCost]), ...(hasChance ? [words.reportLuck] : [])];
  const mistakes = known.mistakes.map((n) => {
    const ply = known.plies[n];
    return h("li", {}, h("button", { type: "button", class: "ply", onclick: () => go(ply.ply) },
      h("span", { class: "ply-name" }, mistakeWords(play, ply)),
      h("span", { class: "part part-choice is-mistake" }, fallOf(play.now, ply, true))));
  });
  return [
    h("h3", {}, words.report),
    h("table", {}, h("thead", {}, h("tr", {}, ...heads.map((head) => h("th", { scope: "col" }, head)))),
      h("tbody", {}, ...rows)),
    mistakes.length ? h("h4", {}, words.mistakesList) : h("p", {}, words.noMistakes),
    mistakes.length ? h("ol", { class: "plies mistakes" }, ...mistakes) : null,
  ].filter(Boolean);
}
