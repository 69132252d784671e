// The games that there are, each with its parameters.

import { toAddress } from "./address.js";
import { h } from "./dom.js";
import { draw } from "./boards.js";
import { capital, language, named, whole, words } from "./words.js";

const spaced = (name) => capital(name.replaceAll("_", " ").replaceAll("-", " "));

export const title = (game) => named(spaced(game.name), game.texts);

export function showStart(page, games, pages, trouble = null) {
  document.title = "gamedp";
  page.replaceChildren(
    h("div", { class: "start" },
      h("h1", { tabindex: "-1" }, words.startTitle),
      h("p", { class: "lead" }, words.startLead),
      trouble,
      games.length + pages.length
        ? h("ul", { class: "games" },
          ...games.map(offer), ...pages.map(offerPage))
        : h("p", {}, words.noGames)),
  );
}

// What a game or a page brings as its small picture; else its first letter.
function iconOf(game) {
  const icon = h("div", { class: "icon", "aria-hidden": "true" });
  if (game.icon) {
    const picture = draw(game.icon, "", {});
    picture.removeAttribute("role");
    picture.removeAttribute("aria-label");
    icon.append(picture);
  } else icon.append(h("span", { class: "letter" }, title(game).slice(0, 1)));
  return icon;
}

// A page of its own that a game brings along.
function offerPage(own) {
  return h("li", { class: "offer" }, iconOf(own),
    h("div", { class: "offer-text" }, h("h2", {}, own.title), described(own.texts[language]?.about, own.about)),
    h("form", { action: own.name, method: "get" }, h("input", { type: "hidden", name: "lang", value: language }),
      h("button", { class: "go", type: "submit", "aria-label": words.playNamed(own.title) }, words.play)));
}

function offer(game) {
  const fields = game.fixed ? [] : game.parameters.filter((each) => each.kind !== "other");
  const icon = iconOf(game);
  const form = h("form", {
    onsubmit: (event) => {
      event.preventDefault();
      const given = {};
      for (const field of fields) {
        const value = read(field, form.elements[`set-${field.name}`]);
        if (JSON.stringify(value) !== JSON.stringify(field.default)) given[field.name] = value;
      }
      location.hash = toAddress(game.name, Object.keys(given).length ? { p: given } : {});
    },
  },
    fields.length ? h("details", {}, h("summary", {}, words.settings),
      h("div", { class: "fields" }, ...fields.map((field) => input(game, field)))) : null,
    h("button", { class: "go", type: "submit", "aria-label": words.playNamed(title(game)) }, words.play));
  return h("li", { class: "offer" }, icon,
    h("div", { class: "offer-text" },
      h("h2", {}, title(game), " ", h("small", {}, words.players(game.players))),
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

function input(game, field) {
  const id = `set-${game.name}-${field.name}`;
  const about = `${id}-about`;
  const said = game.texts[language]?.parameters?.[field.name];
  const isDescribed = said || field.about;
  // A bare name such as "submit" would hide a method of the form.
  const common = { id, name: `set-${field.name}`, "aria-describedby": isDescribed ? about : null };
  const value = Array.isArray(field.default) ? field.default.join(", ") : field.default;
  const element = {
    bool: () => h("input", { ...common, type: "checkbox", checked: field.default === true }),
    int: () => h("input", { ...common, type: "number", step: 1, value, required: true }),
    choice: () => h("select", common, ...(field.choices ?? []).map((choice) =>
      h("option", { value: choice, selected: choice === field.default }, choice))),
    float: () => h("input", { ...common, type: "number", step: "any", value, required: true }),
  }[field.kind]?.() ?? h("input", { ...common, type: "text", value: value ?? "", spellcheck: "false" });
  return h("div", { class: `field field-${field.kind}` },
    h("label", { for: id }, spaced(named(field.name, game.texts))), element,
    described(said, field.about, { class: "about", id: about }));
}

function read(field, element) {
  if (field.kind === "bool") return element.checked;
  if (field.kind === "int" || field.kind === "float") return Number(element.value);
  if (field.kind === "ints") {
    return element.value.split(/[\s,;]+/).filter((part) => part !== "").map(Number);
  }
  return element.value === "" && field.default === null ? null : element.value;
}
