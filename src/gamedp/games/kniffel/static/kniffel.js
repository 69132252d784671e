// The Kniffel page: what stands behind `#` says what is shown, and the server what it is worth.

import { focusOn, h, mayFocus, unseen } from "../../static/dom.js";
import { fall } from "../../static/boards.js";
import { decisions, exactly, facesOf, heading, isBest, secondsLeft, seenOf, working } from "./advice.js";
import { LETTERS, entered, someDice, sorted, takenBack, thrown } from "./game.js";
import { addressOf, drawPuzzles, verdict } from "./puzzles.js";
import { costliest, drawReport } from "./report.js";
import { DEFAULTS, FREE, fromAddress, goalFields, hashOf, newGame } from "./settings.js";
import { drawSheet, oneDie, typing } from "./sheet.js";
import { wordsOf } from "./words.js";
import * as server from "../../static/server.js";
import { isFirstVisit, withExample } from "../../static/rules.js";
import { setLanguage } from "../../static/words.js";

const language = document.documentElement.lang === "en" ? "en" : "de";
setLanguage(language);
const words = wordsOf(language);
const page = document.getElementById("page");
const switchLanguage = document.getElementById("language");

let state = fromAddress();
let found = null; // the last answer on the game or the situation
let answered = null; // the game that it is on: until there is one on the next, nothing more is done
let order = []; // the dice as they lie, from left to right
let kept = []; // which of them stay
let last = null; // what has just been done here: the faces that stayed and fell, or who entered in which box
let all = false;
let onlyLosses = true;
const exact = { open: false }; // whether every digit is shown
let reported = new AbortController(); // until the report is drawn anew, or gone
const asking = {}; // what is under way, by its kind

const status = h("p", { class: "status", role: "status", tabindex: "-1", "data-key": "status" });
const banner = h("div", { class: "banner", hidden: true });
const trouble = h("div", { class: "trouble" });
const dice = h("section", { class: "dice-part", "aria-labelledby": "dice-title" });
const sheet = h("section", { class: "sheet-part", "aria-label": words.sheet });
const advice = h("section", { class: "advice-part", "aria-label": words.advice });
const report = h("section", { class: "report-part", hidden: true });
const settings = h("section", { class: "settings-part" });
const rules = page.querySelector(".how"); // as the page without script has them
rules.open = isFirstVisit("kniffel");
withExample(rules, {
  before: { kind: "dice", faces: [3, 5, 3, 1, 3], kept: [true, false, true, false, true] },
  after: { kind: "dice", faces: [3, 3, 3, 6, 3], kept: [true, false, true, false, true] },
  name: words.keepThese("3 3 3"),
});

