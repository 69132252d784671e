// Who sits where, and how the game stands for each.

import { h } from "./dom.js";
import { words } from "./words.js";
import { balanceOf, said } from "./worth.js";

const AMOUNT = { search: { start: 6, min: 1, max: 30 }, mistaken: { start: 30, min: 0, max: 100 } };

const SEATS = ["person", "solution", "search", "random", "mistaken"];

export function isSeat(seat) {
  const [, kind, given] = (typeof seat === "string" && /^([a-z]+)(?::(\d{1,3}))?$/.exec(seat)) || [];
  const amount = AMOUNT[kind];
  return SEATS.includes(kind)
    && (given === undefined || (amount && Number(given) >= amount.min && Number(given) <= amount.max));
}

// "search:6" and the like, as it stands in the address; and as the server wants it.
export function playerOf(seat) {
  const [kind, given] = seat.split(":");
  const amount = Number(given ?? AMOUNT[kind]?.start);
  if (kind === "search") return { kind, depth: amount };
  if (kind === "mistaken") return { kind, chance: amount / 100 };
  return { kind };
}

export function seats(play) {
  const rows = play.seats.map((_, player) => seat(play, player));
  const note = h("p", { class: "note" });
  const element = h("section", { class: "seats" }, h("h2", {}, words.seats), ...rows.map((each) => each.element), note);
  return {
    element,
    paint() {
      rows.forEach((each) => each.paint());
      note.textContent = isSearched(play) ? words.searchedSeats(play.now?.basis.depth) : "";
    },
  };
}

// Nobody plays perfectly what is only searched.
const isSearched = ({ game, now }) => (now?.basis.kind ?? game.kind) === "search";

// How the game stands: what each player can expect, and of two a bar with the part of each.
export function standing(play) {
  const isDuel = play.seats.length === 2;
  const sides = play.seats.map((_, player) => {
    const name = h("span", { class: "side-name" });
    const value = h("span", { class: "side-value" });
    return h("div", { class: `side side-${player}` },
      h("span", { class: `sign sign-${player}`, "aria-hidden": "true" }), name, value);
  });
  const balance = h("div", { class: "balance unknown", "aria-hidden": "true" },
    h("div", { class: "balance-first" }), h("div", { class: "balance-middle" }));
  const element = h("div", { class: `standing${isDuel ? " duel" : ""}`, role: "group", "aria-label": words.expected },
    ...sides, isDuel ? balance : null);
  return {
    element,
    paint() {
      const { now } = play;
      sides.forEach((side, player) => {
        const worth = worthOf(play, player);
        const isShown = (play.values || now?.over) && worth !== null;
        const value = side.querySelector(".side-value");
        side.querySelector(".side-name").textContent = play.nameOf(player);
        value.textContent = isShown ? valueWords(play, player, worth) : "–";
        if (isShown) value.dataset.number = worth;
        else delete value.dataset.number;
        side.classList.toggle("to-move", Boolean(now) && !now.over && now.mover === player);
      });
      if (isDuel) paintBalance(play, balance);
    },
  };
}

function valueWords({ now }, player, worth) {
  if (now.over) return said({ ...now, basis: { ...now.basis, stakes: { ...now.basis.stakes, certain: true, rewards: false } } }, { number: worth }, true);
  const found = now.each.find((each) => each.player === player);
  const ends = !now.ends || player === now.mover ? now.ends : { win: "loss", loss: "win", draw: "draw" }[now.ends];
  return said(now, { ...found, relation: "=", plies: now.plies, ends }, true);
}

function worthOf(play, player) {
  const { now } = play;
  if (now?.over) return now.payoffs?.[player] ?? null;
  const found = now?.each.find((each) => each.player === player);
  return found ? found.number : null;
}

function seat(play, player) {
  const who = words.player(player + 1);
  const amount = h("input", { type: "number", class: "amount", step: 1 });
  const unit = h("span", { class: "unit" });
  const choose = h("select", { "aria-label": words.seatOf(who) },
    ...SEATS.map((kind) => {
      const isAbsent = kind === "search" && !play.source.canSearch;
      return h("option", { value: kind, disabled: isAbsent }, words[kind] + (isAbsent ? ` (${words.byServer})` : ""));
    }));
  const amountBox = h("span", { class: "amount-box" }, amount, unit);
  const kindNow = () => play.seats[player].split(":")[0];

  function dress() {
    const [kind, given] = play.seats[player].split(":");
    choose.value = kind;
    const [solution] = [...choose.options].filter((each) => each.value === "solution");
    solution.textContent = isSearched(play) ? words.searching : words.solution;
    amountBox.hidden = !(kind in AMOUNT);
    if (!(kind in AMOUNT)) return;
    const { start, min, max } = AMOUNT[kind];
    amount.min = min;
    amount.max = max;
    if (document.activeElement !== amount) amount.value = given ?? start;
    amount.setAttribute("aria-label", kind === "search" ? words.depthOf(who) : words.chanceOf(who));
    unit.textContent = kind === "search" ? words.plies : words.percent;
  }

  choose.addEventListener("change", () => {
    const kind = choose.value;
    play.setSeat(player, kind in AMOUNT ? `${kind}:${AMOUNT[kind].start}` : kind);
  });
  amount.addEventListener("change", () => {
    const kind = kindNow();
    const { start, min, max } = AMOUNT[kind];
    const wanted = Math.round(Number(amount.value));
    const good = Number.isFinite(wanted) ? Math.max(min, Math.min(max, wanted)) : start;
    amount.value = good;
    play.setSeat(player, `${kind}:${good}`);
  });
  dress();
  const element = h("div", { class: "seat" },
    h("span", { class: `sign sign-${player}`, "aria-hidden": "true" }), h("span", { class: "seat-name" }, who),
    choose, amountBox);
  return { element, paint: dress };
}

// How a duel stands, as the first player's part of the whole.
function paintBalance(play, balance) {
  const worth = worthOf(play, 0);
  const { now, past } = play;
  const standings = (past?.plies ?? []).flatMap(({ values }) => (values ? [Math.abs(values[0])] : []));
  const share = worth !== null && (play.values || now?.over) ? balanceOf(now, Number(worth), Math.max(0, ...standings)) : null;
  balance.classList.toggle("unknown", share === null);
  balance.firstChild.style.width = `${100 * Math.max(0, Math.min(1, share ?? 0.5))}%`;
}
