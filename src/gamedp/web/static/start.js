// The games that there are, each with its parameters.

import { defaultsOf, same, stated, toAddress } from "./address.js";
import { h } from "./dom.js";
import { draw } from "./boards.js";
import { capital, language, named, whole, words } from "./words.js";

const spaced = (name) => capital(name.replaceAll("_", " ").replaceAll("-", " "));

export const title = (game) => named(spaced(game.name), game.texts);

// The game of this class that has these parameters and a name, if there is one.
const presetOf = (game, all) => game.presets.find(({ parameters }) =>
  Object.entries(parameters).every(([name, value]) => same(all[name], value)));

// The name of a game with some parameters, what its title says of them, and a picture of an action.
export function headline(game, parameters) {
  const all = stated(game, parameters);
  const preset = presetOf(game, all);
  const isNamed = Boolean(preset) && preset !== game.presets[0];
  const isOther = isNamed && preset.players !== game.players;
  const said = Object.entries(all).flatMap(([name, value]) => {
    const key = `${name}=${value}`;
    const text = named(key, game.texts);
    if (text !== key) return [text];
    const isChosen = name in game.given || (name in parameters && !same(value, defaultsOf(game)[name]));
    return isNamed || !isChosen ? []
      : [`${named(name, game.texts).replaceAll("_", " ")}: ${setting(value)}`];
  });
  const isPlain = same(all, stated(game, {}));
  if (isNamed && !isOther) said.push(named(preset.name, game.texts));
  return {
    all, key: isOther ? preset.name : game.name, said: [...new Set(said)], name: isOther ? named(preset.name, game.texts) : title(game),
    example: preset ? preset.example : isPlain ? game.example : null,
  };
}

function setting(value) {
  if (Array.isArray(value)) return value.join(", ");
  return typeof value === "boolean" ? (value ? words.yes : words.no) : String(value);
}

export function showStart(page, games, pages, trouble = null) {
  document.title = "gamedp";
  page.replaceChildren(
    h("div", { class: "start" },
      h("h1", { tabindex: "-1" }, words.startTitle),
      h("p", { class: "lead" }, words.startLead),
      trouble,
      games.length + pages.length
        ? h("ul", { class: "games" },
          ...games.flatMap((game) => [offer(game), ...othersOf(game).map((preset) => offer(game, preset))]),
          ...pages.map(offerPage))
        : h("p", {}, words.noGames)),
  );
}

// For each other number of players, the first game of the class, which has a card of its own.
const othersOf = (game) => game.presets.filter((preset, n) => preset.players !== game.players
  && n === game.presets.findIndex(({ players }) => players === preset.players));

const PICTURES = ["dice", "grid", "heaps", "pits"];

// A board of an example, if it fits.
const boardOf = (view) => (PICTURES.includes(view?.kind) ? view : null);

// What a game or a page brings as its small picture; else its board after an action, or its first letter.
function iconOf(game, view = game.icon ?? boardOf(game.example?.after)) {
  const icon = h("div", { class: "icon", "aria-hidden": "true" });
  if (view) {
    const picture = draw(view, "", {});
    picture.removeAttribute("role");
    picture.removeAttribute("aria-label");
    icon.append(picture);
  } else icon.append(h("span", { class: "letter" }, title(game).slice(0, 1)));
  return icon;
}

// A page of its own that a game brings along.
function offerPage(own) {
  const names = Object.keys(own.presets);
  const query = h("div", { hidden: true });
  const choose = (name) => {
    query.replaceChildren(...Object.entries(own.presets[name] ?? {}).map(([key, value]) =>
      h("input", { type: "hidden", name: key, value })));
    chips.paint(name);
  };
  const chips = chipsOf(names.map((name) => [name, named(name, own.texts)]), choose);
  const byHand = (event) => { // as its page keeps what is played
    const { lang, ...chosen } = Object.fromEntries(new FormData(event.target.form));
    location.href = `${own.name}?lang=${lang}#${new URLSearchParams({ ...chosen, ...own.by_hand })}`;
  };
  if (names.length) choose(names[0]);
  return h("li", { class: "offer" }, iconOf(own),
    h("div", { class: "offer-text" }, h("h2", {}, own.title), described(own.texts[language]?.about, own.about)),
    h("form", { action: own.name, method: "get" }, h("input", { type: "hidden", name: "lang", value: language }), query,
      names.length > 1 ? chips.element : null,
      h("button", { class: "go", type: "submit", "aria-label": words.playNamed(own.title) }, words.play),
      Object.keys(own.by_hand).length
        ? h("button", { class: "tool", type: "button", "aria-label": words.byHandNamed(own.title), onclick: byHand }, words.byHand) : null));
}