function toAddress() {
  const hash = hashOf(state);
  if (hash !== location.hash.slice(1)) history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
  const other = language === "de" ? "en" : "de";
  switchLanguage.setAttribute("href", `kniffel?lang=${other}${hash ? `#${hash}` : ""}`);
}

// What had the focus has it again, or what stands first.
function inPlace(part, ...content) {
  const focused = part.contains(document.activeElement) ? document.activeElement : null;
  const key = focused?.dataset.key;
  part.replaceChildren(...content.flat().filter((each) => each !== null));
  if (!focused) return;
  const again = key && part.querySelector(`[data-key="${key}"]`);
  (again ?? status).focus();
}

const isLate = () => !found || answered !== state.game;
const isTwo = () => state.players === "2";
const goal = () => (state.goal === "beat" && state.mode === "play" && !isTwo() ? "points" : state.goal);
const isPuzzle = () => state.mode === "play" && state.puzzle !== "" && ["keep", "entry"].includes(found?.waits_for);
const hidden = () => state.mode === "play" && (isPuzzle() ? state.tried === "" : state.told === "test" ? !found?.over : state.advice === "0");

function query(more = {}) {
  if (more.puzzles) return { lang: language, rules: state.rules, ...more };
  const common = { lang: language, rules: state.rules, goal: goal(), total: state.total, plays: state.plays };
  if (state.mode === "play") return { ...common, players: state.players, game: state.game, ...more };
  const number = state.faces.length === 5 ? state.throw : "0";
  const card = { card: state.card || FREE.join(","), throw: number, further: state.further || "0" };
  if (number !== "0") card.dice = state.faces;
  const other = goal() === "beat" ? { against: state.against, against_further: state.against_further || "0" } : {};
  return { ...common, ...card, ...other, ...more };
}

// Asks, and says how far it is; `then` gets the answer, unless the same was asked anew meanwhile.
// If the answer is not there at once, `meanwhile` is called once.
async function ask(kind, more, then, meanwhile = () => {}) {
  asking[kind]?.abort();
  const mine = new AbortController();
  let isOver = false;
  let first = null; // what was first heard of solving
  asking[kind] = mine;
  inPlace(trouble);
  try {
    const answer = await server.ask("kniffel", query(more), mine.signal, (news) => {
      if (asking[kind] !== mine) return;
      if (news.phase === "solve") first ??= news;
      inPlace(trouble, working(words, news, secondsLeft(news, first), () => mine.abort()));
      meanwhile(() => asking[kind] === mine && !isOver && !mine.signal.aborted, mine.signal);
      meanwhile = () => {};
    });
    if (asking[kind] !== mine) return;
    isOver = true;
    inPlace(trouble);
    await then(answer);
  } catch (error) {
    if (asking[kind] !== mine) return;
    if (error.name !== "AbortError" && !("status" in error)) throw error;
    inPlace(trouble, h("div", { class: "problem", role: "alert" },
      h("p", {}, error.name === "AbortError" ? words.stopped : error.message || words.unreachable),
      found || error.status !== 422 ? h("button", { type: "button", class: "tool", onclick: () => update() }, words.goOn)
        : h("button", { type: "button", class: "tool", onclick: () => { state = { ...DEFAULTS, mode: state.mode }; begin(); } }, words.afresh)));
  }
}

async function update() {
  advice.setAttribute("aria-busy", "true"); // what stands there is of the position before
  toAddress();
  for (const kind of ["advice", "report"]) {
    asking[kind]?.abort();
    asking[kind] = null;
  }
  if (state.mode === "puzzles") {
    status.textContent = words.puzzlesLead;
    reported.abort();
    report.replaceChildren();
    await ask("game", { puzzles: "1" }, ({ puzzles }) => {
      report.hidden = false;
      report.replaceChildren(drawPuzzles(words, puzzles, state.rules));
    });
    return;
  }
  await ask("game", { advice: "0" }, async (answer) => {
    const isNext = answered !== state.game;
    [found, answered] = [answer, state.game];
    const rolled = facesOf(answer.dice ?? "");
    if (sorted(order) !== sorted(rolled)) order = rolled;
    if (kept.length !== order.length) kept = keptOf(isPuzzle() ? state.tried : "");
    showAll();
    if (isNext) toField();
    if (state.mode === "play" && found.over) await showReport();
    if (!hidden() && !found.over) await showAdvice();
  });
}

function showAll() {
  showEnd(state.mode === "play" && found.over);
  sayStatus();
  showDice();
  showSheet();
  if (hidden() && !found.over) {
    const why = state.told === "test" && !isPuzzle() ? words.adviceTest : words.adviceHidden;
    inPlace(advice, adviceHead(), h("p", { class: "note" }, why), soFar());
    advice.setAttribute("aria-busy", "false");
  }
  if (!found.over || state.mode === "ask") {
    reported.abort();
    report.hidden = true;
    report.replaceChildren();
  }
}

function sayStatus() {
  const { over, winner, players, turn, waits_for: waits } = found;
  if (state.mode === "ask") {
    status.textContent = "";
    return;
  }
  const name = (n) => words.player(n + 1);
  if (over) {
    const totals = players.map((each) => each.points);
    status.replaceChildren(h("b", {}, !isTwo() ? words.over(totals[0])
      : winner === null ? words.draw(totals[0])
        : words.wins(name(winner), totals[winner], totals[1 - winner])));
    return;
  }
  if (isPuzzle()) {
    sayPuzzle(words.puzzleTask);
    return;
  }
  const said = waits === "throw" ? words.first : waits === "keep" ? words.keep(found.throw) : words.enter;
  const round = isTwo() ? `${words.round(found.round)}, ${words.toMove(name(turn))}` : words.round(found.round);
  status.replaceChildren(h("span", { class: "round" }, round, lastWords()), ` ${said}`);
}

// Which dice stayed and fell is seen on them: it is told to who does not see them.
function lastWords() {
  if (!last) return null;
  if (last.fell) return unseen(` · ${words.kept(last.stay.join(" "), last.fell.join(" "))}`);
  const { card, upper_part: sum } = found.players[last.who];
  const text = ` · ${found.boxes[last.box]}: ${words.points(card[last.box])}`;
  return last.box < 6 ? `${text}, ${words.bonusBy(sum)}` : text;
}

function sayPuzzle(said) {
  status.replaceChildren(h("span", { class: "round" }, `${words.puzzle(state.puzzle)}: ${words.puzzleAt(found.round, found.throw)}`), ` ${said}`);
}

function decide(tried) {
  state.tried = tried;
  return update();
}

// The dice.

function showDice() {
  const title = h("h2", { id: "dice-title" }, words.dice);
  if (state.mode === "ask") {
    inPlace(dice, title, askDice());
    return;
  }
  if (found.over) {
    inPlace(dice, title,
      h("div", {}, h("button", { type: "button", class: "go throw", "data-key": "throw", onclick: () => go("") }, words.again)),
      h("div", { class: "buttons" }, ...tools()));
    return;
  }
  const waits = found.waits_for;
  const row = h("div", { class: "dice-row", role: "group", "aria-label": words.dice, onkeydown: typeFace },
    ...order.map((face, n) => oneDie(face, n, waits === "keep" ? words.stays(face, kept[n]) : String(face),
      (event) => {
        toggle(n);
        if (event.detail) toField(); // clicked, not pressed
      }, waits === "keep" ? kept[n] : null)),
    ...(order.length ? [] : [1, 2, 3, 4, 5].map(() => h("span", { class: "no-die", "aria-hidden": "true" }))));
  const again = kept.filter((each) => !each).length;
  const canThrow = waits === "throw" || (waits === "keep" && again > 0);
  const whose = isTwo() ? words.throwOf(words.player(found.turn + 1)) : "";
  dice.classList.toggle("by-hand", state.dice === "hand");
  inPlace(dice, title, row,
    h("p", { class: "note dice-help" }, waits === "keep" ? words.diceHelp : ""),
    h("div", { class: "throw-room" }, !canThrow ? null
      : state.dice === "hand" && !isPuzzle() ? typing(words, whose, order.filter((_, n) => kept[n]), again || 5, roll)
        : h("button", { type: "button", class: "go throw", "data-key": "throw", onclick: () => roll(someDice(again || 5)) },
          waits === "throw" ? words.throwFirst : words.throwAgain(again))),
    h("div", { class: "buttons" }, ...tools(), isPuzzle() ? null : handToggle()));
}

function handToggle() {
  return h("label", { class: "toggle" },
    h("input", { type: "checkbox", role: "switch", checked: state.dice === "hand", "data-key": "hand", onchange: (event) => {
      state.dice = event.target.checked ? "hand" : "page";
      toAddress();
      showDice();
      toField();
    } }), h("span", { class: "slide", "aria-hidden": "true" }), words.byHand);
}

// Who throws real dice goes on typing.
function toField() {
  const field = state.mode === "play" && dice.querySelector("#typed");
  if (field && mayFocus()) focusOn(field);
}

function tools() {
  const undo = isPuzzle() || state.told === "test" ? null : h("button", { type: "button", class: "tool", "data-key": "undo",
    "aria-disabled": state.game ? null : "true", onclick: () => state.game && go(takenBack(state.game)) }, words.undo);
  const said = h("span", { class: "note", role: "status" });
  return [undo, ...(isPuzzle() ? ways() : []), h("button", { type: "button", class: "tool", "data-key": "copy", onclick: async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      said.textContent = words.linkCopied;
    } catch {
      said.textContent = words.linkShown;
    }
  } }, words.link), said];
}

