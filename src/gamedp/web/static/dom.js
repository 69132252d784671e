// Elements made of data: text is only ever set as text.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element[name] = value;
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

const HEARD = ["onclick", "onpointerenter", "onpointerleave", "onfocus", "onblur"];

// Make what is there like what is wanted, in place: the focus stays where it is, and nothing is said
// again that has been said.
export function become(old, wanted) {
  for (const { name } of [...old.attributes]) if (!wanted.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of wanted.attributes) {
    if (name === "style") old.style.cssText = value; // as an attribute, the policy refuses it
    else if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  for (const name of HEARD) old[name] = wanted[name];
  const had = [...old.childNodes];
  const children = [...wanted.childNodes];
  children.forEach((child, n) => {
    if (!had[n]) old.append(child);
    else if (had[n].nodeName !== child.nodeName) had[n].replaceWith(child);
    else if (child.nodeType !== Node.TEXT_NODE) become(had[n], child);
    else if (had[n].data !== child.data) had[n].data = child.data;
  });
  had.slice(children.length).forEach((each) => each.remove());
}

// Without scrolling there: what has just happened is in sight.
export const focusOn = (element) => element.focus({ preventScroll: true });

// Embedded in another page, this one takes the focus only from who is in it already.
export const mayFocus = () => window.parent === window || document.hasFocus();

export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export const pause = (milliseconds) =>
  new Promise((done) => setTimeout(done, still() ? 0 : milliseconds));
