// What the last action has done, step by step: told in words, and shown on the board one by one.

import { draw, moveTo } from "./boards.js";
import { h, pause, still } from "./dom.js";
import { capital, named, words } from "./words.js";

const [SHORTEST, LONGEST, ALL] = [60, 190, 3200]; // milliseconds of a step without words; of all of them
const [READ, LETTER] = [420, 16]; // milliseconds to read a step, and each of its letters

export class Story {
  constructor(play, board) {
    Object.assign(this, { play, board, isOn: false, told: "", skip: () => {} });
    this.list = h("div", { class: "story-told", role: "log", "aria-label": words.told });
    this.button = h("button", { type: "button", class: "tool", onclick: () => (this.isOn ? this.skip() : play.tellAgain()) });
    this.element = h("div", { class: "story", hidden: true }, this.list, this.button);
    board.addEventListener("click", () => this.skip());
  }

  say(text) {
    this.list.append(h("p", {}, `${capital(named(text))}.`));
  }

  // All words of the steps that lead to the position that is shown.
  paint() {
    if (this.isOn) return;
    const { steps = [], line } = this.play.now;
    const texts = steps.map((step) => step.words).filter(Boolean);
    const key = JSON.stringify([line, texts]);
    this.element.hidden = !texts.length;
    this.dress();
    if (key === this.told) return;
    this.told = key;
    const said = [...this.list.children].map((each) => each.textContent);
    texts.forEach((text) => this.say(text));
    const isSaid = texts.length === said.length && said.every((text, n) => this.list.children[said.length + n].textContent === text);
    [...this.list.children].slice(...(isSaid ? [said.length] : [0, said.length])).forEach((each) => each.remove());
  }

  dress() {
    this.button.hidden = still();
    this.button.textContent = this.isOn ? words.skipSteps : words.tellAgain;
  }

  // Play the steps from a picture on; whoever is in a hurry skips them.
  async tell(before, steps) {
    if (still() || !before) return;
    const { play } = this;
    const { turn } = play;
    let skipped = false;
    const end = new Promise((done) => (this.skip = done)).then(() => (skipped = true));
    const byKey = (event) => event.key === "Escape" && this.skip();
    document.addEventListener("keydown", byKey);
    this.isOn = true;
    this.told = "";
    this.list.replaceChildren();
    this.element.hidden = !steps.some((step) => step.words);
    this.dress();
    this.board.replaceChildren(draw({ ...before, spots: [] }, before.text, play.memory));
    const pace = Math.max(SHORTEST, Math.min(LONGEST, ALL / steps.filter((step) => !step.words).length));
    let [seen, hand] = [before, null];
    for (const step of steps) {
      if (step.words) this.say(step.words);
      hand = await Promise.race([moveTo(this.board, seen, step.view, play.memory, pace, hand), end]);
      if (step.words) await Promise.race([pause(READ + LETTER * step.words.length), end]);
      if (skipped || turn !== play.turn) break;
      seen = step.view;
    }
    document.removeEventListener("keydown", byKey);
    this.isOn = false;
    this.skip = () => {};
  }
}
