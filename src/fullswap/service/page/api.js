// The service's JSON, and what can go wrong on the way there.

const KEY = "fullswap.token";
const PATIENCE = 15_000; // milliseconds until an answer is given up

export class Refused extends Error {
  constructor(status, code, message) {
    super(message);
    Object.assign(this, { status, code });
  }
}

/** No answer, or none that makes sense. */
export class Unreachable extends Error {}

export const token = {
  get: () => sessionStorage.getItem(KEY),
  set: (value) => sessionStorage.setItem(KEY, value),
  forget: () => sessionStorage.removeItem(KEY),
};

// Ages are told by the clock of the service: the reader's may be wrong.
let ahead = 0;
export const now = () => Date.now() / 1000 + ahead;

async function answer(path, options, signal) {
  const headers = { Accept: "application/json", ...options.headers };
  if (token.get()) headers.Authorization = `Bearer ${token.get()}`;
  const limits = [AbortSignal.timeout(PATIENCE), ...(signal ? [signal] : [])];
  const settings = { ...options, headers, signal: AbortSignal.any(limits), cache: "no-store" };
  let response, body;
  try {
    response = await fetch(path, { ...settings, credentials: "omit" });
    body = await response.json();
  } catch (error) {
    if (signal?.aborted) throw error;
    if (response?.status === 401) throw new Refused(401, "token", "A token is needed.");
    throw new Unreachable(response ? `It answered ${response.status}, which is no JSON.`
      : error.name === "TimeoutError" ? "It has not answered for 15 seconds." : "It does not answer.");
  }
  const time = body?.time ?? Date.parse(response.headers.get("Date")) / 1000;
  if (Number.isFinite(time) && Math.abs(time - now()) > 1.5) ahead = time - Date.now() / 1000;
  if (response.ok) return body;
  const { code = "error", message = `The service answered ${response.status}.` } = body?.error ?? {};
  if (response.status >= 500) throw new Unreachable(message);
  throw new Refused(response.status, code, message);
}

// A lone surrogate cannot be part of an address.
export const encoded = (name) => encodeURIComponent(name.toWellFormed?.() ?? name);

export function streams(query, signal) {
  const asked = new URLSearchParams({
    sort: query.sort, descending: query.descending, limit: query.limit, offset: query.offset,
  });
  if (query.search) asked.set("search", query.search);
  if (query.verdict) asked.set("verdict", query.verdict);
  if (query.alarm) asked.set("alarm", "true");
  return answer(`v1/streams?${asked}`, {}, signal);
}

export const stream = (name, signal) => answer(`v1/streams/${encoded(name)}`, {}, signal);

export const acknowledge = (name) => answer("v1/alarms/acknowledge", {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify({ stream: name }),
});
