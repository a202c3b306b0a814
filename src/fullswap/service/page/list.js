// All streams: counts by verdict, what alarms to expect, one row a stream.

import { now, token } from "./api.js";
import { el, own } from "./dom.js";
import { icon, KINDS, meter, scaleOf, spark, verdict } from "./marks.js";
import { LIMITS, SORTS, listHref, streamHref } from "./query.js";
import { reading } from "./reading.js";
import { ago, capital, count, counted, evidence, known, moment, NONE, points, span } from "./words.js";

const COLUMNS = ["stream", "verdict", "certain", "error", "evidence", null, "pending", "last_event",
  "alarm"];
const NUMBERS = new Set(["certain", "evidence", "pending"]);

const small = (...words) => el("small", {}, words);

function tiles(counts, query) {
  const verdicts = Object.entries(KINDS).filter(([name]) => counts[name] || query.verdict === name
    || name !== "not watched");
  return el("ul", { class: "tiles", role: "list", "aria-label": "Streams by verdict" },
    verdicts.map(([name, kind]) => el("li", { "data-key": name },
      el("button", { type: "button", class: `tile ${kind}`, "data-do": "verdict", "data-name": name,
        "aria-pressed": String(query.verdict === name) },
      el("b", {}, count(counts[name] ?? 0)), el("span", {}, icon(kind), name)))),
    el("li", { "data-key": "alarms" },
      el("button", { type: "button", class: "tile bell", "data-do": "alarms", "aria-pressed": String(query.alarm) },
        el("b", {}, count(counts.alarms ?? 0)), el("span", {}, icon("bell"), counts.alarms === 1 ? "alarm" : "alarms"))));
}

/** Guaranteed and measured stand in sentences of their own. */
function budget(data) {
  const b = data.budget;
  if (!b) return null;
  const measured = known(b.rung) && `So far ${counted(b.rung, "alarm has rung", "alarms have rung")} in `
    + `${counted(b.events, "event")}${known(b.expected)
      ? `; if every forecast were right, at most ${b.expected < 10 ? +b.expected.toPrecision(2) : count(b.expected)} would have, on average` : ""}`
    + `${b.unacknowledged ? `. ${count(b.unacknowledged)} not acknowledged` : ""}.`;
  return el("p", { class: "budget" }, el("strong", {}, "False alarms: "),
    b.text ? `${b.text.replace(/\.$/, "")}. ` : "", measured);
}

function tools(query) {
  const options = Object.entries(SORTS).map(([key, sort]) => el("option", { value: key }, sort.name));
  return el("form", { class: "toolbar", role: "search", "data-form": "search" },
    el("div", { class: "field grow" }, el("label", { for: "search" }, "Search streams"),
      el("input", { id: "search", type: "search", value: query.search, autocomplete: "off",
        spellcheck: "false", placeholder: "part of a name", "aria-keyshortcuts": "/" })),
    el("div", { class: "field" }, el("label", { for: "sort" }, "Sort by"),
      el("div", { class: "joined" }, el("select", { id: "sort", value: query.sort }, options),
        el("button", { type: "button", "data-do": "turn" }, query.descending ? "↓ high first" : "↑ low first"))),
    el("div", { class: "field" }, el("label", { for: "limit" }, "Rows"),
      el("select", { id: "limit", value: String(query.limit) },
        LIMITS.map((limit) => el("option", { value: limit }, limit)))));
}

function head(query) {
  const cell = (key) => {
    if (!key) return el("th", { role: "columnheader", scope: "col" }, "Trend");
    const active = query.sort === key;
    return el("th", { role: "columnheader", scope: "col", class: NUMBERS.has(key) ? "number" : null,
      "aria-sort": active ? (query.descending ? "descending" : "ascending") : null },
    el("button", { type: "button", "data-do": "sort", "data-name": key }, SORTS[key].name));
  };
  return el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, COLUMNS.map(cell)));
}

function alarmCell(alarm) {
  if (!alarm) return el("span", { class: "muted" }, "none");
  const since = known(alarm.since_time) ? moment(alarm.since_time) : `event ${count(alarm.since)}`;
  return [el("span", { class: `word ${alarm.acknowledged ? "seen" : "off"}` }, icon("bell"), el("span", {}, `since ${since}`)),
    small(`rang ${ago(alarm.time, now())}, ${alarm.acknowledged ? "" : "not "}acknowledged`)];
}

export const JUDGED = { model: "the model", ours: "our forecasts" };

