// Why an action is good or bad: what it costs, how it is answered, and the pattern behind it where the game knows
// one. Loaded when somebody asks. What only a search thinks is called so.

import { draw } from "./boards.js";
import { h, unseen } from "./dom.js";
import { capital, language, named, words } from "./words.js";
import { costOf, percent, said as valueOf } from "./worth.js";

const MOST_OUTCOMES = 12; // that are listed
const MOST_PLIES = 6; // that best play is followed
const LOST = 3; // numbers that a rule is read from

export const WORDS = {
  en: {
    move: "Move",
    alike: "All moves are equally good.",
    only: "It is the only best move.",
    oneOf: (others) => `It is as good as ${others}.`,
    perhaps: "It may be the best; that is not proven.",
    best: (names, value) => `Best: ${names}, ${value}.`,
    opinion: "This is a search’s opinion, not a proof.",
    proven: "Proven: even at its best, it is worse.",
    forced: "There is no other move.",
    ends: "It ends the game.",
    reply: (who, name) => `${who}: the best reply is ${name}.`,
    replies: (who, names) => `${who}: the best replies are ${names}.`,
    anyReply: (who) => `${who}: all replies are equally good.`,
    replyByYou: (name) => `Then your best move is ${name}.`,
    repliesByYou: (names) => `Then your best moves are ${names}.`,
    then: (names) => `Best play goes on: ${names}`,
    outcomes: "Possible outcomes of chance",
    heads: ["Chance", "How often", "Then", "Best next"],
    more: (n) => `And ${n} more, less likely ones.`,
    pattern: "The pattern",
    strip: "What whoever is to move there gets",
    here: "here",
    there: "after this move",
    leave: (names) => `Whoever is to move at ${names} loses: leave one of these to the other player.`,
    step: (n) => `They are ${n} apart.`,
    before: "Now",
    after: (name) => `After: ${name}`,
    slice: (name, x, z, y) => `Where ${name} is best: ${x} to the right, ${z} upwards; ${y}. The ring is this position.`,
  },
  de: {
    move: "Zug",
    alike: "Alle Züge sind gleich gut.",
    only: "Es ist der einzige beste Zug.",
    oneOf: (others) => `Ebenso gut: ${others}.`,
    perhaps: "Vielleicht ist es der beste; bewiesen ist das nicht.",
    best: (names, value) => `Am besten: ${names}, ${value}.`,
    opinion: "Das schätzt die Suche; bewiesen ist es nicht.",
    proven: "Bewiesen: Selbst im besten Fall ist er schlechter.",
    forced: "Es gibt keinen anderen Zug.",
    ends: "Damit endet das Spiel.",
    reply: (who, name) => `${who}: Die beste Antwort ist ${name}.`,
    replies: (who, names) => `${who}: Die besten Antworten sind ${names}.`,
    anyReply: (who) => `${who}: Alle Antworten sind gleich gut.`,
    replyByYou: (name) => `Dann ist dein bester Zug ${name}.`,
    repliesByYou: (names) => `Dann sind deine besten Züge ${names}.`,
    then: (names) => `Bei bestem Spiel geht es so weiter: ${names}`,
    outcomes: "Was der Zufall bringen kann",
    heads: ["Zufall", "Wie oft", "Danach", "Dann am besten"],
    more: (n) => `Und ${n} weitere, weniger wahrscheinliche.`,
    pattern: "Das Muster",
    strip: "Was bekommt, wer dort am Zug ist",
    here: "hier",
    there: "nach diesem Zug",
    leave: (names) => `Wer bei ${names} am Zug ist, verliert: Lass dem anderen eine dieser Zahlen übrig.`,
    step: (n) => `Sie liegen immer ${n} auseinander.`,
    before: "Jetzt",
    after: (name) => `Nach: ${name}`,
    slice: (name, x, z, y) => `Wo „${name}“ am besten ist: nach rechts ${x}, nach oben ${z}; ${y}. Der Ring ist diese Stellung.`,
  },
};

const nameOf = (entry) => capital(named(entry.name));

const listed = (names, type = "conjunction") => new Intl.ListFormat(language, { type }).format(names);

const bestOf = (now) => now.actions.filter(({ best, number }) => best !== "no" && number !== null);

