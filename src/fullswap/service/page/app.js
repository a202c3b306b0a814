// Routes, the clock of updates, and what readers do.

import * as api from "./api.js";
import { el, show } from "./dom.js";
import { listView, matches } from "./list.js";
import { changed, listHref, routeOf, sorted } from "./query.js";
import { drawCharts, streamView } from "./stream.js";
import { clock, counted, span } from "./words.js";

const EVERY = 5_000, SLOWEST = 30_000; // milliseconds between updates; while none comes, longer
const TYPING = 250;

const $ = (id) => document.getElementById(id);
const main = $("main");
const seen = new Map(); // addresses to what was last known there and where the reader was
let route = routeOf(location.hash), data = null, problem = null, note = "";
let received = null, failing = null, failures = 0, paused = false, held = false;
let timer = 0, running = null, typing = 0, pointed = false, announce = false;
let arriving = "opened", must = true, waiting = false, lastList = "#/";

const say = (words) => { $("said").textContent = words; };
const key = () => location.hash || "#/";

// What is shown ---------------------------------------------------------------------------------

function view() {
  if (problem) {
    return [el("div", { class: "heading", "data-key": "heading" }, el("h1", { id: "title", tabindex: -1 }, problem.title)),
      el("div", { class: "card prose", "data-key": "problem" }, el("p", {}, problem.message),
        el("p", {}, problem.token ? el("button", { type: "button", class: "main", "data-do": "ask" }, "Enter a token")
          : el("a", { href: "#/" }, "All streams")))];
  }
  if (!data) return el("p", { class: "quietly" }, failing ? "Nothing to show yet." : "Loading…");
  return route.query ? listView(data, route.query, waiting) : streamView(data, note);
}

function titleOf() {
  if (route.query === undefined) return `${route.stream} · fullswap`;
  const alarms = data?.counts?.alarms;
  return alarms ? `${counted(alarms, "alarm")} · fullswap` : "fullswap";
}

function render() {
  show(main, view(), () => $("rows") ?? $("title"));
  document.title = titleOf();
  if (route.query === undefined && data && !problem) drawCharts(main, data);
  if (arriving && (data || problem)) arrive();
  must = false;
}

/** On a page just come to: where the reader was before, or at its top. */
function arrive() {
  const before = seen.get(key());
  const link = before?.left && [...main.querySelectorAll("tbody a")].find((a) => a.getAttribute("href") === before.left);
  if (arriving === "moved") (link || $("title"))?.focus({ preventScroll: true });
  if (arriving !== "opened") window.scrollTo({ top: before?.top ?? 0, behavior: "instant" });
  arriving = null;
}

function status() {
  const age = received === null ? null : span((performance.now() - received) / 1000);
  const words = age === null ? (failing ? "no answer yet" : "Loading…") : `updated ${age} ago`;
  $("updated").textContent = words + (paused ? ", paused" : held ? ", held while text is selected" : "");
  $("pulse").className = `pulse ${failing ? "bad" : paused ? "still" : ""}`;
  $("forget").hidden = !api.token.get();
}

function trouble() {
  const box = $("trouble");
  if (!failing) {
    if (!box.hidden) say("The service answers again.");
    box.hidden = true;
    box.replaceChildren();
    return;
  }
  const old = received === null ? "" : ` What you see is from ${clock(failing.shown)}.`;
  const words = `The service cannot be reached since ${clock(failing.since)}. ${failing.message}${old}`;
  if (box.hidden || box.firstChild?.textContent !== words)
    box.replaceChildren(el("p", {}, words), el("button", { type: "button", "data-do": "again" }, "Try again"));
  box.hidden = false;
}

// Updates ---------------------------------------------------------------------------------------

/** Nothing moves under a pressed pointer, nor while the reader selects text. */
function busy() {
  const selection = getSelection();
  held = !selection.isCollapsed && main.contains(selection.anchorNode);
  return pointed || held;
}

