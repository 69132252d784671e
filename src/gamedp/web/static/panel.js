// What is seen of a game under way. Built once; each change then fills in its parts, and elements
// that have the focus stay where they are.

import { actionsOf, die, markLast, writeValues } from "./boards.js";
import { become, focusOn, h, mayFocus, s, unseen } from "./dom.js";
import { mistakeWords, past } from "./past.js";
import { seats, standing } from "./seats.js";
import { Story } from "./story.js";
import { isFirstVisit, rulesOf } from "./rules.js";
import { headline } from "./start.js";
import { capital, named, number, small, whole, words } from "./words.js";
import { costOf, fallOf, isResult, said, short, toneOf } from "./worth.js";

const FEW = 4; // actions that fit side by side at the thumb

export class Panel {
  constructor(play) {
    this.play = play;
    this.tray = h("div", { class: "tray-dice" });
    this.hadFocus = false;
  }

  // Once for each language.
  build() {
    const { play } = this;
    const { name, key, said, all, example } = headline(play.game, play.parameters);
    this.isFirst ??= isFirstVisit(key);
    const button = (text, onclick, cls = "tool") => h("button", { type: "button", class: cls, onclick }, text);
    const toggle = (text, checked, onchange, help) =>
      h("label", { class: "toggle", title: help },
        h("input", { type: "checkbox", role: "switch", checked, onchange: (event) => onchange(event.target.checked) }),
        h("span", { class: "slide", "aria-hidden": "true" }), text);
    document.title = `${name} · gamedp`;
    this.heading = h("h1", { tabindex: "-1" }, name);
    this.status = h("p", { class: "status", role: "status", tabindex: "-1" });
    this.board = h("div", { class: "board" });
    this.trayWords = h("p", { class: "tray-words" });
    this.trayBox = h("div", { class: "tray", hidden: true }, this.tray, this.trayWords);
    this.curtain = h("div", { class: "curtain", hidden: true });
    this.story = new Story(play, this.board);
    this.seats = seats(play);
    this.standing = standing(play);
    this.actions = h("ul", { class: "actions", onkeydown: (event) => this.typeFace(event) });
    this.actionsTitle = h("h2", {}, words.actions);
    this.basis = h("p", { class: "basis" });
    this.exact = h("details", { class: "exact" }, h("summary", {}, words.exact), h("div", { class: "exact-table", tabindex: "0", role: "region", "aria-label": words.exact }));
    this.banner = h("div", { class: "banner", hidden: true });
    this.undo = button(words.undo, () => play.undo());
    this.hint = button(words.hint, () => this.showHint());
    this.handToggle = toggle(words.byHand, play.byHand, (on) => play.setByHand(on), words.byHandHelp);
    this.past = past(play);
    this.why = whyOf(play);
    this.task = h("div", { class: "puzzle", hidden: true });
    this.toPuzzles = h("a", { class: "all", hidden: true }, words.puzzles);
    this.surface = play.game.surface ? surfaceOf(play) : null;
    play.page.replaceChildren(
      h("div", { class: "play" },
        h("section", { class: "table" },
          h("div", { class: "title" }, this.heading,
            said.length ? h("p", { class: "rules" }, said.join(" · ")) : null,
            h("nav", { class: "ways" }, this.toPuzzles, h("a", { href: "#", class: "all" }, words.otherGames))),
          rulesOf(play.game, all, example, this.isFirst),
          this.task,
          h("div", { class: "stage" }, this.status, this.banner,
            h("div", { class: "frame" }, this.board, this.trayBox, this.curtain)),
          this.standing.element,
          this.story.element), // which is not there before the first move: nothing is to jump
        h("div", { class: "beside" }, h("section", { class: "choices" },
          h("div", { class: "choices-head" }, this.actionsTitle,
            toggle(words.values, play.values, (on) => play.setValues(on))),
          this.actions, this.why.element, this.exact, this.basis,
          h("div", { class: "tools" }, this.undo, this.hint,
            button(words.link, () => this.copyLink()),
            button(words.newGame, () => play.again()), this.handToggle)),
          this.past.element),
        this.seats.element,
        this.surface),
    );
  }