// Fill the box for the position that is shown; whoever asks chooses the move.
export function explain(play, body) {
  const { now } = play;
  const said = WORDS[language];
  const played = play.isLive ? null : play.line.actions[play.cursor];
  const first = now.actions.find(({ action }) => action === played) ?? bestOf(now)[0] ?? now.actions[0];
  const choose = h("select", { class: "because-move" }, ...now.actions.map((entry) =>
    h("option", { value: entry.action, selected: entry === first }, nameOf(entry))));
  const text = h("div", { class: "because-text", role: "status" });
  const more = h("div", { class: "because-more" });
  const show = async () => {
    const entry = now.actions[choose.selectedIndex];
    const isLate = () => play.now !== now || !text.isConnected || now.actions[choose.selectedIndex] !== entry;
    text.replaceChildren(...verdict(now, entry, said));
    try {
      const after = await followed(play, now, entry);
      const picture = await slice(play, now, entry, said);
      if (isLate()) return;
      text.append(...replies(play, now, entry, after, said));
      const only = entry.chance.length === 1 ? after[0] : null;
      more.replaceChildren(...outcomes(play, now, entry, after, said), ...pattern(now, entry, only, said), ...picture);
    } catch (error) {
      if (error.name !== "AbortError" && !isLate()) text.append(h("p", {}, error.message || words.unreachable));
    }
  };
  choose.addEventListener("change", show);
  body.replaceChildren(h("label", { class: "because-choose" }, `${said.move} `, choose), text, more);
  return show();
}

function verdict(now, entry, said) {
  const best = bestOf(now);
  const others = best.filter((each) => each !== entry).map(nameOf);
  const parts = [`${nameOf(entry)}: ${valueOf(now, entry)}.`];
  const isSearched = now.basis.kind === "search";
  let isProven = !isSearched;
  if (now.actions.length === 1) parts.push(said.forced);
  else if (entry.best === "no") {
    const cost = costOf(now, entry);
    if (cost) parts.push(`${capital(cost)}.`);
    parts.push(said.best(listed(best.map(nameOf)), valueOf(now, best[0] ?? entry)));
    isProven ||= entry.upper !== null && now.value.lower !== null && Number(entry.upper) < Number(now.value.lower);
    if (isSearched && isProven) parts.push(said.proven);
  } else if (entry.best === "possible") parts.push(said.perhaps);
  else parts.push(others.length === now.actions.length - 1 ? said.alike : others.length ? said.oneOf(listed(others)) : said.only);
  if (isSearched && entry.lower !== null && Number(entry.lower) === Number(entry.upper)) isProven = true;
  if (!isProven) parts.push(said.opinion);
  return [h("p", {}, parts.join(" "))];
}

const seen = (play, line, then) => play.source.position(
  play.game.name, { parameters: play.parameters, line, then }, play.gone.signal, () => {});

// The positions that follow an action; none where a search would have to look at each.
async function followed(play, now, entry) {
  const isSearched = now.basis.kind === "search";
  const found = [];
  for (const { outcome } of shownOf(entry)) {
    if (isSearched && entry.chance.length > 1) break;
    found.push(await seen(play, now.line, { action: entry.action, outcome }));
  }
  return found;
}

const shownOf = ({ chance }) => (chance.length <= MOST_OUTCOMES ? chance
  : chance.toSorted((one, other) => other.probability - one.probability).slice(0, MOST_OUTCOMES));

const length = ({ plies, ends }) => Number(plies ?? 0) * (ends === "loss" ? -1 : 1);

// Of the best actions, the one that wins soonest or loses latest.
const quickest = (now) => bestOf(now).toSorted((one, other) => length(one) - length(other))[0];

function replies(play, now, entry, after, said) {
  if (entry.chance.length > 1 || !after.length) return [];
  const [next] = after;
  if (next.over) return [h("p", {}, said.ends)];
  const names = bestOf(next).map(({ name }) => named(name));
  if (!names.length) return [];
  const who = play.nameOf(next.mover);
  const isMany = names.length > 1;
  const text = isMany && names.length === next.actions.length ? said.anyReply(who) : who === words.you ? said[isMany ? "repliesByYou" : "replyByYou"](listed(names))
    : said[isMany ? "replies" : "reply"](who, listed(names));
  const line = h("p", { hidden: true });
  if (next.basis.kind === "table") goesOn(play, next, line, said);
  return [h("p", {}, text), line];
}