// Where to go on from a puzzle.
function ways() {
  const tool = (key, name, onclick) => h("button", { type: "button", class: "tool", "data-key": key, onclick }, name);
  return [
    tool("next", words.puzzleNext, () => ask("next", { puzzles: "1" }, ({ puzzles }) => {
      location.hash = addressOf(puzzles, Number.parseInt(state.puzzle, 10) + 1 || 1, state.rules);
    })),
    tool("puzzles", words.puzzleAll, () => turnTo("puzzles")),
    tool("leave", words.puzzleLeave, () => turnTo("play")),
  ];
}

// Which of the dice stay, by their faces.
function keptOf(faces) {
  const rest = facesOf(faces);
  return order.map((face) => {
    const place = rest.indexOf(face);
    if (place >= 0) rest.splice(place, 1);
    return place >= 0;
  });
}

function typeFace(event) {
  if (isLate() || found.waits_for !== "keep" || !/^[1-6]$/.test(event.key) || event.target.tagName === "INPUT") return;
  const face = Number(event.key);
  const places = order.map((_, n) => n).filter((n) => order[n] === face);
  const free = places.find((n) => !kept[n]);
  if (free !== undefined) toggle(free);
  else places.forEach((n) => toggle(n));
}

function toggle(n) {
  if (isLate() || found.waits_for !== "keep") return;
  kept[n] = !kept[n];
  showDice();
}