  paint() {
    const { play } = this;
    if (!play.now) return;
    this.keepFocus();
    this.paintBoard();
    this.story.paint();
    this.paintActions();
    this.why.paint();
    this.paintPuzzle();
    this.seats.paint();
    this.standing.paint();
    this.say(this.statusWords());
    this.basis.textContent = play.values ? lengthWords(play.now) + basisWords(play.now) : "";
    this.undo.setAttribute("aria-disabled", String(!play.canUndo));
    this.hint.setAttribute("aria-disabled", String(!play.isPersonsTurn));
    play.hasChance ||= play.now.actions.some((each) => each.chance.length > 1);
    this.handToggle.hidden = this.trayBox.hidden = !play.hasChance; // there is room before it falls
    this.paintBanner();
    this.surface?.follow?.(play.now);
    this.giveFocus();
    this.showEnd();
  }

  // How it has ended is seen, wherever one has scrolled to; a page around this one stays where it is.
  showEnd() {
    const isOver = this.play.now.over && this.play.isLive;
    const { top, bottom } = this.status.getBoundingClientRect();
    const isSeen = window.parent !== window || (top >= 0 && bottom <= innerHeight);
    if (isOver && this.wasOver === false && !isSeen) this.status.scrollIntoView({ block: "center" });
    this.wasOver = isOver;
  }

  // The way to the puzzles; and what is said of the one that is tried.
  async paintPuzzle() {
    const { play } = this;
    this.toPuzzles.hidden = play.now.basis.kind !== "table";
    const { addressOfAll, paintTask } = this.toPuzzles.hidden || (this.toPuzzles.hasAttribute("href") && !play.puzzle)
      ? {} : await import("./puzzles.js");
    if (addressOfAll) this.toPuzzles.setAttribute("href", addressOfAll(play.game.name, play.parameters));
    if (play.puzzle) await paintTask?.(play, this.task);
    else this.task.hidden = true;
  }

  paintPast() {
    if (this.play.moves) return; // not before it is seen on the board
    this.past.paint();
    this.standing.paint();
    this.paintBanner();
  }

  // How it has ended, and where that was decided.
  paintBanner() {
    const { play } = this;
    const isOver = Boolean(play.now?.over) && play.isLive;
    this.status.classList.toggle("result", isOver);
    const known = isOver && play.past?.over && play.past.kind !== "none" ? play.past : null;
    const own = known?.mistakes.filter((ply) => !play.people.length || play.people.includes(known.plies[ply].mover)) ?? [];
    const ply = known?.plies[own[0]];
    become(this.banner, h("div", { class: "banner", hidden: !known },
      known && h("p", {}, ply ? words.costliest(mistakeWords(play, ply), fallOf(play.now, ply)) : words.noMistakes),
      ply && h("button", { type: "button", class: "tool show-mistake", onclick: () => play.look(ply.ply) }, words.showMistake)));
  }

  // Once a ply: what stands there already is not said again, but the same face may be thrown twice.
  say(text) {
    const { line } = this.play;
    if (this.status.textContent === text && this.said === line) return;
    this.said = line;
    const result = this.play.now?.over && this.play.isLive && text && resultWords(this.play);
    this.status.replaceChildren(...(result ? [h("b", {}, result), text.slice(result.length)] : [text]));
  }

  statusWords() {
    const { play } = this;
    const { now } = play;
    const parts = [];
    if (play.isLive && now.played && !play.asking) {
      const { mover, name, outcome_name: brought, probability } = now.played;
      const what = named(name) + (brought ? `, ${named(brought)}` : "");
      const isYou = play.nameOf(mover) === words.you;
      parts.push(isYou ? words.playedYou(what) : words.played(play.nameOf(mover), what));
      if (!brought && probability < 1) parts.push(words.chance(words.outcomeNumber(now.played.outcome + 1)));
    }
    if (!play.isLive) parts.push(words.lookingBack(play.cursor, play.line.actions.length));
    if (now.over) {
      parts.push(words.over);
      const result = resultWords(play);
      if (play.isLive && result) parts.unshift(result);
    } else if (play.asking) parts.push(this.throwWords());
    else if (play.seats[now.mover] !== "person" && play.isLive) {
      parts.push(words.thinking(play.nameOf(now.mover)));
    } else if (play.nameOf(now.mover) === words.you) parts.push(words.yourTurn);
    else parts.push(words.turnOf(play.nameOf(now.mover)));
    if (play.throwing && !play.asking) parts.push(this.throwWords());
    return parts.join(" ");
  }

