// Which streams the list shows, in which order: kept in the address, so links and Back work.

import { encoded } from "./api.js";

export const SORTS = {
  certain: { name: "Certain error", descending: true },
  error: { name: "Error", descending: true },
  evidence: { name: "Evidence", descending: true },
  alarm: { name: "Alarm", descending: true },
  verdict: { name: "Verdict", descending: false },
  stream: { name: "Stream", descending: false },
  events: { name: "Events", descending: true },
  pending: { name: "Waiting", descending: true },
  oldest_pending: { name: "Oldest waiting", descending: false },
  last_event: { name: "Last event", descending: true },
};
export const LIMITS = [25, 50, 100];
const DEFAULTS = {
  search: "", verdict: "", alarm: false, sort: "certain", descending: true, limit: 50, offset: 0,
};

export const streamHref = (name) => `#/stream/${encoded(name)}`;

export function listHref(query) {
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(DEFAULTS))
    if (query[name] !== value) asked.set(name, query[name]);
  return asked.size ? `#/?${asked}` : "#/";
}

function parse(text) {
  const asked = new URLSearchParams(text), query = { ...DEFAULTS };
  for (const name of ["search", "verdict"]) query[name] = asked.get(name) ?? "";
  query.alarm = asked.get("alarm") === "true";
  if (asked.get("sort") in SORTS) query.sort = asked.get("sort");
  query.descending = asked.has("descending") ? asked.get("descending") === "true" : true;
  if (LIMITS.includes(Number(asked.get("limit")))) query.limit = Number(asked.get("limit"));
  const offset = Number(asked.get("offset"));
  if (Number.isSafeInteger(offset) && offset > 0) query.offset = offset;
  return query;
}

/** What an address asks for: one stream, or the list. */
export function routeOf(hash) {
  if (hash.startsWith("#/stream/")) {
    try {
      return { stream: decodeURIComponent(hash.slice("#/stream/".length)) };
    } catch {
      return { query: parse("") };
    }
  }
  return { query: parse(hash.startsWith("#/?") ? hash.slice(3) : "") };
}

/** The same list from its first page on, with some things changed. */
export const changed = (query, change) => ({ ...query, offset: 0, ...change });

export const sorted = (query, sort) => changed(query, {
  sort, descending: query.sort === sort ? !query.descending : SORTS[sort].descending,
});