async function roll(faces) {
  if (isLate()) return; // clicked twice
  const first = found.waits_for === "throw";
  const stay = first ? [] : order.filter((_, n) => kept[n]);
  if (isPuzzle()) {
    await decide(sorted(stay) || "0");
    return;
  }
  const next = first || order.length === 0 ? [...faces] : order.map((face, n) => (kept[n] ? face : null));
  const rest = [...faces];
  const fell = next.map((face) => first || face === null);
  order = next.map((face) => face ?? rest.shift());
  const stays = order.map((_, n) => !fell[n]);
  kept = stays;
  state.game = thrown(state.game, stay, order);
  last = { stay, fell: [...faces] };
  await update();
  await Promise.all([...dice.querySelectorAll(".dice-row .slot")].map((slot, n) =>
    fell[n] ? fall(slot, { kind: "dice", faces: [order[n]], kept: [false], spots: [] }) : null));
}

async function go(game, done = null) {
  state.game = game;
  last = done;
  [order, kept, all] = [[], [], false];
  await update();
  if (document.activeElement === document.body) status.focus();
}

// The sheet.

function showSheet(advised = []) {
  if (state.mode === "ask") {
    askSheet();
    return;
  }
  const open = new Map(found.entries.map((each) => [each.box, each.points]));
  const columns = found.players.map((card, n) => {
    const active = !found.over && n === found.turn;
    return {
      name: isTwo() ? words.player(n + 1) : words.mine, card, active,
      cells: (box) => {
        if (card.card[box] !== null) return card.card[box] === 0 ? h("span", { class: "struck" }, "0") : String(card.card[box]);
        if (!active || !open.has(box) || !["keep", "entry"].includes(found.waits_for)) return "";
        const points = open.get(box);
        const best = advised.includes(box);
        const name = words.enterIn(points, found.boxes[box]);
        return h("button", {
          type: "button", class: `enter${best ? " best-entry" : ""}${points ? "" : " zero"}`, "data-key": `box-${box}`,
          "aria-label": best ? `${name} (${words.best})` : name, onclick: () => enter(box),
        }, String(points), best ? h("span", { class: "star", "aria-hidden": "true" }, "★") : null);
      },
    };
  });
  inPlace(sheet, drawSheet(words, found.boxes, columns));
}

const enter = (box) => isLate() || (isPuzzle() ? decide(LETTERS[box]) : go(entered(state.game, order, found.throw, box), { who: found.turn, box }));

// Advice.

function adviceHead() {
  const shown = h("input", { type: "checkbox", checked: state.advice !== "0", "data-key": "advice", onchange: (event) => {
    state.advice = event.target.checked ? "1" : "0";
    update();
  } });
  return h("div", { class: "choices-head" }, h("h2", {}, words.advice),
    state.mode === "play" && state.told === "show" && !found?.over && !isPuzzle()
      ? h("label", { class: "toggle" }, shown, h("span", { class: "slide", "aria-hidden": "true" }), words.show) : null);
}

function soFar() {
  if (state.mode !== "play" || isPuzzle() || state.told === "test" || found.over || !state.game) return null;
  return h("button", { type: "button", class: "tool so-far", "data-key": "so-far", onclick: async () => {
    await showReport();
    report.querySelector("h2")?.focus();
  } }, words.reportSoFar);
}

async function showAdvice() {
  await ask("advice", {}, drawAdvice, async (isOpen, signal) => {
    if (goal() === "points") return;
    const points = await server.ask("kniffel", query({ goal: "points" }), signal).catch(() => null);
    if (points && isOpen()) drawAdvice(points, words.meanwhile[goal()]);
    if (goal() === "beat" && state.plays !== "points") return;
    const quick = await server.ask("kniffel", query({ quick: "1" }), signal).catch(() => null);
    if (quick && isOpen()) drawAdvice(quick);
  });
}