// Buttons of which one is chosen: `choose` is told which, `paint` says it.
function chipsOf(pairs, choose) {
  const buttons = pairs.map(([key, text]) =>
    h("button", { type: "button", class: "chip", "aria-pressed": "false", onclick: () => choose(key) }, text));
  const paint = (chosen) => pairs.forEach(([key], n) => buttons[n].setAttribute("aria-pressed", String(key === chosen)));
  return { paint, element: h("div", { class: "chips", role: "group", "aria-label": words.presets }, ...buttons) };
}

// A game with its parameters; of a preset with a card of its own, at first those of it.
function offer(game, own = null) {
  const fields = game.fixed ? [] : game.parameters.filter((each) => each.kind !== "other");
  const icon = iconOf(game, own?.example?.before);
  const name = own ? named(own.name, game.texts) : title(game);
  const begin = own?.parameters ?? defaultsOf(game);
  const presets = game.presets.filter(({ players }) => players === (own ?? game).players);
  const readAll = () => Object.fromEntries(fields.map((field) => [field.name, read(field, form.elements[`set-${field.name}`])]));
  const chips = chipsOf(presets.map((each) => [each, capital(named(each.name, game.texts))]), (chosen) => {
    for (const field of fields) write(field, form.elements[`set-${field.name}`], chosen.parameters[field.name]);
    chips.paint(chosen);
  });
  const form = h("form", {
    oninput: () => chips.paint(presetOf(game, readAll())),
    onsubmit: (event) => {
      event.preventDefault();
      const given = {};
      for (const [key, value] of Object.entries(readAll())) {
        if (!same(value, defaultsOf(game)[key])) given[key] = value;
      }
      const hand = event.submitter?.name === "hand" ? { hand: true } : {};
      location.hash = game.file === null ? `figure:${game.name}` : toAddress(game.name, { ...(Object.keys(given).length ? { p: given } : {}), ...hand });
    },
  },
    presets.length > 1 ? chips.element : null,
    fields.length ? h("details", {}, h("summary", {}, words.settings),
      h("div", { class: "fields" }, ...fields.map((field) => input(game, field, name, begin[field.name])))) : null,
    h("button", { class: "go", type: "submit", "aria-label": game.file === null ? `${words.surface}: ${name}` : words.playNamed(name) },
      game.file === null ? words.surface : words.play),
    game.example?.outcome && game.file !== null
      ? h("button", { class: "tool", type: "submit", name: "hand", "aria-label": words.byHandNamed(name) }, words.byHand) : null);
  chips.paint(presetOf(game, begin));
  return h("li", { class: "offer" }, icon,
    h("div", { class: "offer-text" },
      h("h2", {}, name, " ", h("small", {}, words.players((own ?? game).players))),
      described(game.texts[language]?.about, game.title),
      h("p", { class: "solved" }, solvedWords(game))), form);
}

// Only what has been solved is called so.
const solvedWords = ({ kind, states }) => (kind === "table" ? words.solvedCard(whole(states))
  : kind === "search" ? words.searchedCard : words.openCard);

// In the language of the page if it is known; else in the words of who wrote it.
function described(said, own, more = {}) {
  return said ? h("p", more, said) : own ? h("p", { ...more, lang: "en" }, own.replaceAll("``", "")) : null;
}

function input(game, field, card, begin) {
  const id = `set-${card}-${field.name}`.replaceAll(" ", "-");
  const about = `${id}-about`;
  const said = game.texts[language]?.parameters?.[field.name];
  const isDescribed = said || field.about;
  // A bare name such as "submit" would hide a method of the form.
  const common = { id, name: `set-${field.name}`, "aria-describedby": isDescribed ? about : null };
  const value = asText(begin);
  const element = {
    bool: () => h("input", { ...common, type: "checkbox", checked: begin === true }),
    int: () => h("input", { ...common, type: "number", step: 1, value, required: true }),
    choice: () => h("select", common, ...(field.choices ?? []).map((choice) =>
      h("option", { value: choice, selected: choice === begin }, choice))),
    float: () => h("input", { ...common, type: "number", step: "any", value, required: true }),
  }[field.kind]?.() ?? h("input", { ...common, type: "text", value: value ?? "", spellcheck: "false" });
  return h("div", { class: `field field-${field.kind}` },
    h("label", { for: id }, spaced(named(field.name, game.texts))), element,
    described(said, field.about, { class: "about", id: about }));
}

const asText = (value) => (Array.isArray(value) ? value.join(", ") : value);

function write(field, element, value) {
  if (field.kind === "bool") element.checked = value;
  else element.value = asText(value) ?? "";
}

function read(field, element) {
  if (field.kind === "bool") return element.checked;
  if (field.kind === "int" || field.kind === "float") return Number(element.value);
  if (field.kind === "ints") {
    return element.value.split(/[\s,;]+/).filter((part) => part !== "").map(Number);
  }
  return element.value === "" && field.default === null ? null : element.value;
}