  // Whose throw is needed.
  throwWords() {
    const { throwing, now } = this.play;
    const who = this.play.nameOf(now.mover);
    if (!throwing.chance.every(faceOf)) return words.chooseOutcome(who, capital(named(throwing.name)));
    return who === words.you ? words.throwYou : words.throwFor(who);
  }

  paintBoard() {
    const { play } = this;
    const drawing = play.drawBoard();
    const open = play.isPersonsTurn && !play.asking;
    const { now } = play;
    if (play.values && !play.moves && !play.asking && !now.over) {
      const found = new Map(now.actions.map((entry) => [entry.action, boardWorth(now, entry)]));
      writeValues(drawing, (action) => found.get(action));
    }
    if (now.previous && play.cursor) {
      markLast(drawing, now.previous, now.view, play.line.actions[play.cursor - 1]);
    }
    for (const part of drawing.querySelectorAll("[data-actions]")) {
      const actions = actionsOf(part);
      if (!open) continue;
      part.classList.add("playable");
      // Of several actions in one place, the list asks which.
      part.addEventListener("click", () => (actions.length > 1 ? this.focusAction(actions[0]) : play.act(actions[0])));
      part.addEventListener("pointerenter", () => actions.forEach((action) => this.point(action, true)));
      part.addEventListener("pointerleave", () => actions.forEach((action) => this.point(action, false)));
    }
    this.board.replaceChildren(drawing, ...this.lettersOf(drawing));
  }

  // What the letters on the board stand for, if there are some.
  lettersOf(drawing) {
    const { now } = this.play;
    const ends = new Set([...drawing.querySelectorAll(".valued")].flatMap((part) =>
      ["win", "draw", "loss"].filter((end) => part.classList.contains(`tone-${end}`))));
    return isResult(now) && ends.size ? [h("p", { class: "letters" }, ["win", "draw", "loss"].filter((end) => ends.has(end))
      .map((end) => `${words.letters[end]}: ${words.results[end]}`).join(" · "))] : [];
  }

  focusAction(action) {
    this.actions.querySelector(`[data-action="${action}"]`)?.focus();
  }

  // Light up an action in the list and on the board.
  point(action, on) {
    for (const part of this.play.page.querySelectorAll(`[data-action="${action}"], [data-actions~="${action}"]`)) {
      part.classList.toggle("pointed", on);
      const heap = part.closest(".heap");
      if (heap) {
        for (const match of heap.querySelectorAll(".match:not(.gone)")) {
          const isTaken = Number(match.dataset.place) >= Number(part.dataset.place);
          match.classList.toggle("pointed", on && isTaken);
        }
      }
    }
  }

  paintActions() {
    const { play } = this;
    const items = [...(play.throwing ? this.outcomeItems() : []), ...(play.asking ? [] : this.actionItems())];
    const { now } = play;
    const isFew = items.length <= FEW || now.actions.some((each) => each.spot === null);
    const isOpen = play.isPersonsTurn || play.asking || now.over;
    const kinds = [
      items.length > 6 && "many", play.values && !play.asking && "with-values",
      isResult(now) && "with-results", isFew && isOpen && "at-thumb",
    ];
    become(this.actions, h("ul", { class: ["actions", ...kinds].filter(Boolean).join(" ") }, ...items));
    this.exact.hidden = !play.values || Boolean(play.asking) || now.over || !now.actions.some((each) => each.number !== null);
    become(this.exact.lastChild, h("div", {
      class: "exact-table", tabindex: "0", role: "region", "aria-label": words.exact,
    }, ...(this.exact.hidden ? [] : [exactTable(now), widthWords(now)])));
    const mover = play.now.over ? null : play.now.mover;
    this.actionsTitle.textContent = now.over ? words.overTitle : play.asking ? words.outcomes
      : mover === null || play.nameOf(mover) === words.you ? words.actions
        : words.actionsOf(play.nameOf(mover));
  }

