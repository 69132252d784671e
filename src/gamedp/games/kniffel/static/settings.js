// What is played, by which rules, and for what: as it stands behind `#`, and the forms that say it.

import { h } from "../../static/dom.js";
import { select } from "./sheet.js";

export const DEFAULTS = {
  mode: "play", rules: "article", players: "1", goal: "points", total: "250", plays: "points", dice: "page", told: "show",
  advice: "1", game: "", card: "", against: "", puzzle: "", tried: "", further: "0", against_further: "0", throw: "1", faces: "",
};
export const FREE = Array(13).fill("-");

export function fromAddress() {
  const query = new URLSearchParams(location.hash.slice(1) || asForm());
  const read = { ...DEFAULTS };
  for (const name of Object.keys(DEFAULTS)) if (query.has(name)) read[name] = query.get(name);
  return read;
}

// What the form without JavaScript has asked for.
function asForm() {
  const query = new URLSearchParams(location.search);
  if (query.has("dice")) query.set("faces", query.get("dice"));
  query.delete("dice");
  if (!query.has("card") && [...query.keys()].some((key) => key.startsWith("box"))) {
    query.set("card", FREE.map((_, box) => query.get(`box${box}`) || "-").join(","));
  }
  if (query.has("card")) query.set("mode", "ask");
  return query.toString();
}

// All that is not as at first.
export const hashOf = (state) =>
  new URLSearchParams(Object.entries(state).filter(([name, value]) => value !== DEFAULTS[name])).toString();

// The goal, and what belongs to it; `change` is told of each choice, or a form has them all.
export function goalFields(words, state, change) {
  const choose = (name, options) =>
    select(name, words[name], Object.entries(options), state[name], change && ((value) => change(name, value)));
  const fields = [change ? choose("rules", words.rulesOf) : null, choose("goal", words.goals)];
  if (!change || state.goal === "total") {
    fields.push(h("div", { class: "field" }, h("label", { for: "total" }, words.total),
      h("input", { id: "total", type: "number", min: 1, max: 1575, value: state.total, "data-key": "total",
        onchange: change ? (event) => change("total", event.target.value || "0") : null })));
  }
  if (!change || state.goal === "beat") fields.push(choose("plays", words.playsOf));
  return fields;
}

// The form of a new game; `begin` is called when it is filled in.
export function newGame(words, state, begin) {
  const form = h("form", { class: "fields", onsubmit: (event) => {
    event.preventDefault();
    for (const name of ["players", "rules", "goal", "plays", "dice", "told"]) state[name] = form.elements[`${name}`].value;
    state.total = form.elements.total.value || "0";
    state.advice = "1";
    fold.open = false;
    begin();
  } },
    select("players", words.players, [["1", words.playersOf[0]], ["2", words.playersOf[1]]], state.players),
    select("rules", words.rules, Object.entries(words.rulesOf), state.rules),
    ...goalFields(words, state),
    select("dice", words.throws, [["page", words.throwsOf[0]], ["hand", words.throwsOf[1]]], state.dice),
    select("told", words.told, Object.entries(words.toldOf), state.told),
    h("button", { class: "go", type: "submit" }, words.begin));
  const { players, goal: aim, plays, total } = form.elements;
  const fit = () => { // who plays alone has nobody to beat
    const beat = aim.querySelector("[value=beat]");
    beat.disabled = players.value === "1";
    if (beat.disabled && aim.value === "beat") aim.value = "points";
    total.closest(".field").hidden = total.disabled = aim.value !== "total"; // what is hidden is not to be mended
    plays.closest(".field").hidden = aim.value !== "beat";
  };
  form.addEventListener("change", fit);
  fit();
  const fold = h("details", { class: "new-game" }, h("summary", { "data-key": "new" }, words.newGame), form);
  return fold;
}
