// Puzzles of a game: the page that lists them, and what is said above the board of one that is tried.

import { stated, toAddress } from "./address.js";
import { draw } from "./boards.js";
import { become, focusOn, h } from "./dom.js";
import { headline } from "./start.js";
import { capital, language, named, number, words } from "./words.js";
import { change, costOf, isResult, resultOf, said as valueOf } from "./worth.js";

export const WORDS = {
  en: {
    title: (name) => `Puzzles: ${name}`,
    lead: "In each of these positions one move is proven to be best, and every other one to be worse. Those where a mistake costs most come first.",
    own: "That holds whichever of their equally good moves the others choose, as long as everyone plays for themselves.",
    none: "No position of this game has a single best move that is proven.",
    number: (n) => `Puzzle ${n}`,
    toMove: (who, n) => `${who} is to move and has ${n} moves.`,
    turned: (from, to) => `Any but the best one turns ${from} into ${to}.`,
    costs: (size) => `Any but the best one costs at least ${size}.`,
    task: "Find the only best move.",
    solved: (name) => `Solved: ${name} is the only best move.`,
    failed: (name, why) => `Not solved: ${name} is not the best move${why ? `; it ${why}` : ""}.`,
    again: "Try again",
    next: "Next puzzle",
    all: "All puzzles",
    back: "To the game",
  },
  de: {
    title: (name) => `Aufgaben: ${name}`,
    lead: "In jeder dieser Stellungen ist bewiesen, dass ein Zug der beste ist und jeder andere schlechter. Wo ein Fehler am meisten kostet, steht zuerst.",
    own: "Das gilt, welche ihrer gleich guten Züge die anderen auch wählen, solange jeder für sich selbst spielt.",
    none: "In keiner Stellung dieses Spiels ist ein einziger bester Zug bewiesen.",
    number: (n) => `Aufgabe ${n}`,
    toMove: (who, n) => `${who} ist am Zug und hat ${n} Züge.`,
    turned: (from, to) => `Bei jedem anderen als dem besten wird aus ${from} ${to}.`,
    costs: (size) => `Jeder andere als der beste kostet mindestens ${size}.`,
    task: "Finde den einzigen besten Zug.",
    solved: (name) => `Gelöst: ${name} ist der einzige beste Zug.`,
    failed: (name, why) => `Nicht gelöst: ${name} ist nicht der beste Zug${why ? `; er ${why}` : ""}.`,
    again: "Noch ein Versuch",
    next: "Nächste Aufgabe",
    all: "Alle Aufgaben",
    back: "Zum Spiel",
  },
};

const given = (parameters) => (Object.keys(parameters).length ? { p: parameters } : {});

export const addressOfAll = (name, parameters) => {
  const [own, code] = toAddress(name, given(parameters)).split("/");
  return code ? `${own}/puzzles/${code}` : `${own}/puzzles`;
};

// A person finds the move; the others play perfectly.
function addressOf(game, parameters, puzzle, number) {
  const { start, actions, outcomes } = puzzle.line;
  const seats = Array.from({ length: puzzle.players }, (_, n) => (n === puzzle.mover ? "person" : "solution"));
  const rest = { p: stated(game, parameters), ...(start ? { s: start } : {}), a: actions, o: outcomes, seats };
  return toAddress(game.name, { ...rest, values: false, puzzle: { n: number, at: actions.length } });
}

// What any other move loses, at least.
function stakeOf(now, { best, second, gap }, said) {
  if (!isResult(now)) return said.costs(change(now, Number(gap), false));
  const [from, to] = [best, second].map((value) => words.standResults[resultOf(now.basis.stakes, Number(value))]);
  return said.turned(from, to);
}