  actionItems() {
    const { play } = this;
    const { now } = play;
    if (now.over) {
      return [h("li", {}, h("button", { type: "button", class: "action again", onclick: () => play.again() },
        h("span", { class: "name" }, words.again)))];
    }
    const span = barSpan(play);
    const areAlike = now.actions.length > 1 && now.actions.every((each) => each.best !== "no");
    return now.actions.map((entry) => {
      const isBest = play.values && entry.best !== "no" && !areAlike;
      return h("li", {}, h("button", {
        type: "button", class: `action${isBest ? " is-best" : ""}`, "data-action": entry.action,
        "aria-disabled": play.isPersonsTurn ? null : "true", onclick: () => play.act(entry.action),
        onpointerenter: () => this.point(entry.action, true),
        onpointerleave: () => this.point(entry.action, false),
        onfocus: () => this.point(entry.action, true),
        onblur: () => this.point(entry.action, false),
      }, h("span", { class: "name" }, capital(named(entry.name))),
      ...(play.values ? worth(now, entry, span) : [])));
    });
  }

  outcomeItems() {
    const { play } = this;
    const buttons = play.throwing.chance.filter((each) => each.probability > 0).map((each) => {
      const text = each.name ? capital(named(each.name)) : capital(words.outcomeNumber(each.outcome + 1));
      const face = faceOf(each);
      return h("button", {
        type: "button", class: `action${face ? " outcome" : ""}`, title: face ? text : null, "data-face": face,
        onclick: () => play.enter(each.outcome),
      }, face && s("svg", { viewBox: "0 0 60 60", class: "face", "aria-hidden": "true" }, die(face)),
      h("span", { class: "name" }, text));
    });
    if (!play.throwing.chance.every(faceOf)) return buttons.map((button) => h("li", {}, button));
    return [h("li", { class: "throw" }, h("div", { class: "throw-words", "aria-hidden": "true" }, this.throwWords()),
      h("div", { class: "faces", role: "group", "aria-label": this.throwWords() }, ...buttons))];
  }

  typeFace({ key, ctrlKey, altKey, metaKey }) {
    if (ctrlKey || altKey || metaKey || !/^\d$/.test(key)) return;
    this.actions.querySelector(`[data-face="${key}"]`)?.click();
  }

  paintChance() {
    const { chance } = this.play;
    if (chance) {
      const brought = chance.outcome_name || words.outcomeNumber(chance.outcome + 1);
      this.trayBox.hidden = false;
      this.trayWords.textContent = capital(named(brought));
    } else {
      this.tray.replaceChildren();
      this.trayWords.textContent = "";
    }
  }

  showHint() {
    const { play } = this;
    if (!play.isPersonsTurn) return;
    const best = play.best();
    const names = best.map((each) => capital(named(each.name)));
    const isKnown = (play.now.value?.number ?? null) !== null && best.length > 0;
    this.status.textContent = !isKnown ? words.hintNone
      : best.length === play.now.actions.length && best.length > 1 ? words.hintAll
        : words.hintBest(names.join(", "));
    const button = [...this.actions.querySelectorAll("button")]
      .find((each) => Number(each.dataset.action) === best[0]?.action);
    button?.classList.add("hinted");
  }

  async copyLink() {
    try {
      await navigator.clipboard.writeText(new URL(this.play.address(), location.href).href);
      this.status.textContent = words.linkCopied;
    } catch {
      this.status.textContent = words.linkShown;
    }
  }

  // Progress and trouble, over the board.

  wait() {
    this.cover(h("p", {}, `${words.loading} …`));
  }

  progress(news) {
    const known = news.total && news.done !== null;
    const share = known ? { max: news.total, value: Math.min(news.done, news.total) } : {};
    const text = words.phase[news.phase] ?? words.phase.solve;
    const seconds = number(Math.round(news.seconds * 10) / 10, { digits: 1 });
    if (!this.bar?.isConnected) {
      this.bar = h("progress", { "aria-label": text });
      this.phase = h("p", { class: "phase" });
      this.seconds = h("p", { class: "seconds" });
      const stop = h("button", { type: "button", class: "tool", onclick: () => this.play.stop() }, words.stop);
      this.cover(this.phase, this.bar, this.seconds, stop);
    }
    if (this.phase.textContent !== text) this.phase.textContent = text;
    this.bar.setAttribute("aria-label", text);
    for (const name of ["max", "value"]) {
      if (name in share) this.bar.setAttribute(name, share[name]);
      else this.bar.removeAttribute(name);
    }
    this.seconds.textContent = words.seconds(seconds);
  }

