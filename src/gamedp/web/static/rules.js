// The rules of a game in a few sentences, with one action as a picture: unfolded for who comes first.

import { draw } from "./boards.js";
import { h } from "./dom.js";
import { capital, language, named, words } from "./words.js";

const KEY = "gamedp-rules"; // where the games are kept whose rules have been seen

// Whoever then does anything has been here.
export function isFirstVisit(name) {
  if (window.parent !== window) return false; // embedded, there is no room
  const own = encodeURIComponent(name);
  try {
    const seen = () => (localStorage.getItem(KEY) ?? "").split(" ").filter(Boolean);
    if (seen().includes(own)) return false;
    const keep = () => localStorage.setItem(KEY, [...new Set([...seen(), own])].join(" "));
    for (const what of ["click", "keydown"]) addEventListener(what, keep, { once: true });
  } catch {
    return false; // who keeps nothing would fold them each time
  }
  return true;
}

// "misere=true & takes!=1": whether the parameters are so; what has no = always holds.
const holds = (condition, parameters) => condition.split("&").every((part) => {
  const [, name, not, value] = /^\s*(\w+)(!?)=(.*?)\s*$/.exec(part) ?? [];
  return name === undefined || (String(parameters[name]) === value) === !not;
});

function filled(text, parameters) {
  return text.replace(/\{(\w+)(?::(and|or))?\}/g, (whole, name, joint) => {
    if (!(name in parameters)) return whole;
    const type = joint === "or" ? "disjunction" : "conjunction";
    return new Intl.ListFormat(language, { type }).format([parameters[name]].flat().map(String));
  });
}

// In the language of the page; else what the author has written of the game.
function paragraphs(game, parameters) {
  const known = game.texts[language]?.rules;
  if (!known) {
    return [game.title, ...(game.docstring ?? [])].filter(Boolean).map((text) => h("p", { lang: "en" }, text.replaceAll("\u0060", "")));
  }
  return Object.entries(known).filter(([when]) => holds(when, parameters))
    .map(([, text]) => h("p", {}, filled(text, parameters)));
}

// One action as a picture: before it and after it.
function exampleOf(example) {
  const memory = {};
  const [before, after] = [example.before, example.after].map((view) => draw({ ...view, spots: [] }, "", memory));
  return h("figure", { class: "example" }, before, h("span", { class: "arrow-on", "aria-hidden": "true" }, "→"), after,
    h("figcaption", {}, [example.name, example.outcome].filter(Boolean).map((name) => capital(named(name))).join(": ")));
}

export function rulesOf(game, parameters, example, isOpen) {
  const said = paragraphs(game, parameters);
  if (!said.length && !example) return null;
  return withExample(h("details", { class: "how", open: isOpen }, h("summary", {}, words.rules),
    h("div", { class: "how-text" }, h("div", {}, ...said))), example);
}

// The picture is drawn when somebody looks.
export function withExample(fold, example) {
  const unfold = () => {
    const text = fold.querySelector(".how-text");
    if (fold.open && example && !text.querySelector(".example")) text.append(exampleOf(example));
  };
  fold.addEventListener("toggle", unfold);
  unfold();
  return fold;
}
