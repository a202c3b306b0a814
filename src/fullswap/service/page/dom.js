// Elements from plain data, and a page that changes only where the data did: what has the focus,
// is selected or was scrolled to stays as it is. Text is only ever text: nothing parses markup.

const SVG = "http://www.w3.org/2000/svg";

function make(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "value") node.value = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === "") continue;
    node.append(child instanceof Node ? child : String(child));
  }
  // A choice is made once its options are there.
  if (node.localName === "select" && attributes.value !== undefined) node.value = attributes.value;
  return node;
}

export const el = (tag, attributes = {}, ...children) =>
  make(document.createElement(tag), attributes, children);

export const svg = (tag, attributes = {}, ...children) =>
  make(document.createElementNS(SVG, tag), attributes, children);

/** Words of users: their direction of writing stays their own. */
export const own = (text) => el("bdi", {}, text);

const keyOf = (node) => node.dataset?.key ?? null;

const alike = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName;

function place(parent, node, before) {
  // `moveBefore` keeps the focus of what it moves.
  if (parent.moveBefore && node.isConnected && parent.isConnected) parent.moveBefore(node, before);
  else parent.insertBefore(node, before);
}

function children(old, next) {
  const keyed = new Map();
  for (const child of old.childNodes) if (keyOf(child) !== null) keyed.set(keyOf(child), child);
  let at = old.firstChild;
  for (const child of [...next.childNodes]) {
    const key = keyOf(child);
    let match = key === null ? null : keyed.get(key) ?? null;
    if (key === null && at && keyOf(at) === null && alike(at, child)) match = at;
    if (match && !alike(match, child)) match = null;
    if (!match) {
      old.insertBefore(child, at);
      continue;
    }
    if (match === at) at = at.nextSibling;
    else place(old, match, at);
    morph(match, child);
  }
  while (at) {
    const rest = at.nextSibling;
    at.remove();
    at = rest;
  }
}

/** Makes `old` equal to `next` with as few changes as it takes. */
export function morph(old, next) {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== next.data) old.data = next.data;
    return;
  }
  const mine = old.localName === "details" ? "open" : null; // the reader opens and shuts
  for (const { name } of [...old.attributes])
    if (name !== mine && !next.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of next.attributes)
    if (name !== mine && old.getAttribute(name) !== value) old.setAttribute(name, value);
  if (old.dataset?.chart === undefined) children(old, next); // charts are drawn when measured
  if ("value" in old && old !== document.activeElement && old.value !== next.value)
    old.value = next.value;
}

/** Shows the tree in `root`; the focus stays, or goes to `otherwise` if its place is gone. */
export function show(root, tree, otherwise) {
  const focused = document.activeElement;
  const inside = focused !== root && root.contains(focused);
  const top = inside ? focused.getBoundingClientRect().top : 0;
  const shell = root.cloneNode(false);
  shell.append(...[tree].flat(Infinity));
  children(root, shell);
  if (!inside) return;
  if (!focused.isConnected) return otherwise()?.focus({ preventScroll: true });
  if (document.activeElement !== focused) focused.focus({ preventScroll: true });
  const moved = focused.getBoundingClientRect().top - top; // rows above it may have come or gone
  if (Math.abs(moved) > 1) window.scrollBy({ top: moved, behavior: "instant" });
}