// Follow best play for some moves, as long as nothing is left to chance.
async function goesOn(play, next, line, said) {
  const names = [];
  let now = next;
  while (!now.over && names.length < MOST_PLIES) {
    const entry = quickest(now);
    if (!entry || entry.chance.length > 1) break;
    names.push(named(entry.name));
    now = await seen(play, now.line, { action: entry.action, outcome: entry.chance[0].outcome });
  }
  if (names.length < 2) return;
  line.textContent = said.then(names.join(", ")) + (now.over ? "." : " …");
  line.hidden = false;
}

function outcomes(play, now, entry, after, said) {
  if (entry.chance.length < 2) return [];
  const shown = shownOf(entry);
  const rows = shown.map((each, n) => {
    const next = after[n];
    const best = next && !next.over && quickest(next);
    const reply = best ? `${play.nameOf(next.mover)}: ${named(best.name)}` : next?.over ? words.over : "–";
    return h("tr", {}, h("th", { scope: "row" }, capital(named(each.name) || words.outcomeNumber(each.outcome + 1))),
      h("td", {}, percent(Number(each.probability))),
      h("td", { "data-number": each.number }, each.number === null ? "–" : valueOf(now, { ...each, relation: "=", plies: null, lower: null, upper: null })),
      h("td", {}, reply));
  });
  const left = entry.chance.length - shown.length;
  return [
    h("div", { class: "because-table", tabindex: "0", role: "region", "aria-label": said.outcomes }, h("table", {},
      h("caption", {}, said.outcomes),
      h("thead", {}, h("tr", {}, ...said.heads.map((head) => h("th", { scope: "col" }, head)))), h("tbody", {}, ...rows))),
    left ? h("p", { class: "note" }, said.more(left)) : null,
  ].filter(Boolean);
}

// What the game knows, and the table proves.
function pattern(now, entry, after, said) {
  const found = now.pattern;
  if (!found || !(found.row.length || found.view || found.words)) return [];
  const [own, next] = [found, after?.pattern].map((each) => each && (each.view || each.words ? each : null));
  const side = (title, each) => h("figure", { class: "because-side" }, h("figcaption", {}, title),
    each.view ? draw({ ...each.view, spots: [] }, each.view.text, {}) : null,
    each.words ? h("p", {}, `${capital(named(each.words))}.`) : null);
  return [
    h("h3", {}, said.pattern),
    ...(found.row.length ? strip(found, after?.pattern?.here ?? null, said) : []),
    own ? h("div", { class: "because-sides" }, side(said.before, own), next ? side(said.after(nameOf(entry)), next) : null) : null,
  ].filter(Boolean);
}

function strip({ row, here }, there, said) {
  const cells = row.map(({ name, ends }, n) => h("li", {
    class: ends ? `tone-${ends}` : "tone-unknown", "aria-current": n === here ? "true" : null,
    "data-after": n === there ? "true" : null,
  },
  h("b", {}, named(name)), h("span", { "aria-hidden": "true" }, ends ? words.letters[ends] : "–"),
  unseen(`: ${ends ? words.results[ends] : words.unknown}`),
  n === here || n === there ? unseen(`, ${n === here ? said.here : said.there}`) : null));
  return [h("ol", { class: "strip", "aria-label": said.strip }, ...cells), ...ruleOf(row, said)];
}

// The rule that can be read from the row: the table proves each of its positions.
function ruleOf(row, said) {
  const lost = row.flatMap(({ ends }, n) => (ends === "loss" ? [n] : []));
  if (!lost.length || !row.some(({ ends }) => ends && ends !== "loss")) return [];
  const numbers = lost.map((n) => Number(row[n].name));
  const isWhole = row.slice(lost[0], lost.at(-1) + 1).every(({ ends }) => ends) && numbers.every(Number.isInteger);
  const step = numbers[1] - numbers[0];
  const isEven = isWhole && lost.length >= LOST && numbers.every((each, n) => !n || each - numbers[n - 1] === step);
  const text = said.leave(listed(lost.map((n) => named(row[n].name)), "disjunction"));
  return [h("p", { class: "because-rule" }, isEven ? `${text} ${said.step(step)}` : text)];
}

// Of a game with a decision surface, the slice through this position.
async function slice(play, now, entry, said) {
  if (!play.game.surface || now.basis.kind !== "table") return [];
  const { sliceHere } = await import("./surface.js");
  const found = await sliceHere(play, now);
  if (!found) return [];
  const { picture, name, x, y, z } = found;
  const text = said.slice(name, x, z, y);
  picture.setAttribute("aria-label", text);
  return [h("h3", {}, said.pattern), h("figure", { class: "surface-flat" }, picture, h("figcaption", { class: "note" }, text))];
}