function drawAdvice(answer, note = answer.then ? words.thenShort[answer.goal] : "") {
  advice.setAttribute("aria-busy", "false");
  const redraw = () => {
    inPlace(advice, adviceHead(), heading(words, answer, state.total),
      note ? h("p", { class: "note instead" }, note) : null,
      answer.options.length
        ? decisions(words, answer, { all, choose: (option) => choose(option), showAll: () => { all = !all; redraw(); } })
        : h("p", { class: "note" }, words.noAdvice),
      exactly(words, answer, seenOf(answer, all), exact), soFar());
  };
  redraw();
  const said = isPuzzle() && verdict(words, answer, state.tried);
  if (said) sayPuzzle(said);
  const best = answer.options.filter((each) => isBest(answer, each)).map((each) => (each.entry ?? each).box);
  if (best.some((box) => box !== undefined) && state.mode === "play") showSheet(best);
}

function choose(option) {
  if (isLate() || advice.getAttribute("aria-busy") === "true") return;
  const { box } = option.entry ?? option;
  if (box !== undefined) {
    if (state.mode === "play") enter(box);
    else enterAsked(box);
    return;
  }
  kept = keptOf(option.kept);
  showDice();
  (dice.querySelector(".throw, #typed") ?? dice.querySelector(".die-button"))?.focus();
}

async function showReport() {
  await ask("report", { report: "1", advice: "0" }, (answer) => {
    const redraw = () => {
      reported.abort();
      reported = new AbortController();
      const drawn = drawReport(words, answer.report, {
        over: answer.over, goal: goal(), gone: reported.signal, onlyLosses, filter: (event) => { onlyLosses = event.target.checked; redraw(); },
        why: (decision, signal, progress) => server.ask("kniffel", {
          lang: language, rules: state.rules, card: decision.card.map((each) => each ?? "-").join(","),
          further: decision.further, throw: decision.throw, dice: decision.dice,
          why: decision.decision === "keep" ? decision.chosen.kept : decision.chosen.box,
        }, signal, progress).then((told) => told.why),
      });
      if (answer.over) {
        advice.setAttribute("aria-busy", "false");
        inPlace(advice, drawn.summary);
        showMistake(answer.report);
      }
      inPlace(report, answer.over ? drawn.all : [...drawn.summary, ...drawn.all]);
    };
    report.hidden = false;
    redraw();
  });
}

function showEnd(isOver) {
  play.classList.toggle("over", isOver);
  status.classList.toggle("result", isOver);
  banner.hidden ||= !isOver;
}

// What has cost most, and the way to it.
function showMistake(reports) {
  const worst = costliest(words, reports);
  banner.hidden = false;
  inPlace(banner, h("p", {}, worst ? worst.said : words.noMistakes), worst && h("button", {
    type: "button", class: "tool show-mistake", "data-key": "mistake",
    onclick: () => {
      const there = report.querySelector(`[data-key="${worst.key}"]`);
      there.scrollIntoView({ block: "center" });
      focusOn(there);
    },
  }, words.showMistake));
}

// Looking up a situation.

const cardOf = (name) => {
  const entries = state[name].split(/[\s,]+/).filter(Boolean);
  return FREE.map((_, box) => entries[box] ?? "-");
};

function askSheet() {
  const field = (name, who) => (box) => {
    const value = cardOf(name)[box];
    return h("input", {
      type: "text", class: "entry-input", inputmode: "numeric", maxlength: 3, autocomplete: "off",
      "data-key": `${name}-${box}`, value: value === "-" ? "" : value, "aria-label": `${found.boxes[box]}, ${who}`,
      onchange: (event) => {
        const entries = cardOf(name);
        const entry = event.target.value.trim() || "-";
        if (entry === entries[box]) return;
        entries[box] = entry;
        state[name] = entries.every((each) => each === "-") ? "" : entries.join(",");
        update();
      },
    });
  };
  const columns = [{ name: words.mine, card: found, active: true, cells: field("card", words.mine) }];
  if (goal() === "beat") columns.push({ name: words.opponent, card: found.opponent, active: false, cells: field("against", words.opponent) });
  const further = state.rules !== "yahtzee" ? null : (n) => {
    const name = n ? "against_further" : "further";
    return h("input", {
      type: "text", class: "entry-input", inputmode: "numeric", maxlength: 2, value: state[name], "data-key": name,
      "aria-label": `${words.further}, ${columns[n].name}`, onchange: (event) => { state[name] = event.target.value; update(); } });
  };
  inPlace(sheet, h("p", { class: "note ask-help" }, words.askHelp), drawSheet(words, found.boxes, columns, { furtherCell: further }),
    h("button", { type: "button", class: "tool", "data-key": "clear", onclick: () => {
      [state.card, state.against, state.further, state.against_further] = ["", "", "0", "0"];
      update();
    } }, words.clear));
}

