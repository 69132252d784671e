// The page: what stands behind `#` says what is shown.

import { chosenOf, fromAddress, unpacked } from "./address.js";
import { focusOn, h } from "./dom.js";
import { Play } from "./play.js";
import { showStart } from "./start.js";
import { language, setLanguage, speakFor, words } from "./words.js";

const page = document.getElementById("page");
const switchLanguage = document.getElementById("language");

let source = null;
let games = null;
let pages = [];
let playing = null;
let shows = 0; // counts them, so that one that is late is known
let wasElsewhere = false; // who comes from a game, not who has just come

function problem(message, again) {
  return h("div", { class: "problem", role: "alert" }, h("p", {}, message),
    again ? h("button", { type: "button", onclick: again }, words.goOn) : null);
}

function dress() {
  setLanguage(language);
  switchLanguage.textContent = words.language;
  switchLanguage.setAttribute("lang", language === "de" ? "en" : "de");
  switchLanguage.setAttribute("aria-label", words.languageLabel);
}

function start(trouble) {
  showStart(page, games, pages, trouble);
  if (wasElsewhere) focusOn(page.querySelector("h1"));
}

async function showFigureOf(game, now) {
  try {
    const { showFigure } = await import("./surface.js");
    await showFigure(page, source, game, () => now !== shows);
  } catch (error) {
    if (now === shows) page.replaceChildren(problem(error.message || words.unreachable, show));
  }
}

async function show() {
  const now = ++shows;
  playing?.leave();
  playing = null;
  if (!games) {
    page.replaceChildren(h("p", { class: "loading", role: "status" }, words.loading));
    try {
      const found = await Promise.all([source.games(), source.pages()]);
      if (now !== shows) return;
      [games, pages] = found;
    } catch (error) {
      if (now !== shows) return;
      page.replaceChildren(problem(error.message || words.unreachable, show));
      return;
    }
  }
  const wanted = fromAddress(location.hash);
  if (!wanted) {
    start();
    return;
  }
  const figure = games.find((each) => each.surface
    && (wanted.name === `figure:${each.name}` || (wanted.name === each.name && each.file === null)));
  if (figure) {
    await showFigureOf(figure, now);
    return;
  }
  const game = games.find((each) => each.name === wanted.name);
  if (!game || wanted.rest === null) {
    const message = game ? words.badAddress : words.noSuchGame(wanted.name);
    start(problem(message));
    return;
  }
  speakFor(game);
  if (wanted.isPuzzles) {
    const { showPuzzles } = await import("./puzzles.js");
    if (now !== shows) return;
    await showPuzzles(page, source, game, chosenOf(game, unpacked(wanted.rest)?.parameters ?? {}));
    if (wasElsewhere && now === shows) focusOn(page.querySelector("h1"));
    return;
  }
  playing = new Play(page, source, game, wanted.rest);
  await playing.begin();
}

switchLanguage.addEventListener("click", async () => {
  setLanguage(language === "de" ? "en" : "de");
  dress();
  if (playing) playing.inOtherWords();
  else await show();
  switchLanguage.focus();
});

addEventListener("hashchange", async () => {
  if (playing?.isAt(location.hash)) return;
  wasElsewhere = true;
  scrollTo(0, 0);
  await show();
});

document.documentElement.classList.toggle("embedded", window.parent !== window);
const mode = document.documentElement.dataset.mode;
source = await import(mode === "folder" ? "./folder.js" : "./server.js");
dress();
await show();