function row(item, scale) {
  const kind = KINDS[item.verdict] ?? "unsaid";
  const cell = (key, name, ...parts) =>
    el("td", { role: "cell", class: key, "data-label": name }, el("div", {}, parts));
  const beside = [known(item.noise) && `chance ${points(item.noise, false)}`,
    known(item.tolerance) && `tolerance ${points(item.tolerance, false)}`].filter(Boolean).join(" · ");
  const most = evidence(item.evidence_log10_most, 7), told = evidence(item.evidence_log10, 7);
  return el("tr", { role: "row", "data-key": item.stream },
    el("th", { role: "rowheader", scope: "row", class: "stream" },
      el("a", { href: streamHref(item.stream) }, own(item.stream)),
      small(counted(item.events, "event"), " · ", own(item.spec))),
    cell("verdict", "Verdict", verdict(item.verdict),
      small(JUDGED[item.watched] ?? item.watched, item.direction && `: ${item.direction}`)),
    cell("number certain", "Certain error", known(item.certain) ? el("b", {}, points(item.certain)) : NONE),
    cell("error", "Error", known(item.error) ? [`${points(item.error)} off`,
      meter({ ...item, kind, scale }), small(beside)] : NONE),
    cell("number evidence", "Evidence", told, known(item.evidence_log10_most) && most !== told && small(`most ${most}`)),
    cell("trend", "Trend", spark(item.spark, item.tolerance)),
    cell("number pending", "Waiting", count(item.pending),
      item.pending > 0 && known(item.oldest_pending) && small(`oldest ${span(now() - item.oldest_pending)}`)),
    cell("last", "Last event", ago(item.last_event, now())),
    cell("alarm", "Alarm", alarmCell(item.alarm)));
}

function pages(data, query, where) {
  const last = Math.max(0, Math.ceil(data.matching / query.limit) - 1);
  const page = Math.floor(query.offset / query.limit);
  const to = (index, words, key) => (index < 0 || index > last || index === page
    ? el("span", { "aria-disabled": "true", class: "step", "data-key": `no ${key}` }, words)
    : el("a", { class: "step", "data-key": key, "data-page": where,
      href: listHref({ ...query, offset: index * query.limit }) }, words));
  return el("nav", { class: "pages", "aria-label": where === "above" ? "Pages" : "Pages, below the table" },
    to(0, "« First", "first"), to(page - 1, "‹ Previous", "previous"),
    where === "below" ? el("span", { "data-key": "form" }, `Page ${count(page + 1)} of ${count(last + 1)}`)
      : el("form", { "data-form": "page", "data-key": "form" }, el("label", { for: "page" }, "Page "),
        el("input", { id: "page", inputmode: "numeric", value: String(page + 1), size: 5, autocomplete: "off" }),
        ` of ${count(last + 1)}`),
    to(page + 1, "Next ›", "next"), to(last, "Last »", "last"));
}

export function matches(data, query) {
  const filtered = query.search || query.verdict || query.alarm;
  if (!filtered) return counted(data.total, "stream");
  return `${count(data.matching)} of ${counted(data.total, "stream")} ${data.matching === 1 ? "matches" : "match"}`;
}

function firstSteps() {
  const bearer = token.get() ? " \\\n  -H \"Authorization: Bearer $FULLSWAP_TOKEN\"" : "";
  const here = new URL(".", location.href).href;
  const curl = (path, body) => `curl ${here}${path}${bearer} \\\n  -H "Content-Type: application/json" \\\n  -d '${body}'`;
  const block = (id, name, words) => [el("h3", { id }, name),
    el("pre", { tabindex: 0, role: "region", "aria-labelledby": id }, el("code", {}, words))];
  return el("section", { class: "card prose empty", "aria-labelledby": "empty" },
    el("h2", { id: "empty" }, "No stream yet"),
    el("p", {}, "A stream begins with its first forecast. Say what your model says, and get a calibrated probability back; "
      + "say later what happened. This page fills by itself."),
    block("step-1", "1. A forecast", curl("v1/forecasts", '{"items": [{"stream": "north", "event": "game 17", "p": 0.7}]}')),
    block("step-2", "2. Its outcome", curl("v1/outcomes", '{"items": [{"stream": "north", "event": "game 17", "outcome": 1}]}')));
}

export function listView(data, query, waiting) {
  const title = el("h1", { id: "title", tabindex: -1 }, "Streams");
  if (data.total === 0) return [el("div", { class: "heading", "data-key": "heading" }, title), firstSteps()];
  const scale = scaleOf(data.streams), more = data.matching > query.limit;
  const table = el("table", { class: "streams", role: "table", "aria-describedby": "matches" },
    el("caption", { class: "hidden" }, "Streams, one a row"), head(query),
    el("tbody", { role: "rowgroup" }, data.streams.map((item) => row(item, scale))));
  const none = el("p", { class: "quietly card" }, "No stream matches. ", el("a", { href: "#/" }, "Show all"));
  return [
    el("div", { class: "heading", "data-key": "heading" }, title,
      el("p", { class: "muted" }, counted(data.total, "stream"), known(data.counts?.pending)
        && ` · ${counted(data.counts.pending, "forecast waits", "forecasts wait")} for an outcome`)),
    el("div", { "data-key": "tiles" }, tiles(data.counts ?? {}, query), budget(data)),
    el("div", { "data-key": "tools" }, tools(query), el("div", { class: "above" },
      el("p", { id: "matches", class: "muted" }, capital(matches(data, query))), more && pages(data, query, "above"))),
    el("div", { "data-key": "rows", class: data.streams.length ? "card table" : null, tabindex: -1, id: "rows",
      "aria-busy": waiting ? "true" : null }, data.streams.length ? table : none),
    el("div", { "data-key": "pages" }, more && pages(data, query, "below"), reading()),
  ];
}