  cover(...what) {
    this.curtain.hidden = false;
    this.curtain.replaceChildren(h("div", { class: "curtain-box" }, ...what));
  }

  clear() {
    if (this.curtain.contains(document.activeElement)) focusOn(this.heading);
    this.curtain.hidden = true;
    this.curtain.replaceChildren();
  }

  fail(message, name, help) {
    this.keepFocus();
    const button = h("button", { type: "button", class: "tool", onclick: help }, name);
    this.curtain.hidden = false;
    this.curtain.replaceChildren(h("div", { class: "curtain-box problem", role: "alert" }, h("p", {}, message), button));
    this.say("");
    if (mayFocus()) focusOn(button);
  }

  // The focus stays on the actions, and is never lost.

  keepFocus() {
    if (this.actions.contains(document.activeElement)) this.hadFocus = true;
  }

  giveFocus() {
    const isLost = document.activeElement === document.body || document.activeElement === null;
    if (this.hadFocus && !this.actions.contains(document.activeElement)) {
      this.focusActions();
    } else if (isLost && mayFocus()) focusOn(this.heading);
    if (this.play.throwing && document.activeElement === this.heading) focusOn(this.actions.querySelector("button"));
    this.hadFocus = false;
  }

  focusActions() {
    const button = this.actions.querySelector("button") ?? this.status;
    if (this.play.byHand) focusOn(button); // at the thumb, or beside the board
    else button.focus();
  }
}

// What a die shows that chance has brought; null if it is no die.
const faceOf = ({ view }) => (view?.kind === "dice" && view.faces.length === 1 ? view.faces[0] : null);

// The surface is loaded when somebody opens its box.
function surfaceOf(play) {
  const body = h("div", { class: "surface-body" });
  const box = h("details", { class: "surface" }, h("summary", {}, h("h2", {}, words.surface)), body);
  box.addEventListener("toggle", async () => {
    if (!box.open || body.firstChild) return;
    body.append(h("p", { role: "status" }, `${words.loading} …`));
    try {
      const { surface } = await import("./surface.js");
      const { parts, follow } = await surface(play);
      body.replaceChildren(...parts);
      box.follow = follow;
      follow(play.now);
    } catch (error) {
      const told = h("p", { class: "problem", role: "alert" }, error.message || words.unreachable);
      body.replaceChildren(told);
      box.addEventListener("toggle", () => told.remove(), { once: true }); // closed, it may be tried again
    }
  });
  return box;
}

// Why a move is good or bad: worked out when somebody opens the box.
function whyOf(play) {
  const body = h("div", { class: "because-body" });
  const element = h("details", { class: "because" }, h("summary", {}, words.why), body);
  let of = null;
  async function paint() {
    const { now } = play;
    element.hidden = now.over || Boolean(play.asking);
    if (element.hidden || !element.open || play.busy || of === now) return;
    of = now;
    try {
      const { explain } = await import("./why.js");
      if (of === play.now) await explain(play, body);
    } catch (error) {
      of = null; // closed and opened, it is tried again
      body.replaceChildren(h("p", { class: "problem", role: "alert" }, error.message || words.unreachable));
    }
  }
  element.addEventListener("toggle", () => play.now && paint());
  return { element, paint };
}

// What has been worth something in this game so far, and what its next actions are: as far as bars reach.
function barSpan({ now, past }) {
  const found = now.actions.flatMap(({ number }) => (number === null ? [] : [Number(number)]));
  for (const { values } of past?.plies ?? []) if (values) found.push(values[now.mover] - Number(now.earned[now.mover]));
  return [Math.min(...found), Math.max(...found)];
}

const starOf = (now, entry) => (entry.number === null || now.actions.length < 2
  || now.actions.every(({ best }) => best !== "no") ? "" : { certain: "★", possible: "☆", no: "" }[entry.best]);

// The value of an action as it is written on the board.
const boardWorth = (now, entry) => ({
  ...toneOf(now, entry), number: entry.number, value: Number(entry.number ?? -Infinity), star: starOf(now, entry),
  short: short(now, entry), tiny: short(now, entry, true),
});

