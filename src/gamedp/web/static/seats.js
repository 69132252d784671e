// A plate for each player: who sits there, and what they can expect.

import { h } from "./dom.js";
import { number, words } from "./words.js";

const AMOUNT = { search: { start: 6, min: 1, max: 30 }, mistaken: { start: 30, min: 0, max: 100 } };

const SEATS = ["person", "solution", "search", "random", "mistaken"];

export const isSeat = (seat) => typeof seat === "string" && SEATS.includes(seat.split(":")[0]);

// "search:6" and the like, as it stands in the address; and as the server wants it.
export function playerOf(seat) {
  const [kind, given] = seat.split(":");
  const amount = Number(given ?? AMOUNT[kind]?.start);
  if (kind === "search") return { kind, depth: amount };
  if (kind === "mistaken") return { kind, chance: amount / 100 };
  return { kind };
}

export function seats(play) {
  const plates = play.seats.map((_, player) => plate(play, player));
  const balance = h("div", { class: "balance", "aria-hidden": "true" },
    h("div", { class: "balance-first" }), h("div", { class: "balance-middle" }));
  const isDuel = play.seats.length === 2;
  const element = h("div", { class: "seats", role: "group", "aria-label": words.valueOfMover },
    ...plates.map((each) => each.element), isDuel ? balance : null);
  return {
    element,
    paint() {
      plates.forEach((each) => each.paint());
      if (isDuel) paintBalance(play, balance);
    },
  };
}

function worthOf(play, player) {
  const { now } = play;
  if (now?.over) return now.payoffs?.[player] ?? null;
  const found = now?.each.find((each) => each.player === player);
  return found ? found.number : null;
}

function plate(play, player) {
  const who = words.player(player + 1);
  const amount = h("input", { type: "number", class: "amount", step: 1 });
  const unit = h("span", { class: "unit" });
  const choose = h("select", { "aria-label": words.seatOf(who) },
    ...SEATS.map((kind) => h("option", { value: kind }, words[kind])));
  const value = h("span", { class: "plate-value" });
  const amountBox = h("span", { class: "amount-box" }, amount, unit);
  const kindNow = () => play.seats[player].split(":")[0];

  function dress() {
    const [kind, given] = play.seats[player].split(":");
    choose.value = kind;
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
  const element = h("div", { class: `plate plate-${player}` },
    h("span", { class: "sign", "aria-hidden": "true" }), h("span", { class: "plate-name" }, who),
    choose, amountBox, value);
  return {
    element,
    paint() {
      dress();
      const { now } = play;
      element.classList.toggle("to-move", Boolean(now) && !now.over && now.mover === player);
      const worth = worthOf(play, player);
      const isShown = play.values || now?.over;
      value.textContent = !isShown || worth === null ? "–" : number(worth);
      if (isShown && worth !== null) value.dataset.number = worth;
      else delete value.dataset.number;
    },
  };
}

// How a duel stands, as the first player's part of the whole.
function paintBalance(play, balance) {
  const worth = worthOf(play, 0);
  const range = play.now?.range?.map(Number);
  const isKnown = play.values && worth !== null && range && range[1] > range[0];
  balance.classList.toggle("unknown", !isKnown);
  const share = isKnown ? (Number(worth) - range[0]) / (range[1] - range[0]) : 0.5;
  balance.firstChild.style.width = `${100 * Math.max(0, Math.min(1, share))}%`;
}