function failed(error) {
  failures += 1;
  const shown = received === null ? 0 : Date.now() / 1000 - (performance.now() - received) / 1000;
  failing = { since: failing?.since ?? Date.now() / 1000, message: error.message, shown };
}

function refused(error) {
  const nothing = route.stream !== undefined && error.status === 404;
  problem = error.status === 401
    ? { title: "A token is needed", message: "This service answers only those who have one.", token: true }
    : { title: nothing ? "No such stream" : "The service refuses this", token: error.status === 403,
      message: nothing ? "It has no forecast yet, or was deleted." : error.message };
  data = null;
  if (error.status === 401) ask(api.token.get() ? "This token was not accepted." : "");
}

async function update() {
  clearTimeout(timer);
  running?.abort();
  const mine = running = new AbortController(), asked = route;
  try {
    const fresh = asked.query ? await api.streams(asked.query, mine.signal) : await api.stream(asked.stream, mine.signal);
    if (mine !== running) return;
    if (asked.query && fresh.matching > 0 && !fresh.streams.length && asked.query.offset > 0) {
      const offset = Math.floor((fresh.matching - 1) / asked.query.limit) * asked.query.limit;
      go(listHref({ ...asked.query, offset }), "replace");
      return;
    }
    data = fresh;
    problem = failing = null;
    failures = 0;
    received = performance.now();
    seen.set(key(), { ...seen.get(key()), data });
    if (announce && asked.query) say(matches(data, asked.query));
    announce = false;
  } catch (error) {
    if (mine !== running || mine.signal.aborted) return;
    if (error instanceof api.Refused) {
      failing = null;
      refused(error);
    } else failed(error);
  }
  running = null;
  waiting = false;
  if (!busy() || must) render();
  trouble();
  status();
  next();
}

function next() {
  clearTimeout(timer);
  const wanted = !paused && !document.hidden && !$("ask").open && !problem?.token;
  if (wanted) timer = setTimeout(update, Math.min(EVERY * 2 ** Math.min(failures, 3), SLOWEST));
}

// Ways ------------------------------------------------------------------------------------------

function remember() {
  const focused = document.activeElement;
  const left = focused?.matches?.("tbody a") ? focused.getAttribute("href") : null;
  seen.set(shownKey, { ...seen.get(shownKey), top: scrollY, left });
  while (seen.size > 20) seen.delete(seen.keys().next().value);
}

let shownKey = key();

/** Takes up the address as it is now. What is known of it already is shown until the answer is there. */
function follow(back) {
  const stays = Boolean(route.query && routeOf(location.hash).query);
  shownKey = key();
  route = routeOf(location.hash);
  if (route.query) lastList = shownKey;
  arriving = !stays ? "moved" : back ? "back" : null;
  note = "";
  must = true;
  const before = seen.get(shownKey)?.data;
  if (!stays || problem || before) data = before ?? null;
  waiting = stays && !before;
  problem = null;
  render();
  must = true;
  update();
}

/** `how`: "push", "replace", or "return" to where the reader was. */
function go(href, how = "push") {
  remember();
  history[how === "replace" ? "replaceState" : "pushState"](null, "", href);
  if (how !== "return") seen.set(key(), { ...seen.get(key()), top: 0, left: null });
  follow(how === "return");
}

function ask(wrong) {
  $("ask-wrong").textContent = wrong;
  $("ask-wrong").hidden = !wrong;
  $("ask-token").value = "";
  if (!$("ask").open) $("ask").showModal();
  $("ask-token").focus();
}

async function acknowledge() {
  const name = route.stream, alarm = data.alarm;
  try {
    await api.acknowledge(name);
    note = "";
    say("Acknowledged.");
  } catch (error) {
    if (error.status === 401) { refused(error); return; }
    note = error.status === 403 ? "This token may read, not acknowledge: that takes the role “forecast”."
      : `Not acknowledged. ${error.message}`;
    say(note);
  }
  if (route.stream !== name) return;
  must = true;
  await update();
  if (!note && alarm) $(`alarm-${alarm.id}`)?.focus({ preventScroll: true });
}