// The value of an action in the list: a bar, a star, the value in words, and what it costs.
function worth(now, entry, [low, high]) {
  const isKnown = entry.number !== null;
  const star = starOf(now, entry);
  const bar = h("span", { class: "bar", "aria-hidden": "true" });
  const { tone, loss } = toneOf(now, entry);
  if (isKnown) {
    const full = h("span", { class: `bar-full tone-${tone}` });
    full.style.width = `${100 * (high > low ? 0.06 + 0.94 * ((Number(entry.number) - low) / (high - low)) : 1)}%`;
    if (loss !== undefined) full.style.setProperty("--loss", loss);
    bar.append(full);
  }
  const isLess = isKnown && entry.best === "no" && Number(entry.loss) > 0;
  const [cost, left] = [costOf(now, entry), lasting(now, entry)];
  const note = { "★": words.best, "☆": words.maybeBest }[star];
  return [
    h("span", { class: "star", "aria-hidden": "true" }, star), bar,
    h("span", { class: "number", "data-number": isKnown ? entry.number : null }, unseen(", "), said(now, entry)),
    h("span", { class: "more", "data-number": isLess ? entry.loss : null }, cost ? unseen(", ") : null, cost),
    h("span", { class: "plies-left" }, left ? unseen(", ") : null, left),
    note ? unseen(`, ${note}`) : null,
  ].filter(Boolean);
}

// Every number to its last digit, with the bounds that are proven.
function exactTable(now) {
  const cell = (value) => h("td", {}, value === null ? "–" : fixed(value));
  return h("table", {},
    h("thead", {}, h("tr", {}, ...words.exactHeads.map((head) => h("th", { scope: "col" }, head)))),
    h("tbody", {}, ...now.actions.map((entry) => h("tr", {},
      h("th", { scope: "row" }, capital(named(entry.name))),
      h("td", { class: "value" }, entry.number === null ? "–"
        : (entry.relation === "=" ? "" : `${entry.relation} `) + fixed(entry.number)),
      cell(entry.lower), cell(entry.upper), cell(entry.loss)))));
}

// How near to the truth these numbers are, where they are not exact.
const widthWords = ({ basis }) => (basis.why === "proven" && basis.width
  ? h("p", { class: "note" }, words.exactWidth(small(basis.width))) : null);

// How long play still lasts, and how it ends: "wins in 5", or an average.
const lasting = (now, { plies, ends }) => (plies === null
  || (ends && ["win", "result"].includes(now.basis.stakes?.kind)) ? "" : !Number.isFinite(Number(plies)) ? words.endless
  : ends ? words.ends[ends](plies) : words.lasts(roughly(plies)));

// Of an average, nobody wants to know more.
const roughly = (plies) => number(Number(plies) < 10 ? plies : Math.round(plies), { digits: 1 });

const fixed = (value) => number(value, { fixed: !Number.isInteger(Number(value)) });

function lengthWords({ basis, ends, over, plies }) {
  const why = over ? null : words.noPlies[basis.why_no_plies];
  if (why) return `${why} `;
  if (plies === null || !Number.isFinite(Number(plies))) return "";
  const said = ends ? words.bestPlay
    : words.leftPlies(roughly(plies), basis.plies === "mean");
  return `${said} `;
}

function basisWords(now) {
  const { kind, states, why, depth, width } = now.basis;
  if (kind === "none" || now.value === null) return now.over ? "" : words.basisNone;
  if (kind === "search") {
    if (now.value.number === null) return words.basisSearchUnknown;
    return why === "proven" || why === "exact" ? words.basisSearchProven(depth) : words.basisSearch(depth);
  }
  if (why === "exact") return words.basisExact(whole(states));
  if (why === "proven") return width ? words.basisProven(whole(states)) : words.basisExact(whole(states));
  if (why === "equilibrium") return words.basisEquilibrium(whole(states));
  return words.basisUnproven;
}

function resultWords(play) {
  const payoffs = play.now.payoffs?.map(Number);
  if (!payoffs) return "";
  if (payoffs.length === 1) return words.got(number(payoffs[0]));
  const most = Math.max(...payoffs);
  const winners = payoffs.flatMap((payoff, n) => (payoff === most ? [n] : []));
  if (winners.length === payoffs.length) return words.draw;
  const [you] = play.people.length === 1 ? play.people : [null];
  if (winners.length === 1 && winners[0] === you) return words.wonYou;
  if (you !== null && !winners.includes(you) && payoffs.length === 2) return words.lostYou;
  return winners.map((winner) => words.won(play.nameOf(winner))).join(" ");
}