function askDice() {
  const faces = state.faces ? facesOf(state.faces) : [];
  const shown = faces.length === 5 ? faces : [];
  const set = (text) => {
    if (text === state.faces) return; // a field that is replaced tells its value once more
    state.faces = text;
    if (text.length === 5 && state.throw === "0") state.throw = "1";
    order = facesOf(text);
    kept = order.map(() => false);
    all = false;
    update();
  };
  if (order.length !== 5 || sorted(order) !== sorted(shown)) [order, kept] = [shown, shown.map(() => false)];
  const row = h("div", { class: "dice-row", role: "group", "aria-label": words.dice },
    ...(shown.length ? order : [1, 1, 1, 1, 1]).map((face, n) => oneDie(face, n, words.turnsTo(n + 1, face), () => {
      const next = shown.length ? [...order] : [1, 1, 1, 1, 1];
      next[n] = 1 + (next[n] % 6);
      set(next.join(""));
    }, kept[n] ? true : null)));
  const input = h("input", { id: "faces", type: "text", inputmode: "numeric", maxlength: 5, size: 6, autocomplete: "off",
    value: state.faces, "data-key": "faces", onchange: (event) => set(event.target.value.trim()) });
  const number = h("select", { id: "throw", "data-key": "throw", onchange: (event) => {
    state.throw = event.target.value;
    if (state.throw === "0") state.faces = "";
    all = false;
    update();
  } }, ...words.throwNames.map((name, n) => h("option", { value: n, selected: String(n) === (state.faces.length === 5 ? state.throw : "0") }, name)));
  return [row, h("div", { class: "fields" },
    h("div", { class: "field" }, h("label", { for: "faces" }, words.dice), input),
    h("div", { class: "field" }, h("label", { for: "throw" }, words.throwLabel), number),
    ...goalFields(words, state, (name, value) => { state[name] = value; update(); }))];
}

function enterAsked(box) {
  if (!state.faces) return; // clicked twice
  const open = found.entries.find((each) => each.box === box);
  const entries = cardOf("card");
  entries[box] = String(open.points);
  state.card = entries.join(",");
  if (open.further) state.further = String(Number(state.further || 0) + 1);
  [state.faces, order, kept] = ["", [], []];
  update();
}

// The settings, and how all begins.

function showSettings() {
  const tabs = h("div", { class: "modes", role: "group", "aria-label": words.title },
    ...Object.entries(words.modes).map(([mode, name]) => h("button", {
      type: "button", class: "mode", "aria-pressed": String(mode === (state.puzzle ? "puzzles" : state.mode)), "data-key": `mode-${mode}`,
      onclick: () => turnTo(mode),
    }, name)));
  inPlace(settings, tabs, state.mode !== "play" || state.puzzle ? null : newGame(words, state, () => {
    showSettings();
    go("");
    status.focus();
  }));
}

function turnTo(mode) {
  Object.assign(state, { mode, puzzle: "", tried: "" });
  [found, order, kept, all, last] = [null, [], [], false, null];
  return begin();
}

async function begin() {
  document.title = words.title;
  play.classList.toggle("asking", state.mode === "ask");
  play.classList.toggle("listing", state.mode === "puzzles");
  showEnd(false);
  showSettings();
  if (!found) inPlace(advice, adviceHead());
  await update();
}

const play = h("div", { class: "kniffel" },
  h("header", { class: "kniffel-head" }, h("h1", { tabindex: "-1" }, words.title), h("p", { class: "lead" }, words.lead), rules),
  settings, h("div", { class: "middle" }, status, banner, trouble, dice), sheet, advice, report);
page.replaceChildren(play);
new ResizeObserver(() => play.style.setProperty("--status-height", `${status.offsetHeight}px`)).observe(status);
addEventListener("hashchange", async () => {
  state = fromAddress();
  [found, order, kept, last] = [null, [], [], null];
  await begin();
  if (document.activeElement === document.body && mayFocus()) status.focus(); // the link that was followed is gone
});
await begin();