const darkNow = () => (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

function theme() {
  const next = darkNow() ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  try {
    localStorage.setItem("fullswap.theme", next);
  } catch {
    // It lasts as long as the page.
  }
  nameTheme();
}

const nameTheme = () => { $("theme").textContent = darkNow() ? "Light" : "Dark"; };

const list = (change) => {
  announce = true;
  go(listHref(changed(route.query, change)));
};

const ACTIONS = {
  skip: () => main.focus(),
  sort: (target) => { announce = true; go(listHref(sorted(route.query, target.dataset.name))); },
  turn: () => list({ descending: !route.query.descending }),
  verdict: (target) => list({ verdict: route.query.verdict === target.dataset.name ? "" : target.dataset.name }),
  alarms: () => list({ alarm: !route.query.alarm }),
  back: () => go(lastList, "return"),
  again: () => update(),
  ask: () => ask(""),
  cancel: () => $("ask").close(),
  forget: () => { api.token.forget(); data = null; seen.clear(); update(); },
  acknowledge,
  theme,
  pause() {
    paused = !paused;
    $("pause").setAttribute("aria-pressed", String(paused));
    if (paused) { status(); next(); } else update();
  },
};

document.addEventListener("click", (event) => {
  const target = event.target.closest("[data-do], a[href^='#/']");
  if (!target || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (target.dataset.do) ACTIONS[target.dataset.do](target);
  else {
    const { page } = target.dataset;
    announce = Boolean(page);
    go(target.getAttribute("href"));
    if (page === "below") {
      $("rows").focus({ preventScroll: true });
      $("rows").scrollIntoView({ block: "start" });
    }
  }
});

document.addEventListener("input", (event) => {
  if (event.target.id !== "search") return;
  clearTimeout(typing);
  typing = setTimeout(() => {
    announce = true;
    go(listHref(changed(route.query, { search: event.target.value })), "replace");
  }, TYPING);
});

document.addEventListener("change", ({ target }) => {
  if (target.id === "sort") ACTIONS.sort({ dataset: { name: target.value } });
  if (target.id === "limit") list({ limit: Number(target.value) });
});

document.addEventListener("submit", (event) => {
  event.preventDefault();
  if (event.target.id === "ask-form") {
    api.token.set($("ask-token").value.trim());
    $("ask").close();
    update();
  } else if (event.target.dataset.form === "page") {
    const page = parseInt($("page").value, 10), last = Math.ceil(data.matching / route.query.limit);
    if (page >= 1) list({ offset: (Math.min(page, last) - 1) * route.query.limit });
  }
});

document.addEventListener("keydown", (event) => {
  const typingIn = event.target.closest("input, select, textarea, dialog");
  if (event.key === "/" && !typingIn && !event.ctrlKey && !event.metaKey && !event.altKey && $("search")) {
    event.preventDefault();
    $("search").focus();
    $("search").select();
  }
});

for (const [name, value] of [["pointerdown", true], ["pointerup", false], ["pointercancel", false]])
  addEventListener(name, () => { pointed = value; }, true);
// Letting go of a scroll bar is told by nobody.
addEventListener("pointermove", (event) => { if (!event.buttons) pointed = false; });
addEventListener("blur", () => { pointed = false; });
addEventListener("popstate", () => { remember(); follow(true); });
document.addEventListener("visibilitychange", () => { if (!document.hidden && !paused) update(); else next(); });
$("ask").addEventListener("close", () => { next(); render(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", nameTheme);
new ResizeObserver(() => { if (route.query === undefined && data) drawCharts(main, data); }).observe(main);
setInterval(status, 1000);
history.scrollRestoration = "manual";
nameTheme();
render();
update();