export async function showPuzzles(page, source, game, parameters) {
  const said = WORDS[language];
  const { name } = headline(game, parameters);
  const heading = h("h1", { tabindex: "-1" }, said.title(name));
  const body = h("div", { class: "puzzles" }, h("p", { class: "loading", role: "status" }, `${words.loading} …`));
  const there = h("a", { href: toAddress(game.name, given(parameters)) }, said.back);
  document.title = `${said.title(name)} · gamedp`;
  page.replaceChildren(h("div", { class: "start" }, heading, h("p", { class: "lead" }, said.lead), h("p", {}, there), body));
  const stop = new AbortController();
  addEventListener("hashchange", () => stop.abort(), { once: true });
  try {
    const answer = await source.puzzles(game.name, { parameters }, stop.signal, progressIn(body));
    const now = { ...answer, earned: [], over: false };
    const list = h("ol", { class: "puzzle-list" }, ...answer.puzzles.map((puzzle, n) => {
      const picture = draw(puzzle.view && { ...puzzle.view, spots: [] }, puzzle.text, { below: puzzle.mover });
      const who = words.player(puzzle.mover + 1);
      return h("li", {}, h("div", { class: "puzzle-picture" }, picture),
        h("h2", {}, h("a", { href: addressOf(game, parameters, puzzle, n + 1) }, said.number(n + 1))),
        h("p", {}, `${said.toMove(who, puzzle.choices)} ${stakeOf(now, puzzle, said)}`));
    }));
    const others = answer.basis.why === "equilibrium" ? h("p", { class: "lead" }, said.own) : ""; // of their own payoffs
    body.replaceChildren(...(answer.puzzles.length ? [others, list] : [h("p", {}, said.none)]));
  } catch (error) {
    if (error.name === "AbortError") return;
    body.replaceChildren(h("p", { class: "problem", role: "alert" }, error.message || words.unreachable));
  }
}

// Say how far the search for puzzles is: what it does once, the seconds as they pass.
function progressIn(body) {
  const what = body.querySelector(".loading");
  const bar = h("progress", { "aria-label": words.loading });
  const seconds = h("p", { class: "seconds" });
  return ({ phase, done, total, seconds: passed }) => {
    if (!bar.isConnected) what.after(bar, seconds);
    const text = words.phase[phase] ?? words.phase.solve;
    if (what.textContent !== text) what.textContent = text;
    if (total && done !== null) Object.assign(bar, { max: total, value: Math.min(done, total) });
    else bar.removeAttribute("value");
    seconds.textContent = words.seconds(number(Math.round(passed * 10) / 10, { digits: 1 }));
  };
}

// Say whether the move was found, and where to go on.
export async function paintTask(play, element) {
  const { n, at } = play.puzzle;
  const said = WORDS[language];
  const isTried = play.cursor > at && play.line.actions.length > at;
  const before = play.positionOf(at) ?? (isTried ? await play.positionAt(at) : play.now);
  const entry = isTried ? before?.actions.find(({ action }) => action === play.line.actions[at]) : null;
  const task = `${said.number(n)}: ${play.nameOf(before?.mover ?? 0) === words.you ? words.yourTurn : ""} ${said.task}`;
  const name = entry && capital(named(entry.name));
  const isSolved = entry?.best === "certain" && before.actions.every((each) => each === entry || each.best === "no");
  const text = !entry ? task : isSolved ? said.solved(name) : said.failed(name, whyOf(before, entry));
  const link = (label, href) => h("a", { class: "tool", href }, label);
  become(element, h("div", { class: `puzzle${entry ? (isSolved ? " solved" : " failed") : ""}` },
    h("p", { role: "status" }, text),
    h("p", { class: "puzzle-ways" },
      h("button", { type: "button", class: "tool", hidden: !entry || isSolved, onclick: () => {
        focusOn(play.panel.heading);
        play.look(at);
      } }, said.again),
      h("button", { type: "button", class: "tool", onclick: () => goTo(play, n) }, said.next),
      link(said.all, addressOfAll(play.game.name, play.parameters)))));
}

// What a wrong move comes to: what it costs, or how it ends.
const whyOf = (before, entry) => costOf(before, entry) || (isResult(before) ? valueOf(before, entry) : "");

async function goTo(play, n) {
  const { game, parameters, source, gone } = play;
  try {
    const { puzzles } = await source.puzzles(game.name, { parameters }, gone.signal);
    if (puzzles.length) location.hash = addressOf(game, parameters, puzzles[n % puzzles.length], (n % puzzles.length) + 1);
  } catch (error) {
    if (error.name !== "AbortError") play.fail(error);
  }
}
