// Elements made of data: text is only ever set as text.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function s(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

export function unseen(text) {
  return h("span", { class: "unseen" }, text);
}

// Embedded in another page, this one takes the focus only from who is in it already.
export const mayFocus = () => window.parent === window || document.hasFocus();

export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export const pause = (milliseconds) =>
  new Promise((done) => setTimeout(done, still() ? 0 : milliseconds));
