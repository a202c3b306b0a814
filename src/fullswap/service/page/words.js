// Numbers as all texts of fullswap write them. Shares become points: 0.041 is 4.1 points.

const THIN = "\u00a0"; // no line ends between a number and its unit
const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const MOST_WRITTEN = 12; // powers of ten up to which odds are written out
const SMALLEST = -4; // powers of ten below which they are not
export const NONE = "–";

export const known = (value) => typeof value === "number" && Number.isFinite(value);

export const count = (number) => (known(number) ? Math.round(number).toLocaleString("en-US") : NONE);

export const counted = (number, noun, nouns = `${noun}s`) =>
  `${count(number)}${THIN}${number === 1 ? noun : nouns}`;

const upper = (number) => String(number).replace("-", "⁻").replace(/\d/g, (d) => RAISED[d]);

/** A share in percentage points: "4.1 points". */
export function points(share, unit = true) {
  if (!known(share)) return NONE;
  const value = Math.abs(100 * share);
  const text = value >= 0.95 || value < 0.005 ? value.toFixed(1) : String(+value.toPrecision(1));
  return (share < 0 && value >= 0.005 ? "−" : "") + text + (unit ? `${THIN}points` : "");
}

/** An error with its direction: "1.2 points too low". */
export function signed(share) {
  if (!known(share)) return NONE;
  return Math.abs(share) < 5e-5 ? points(0)
    : `${points(Math.abs(share))} too ${share > 0 ? "high" : "low"}`;
}

/** A share in percent with the digits that matter: "85 %", "1.4 %". */
export function percent(share) {
  if (!known(share)) return NONE;
  const value = 100 * share;
  const away = value <= 100 ? Math.min(value, 100 - value) : value;
  if (away >= 2.95 || value === 0 || value === 100) return `${value.toFixed(0)}${THIN}%`;
  const digits = away > 0 ? Math.min(Math.max(1, 1 - Math.floor(Math.log10(away))), 20) : 0;
  return `${+value.toFixed(digits)}${THIN}%`;
}

/** Ten to this power, rounded down to two figures: "4,000". */
export function odds(log10, written = MOST_WRITTEN) {
  if (log10 >= written) return `10${upper(Math.floor(log10))}`;
  const value = 10 ** log10 * (1 + 1e-12);
  const unit = value >= 1 ? 10 ** Math.max(Math.floor(Math.log10(value)) - 1, 0) : 1;
  return count(Math.floor(value / unit) * unit);
}

/** Evidence against calibration, rounded down: "4,000 : 1". */
export function evidence(log10, written) {
  if (!known(log10)) return NONE;
  const to = `${THIN}:${THIN}1`;
  if (log10 >= 1) return odds(log10, written) + to;
  if (log10 < SMALLEST) return `10${upper(Math.floor(log10))}${to}`;
  const digits = Math.max(-Math.floor(log10) + 1, 1);
  return +(Math.floor(10 ** (log10 + digits) * (1 + 1e-12)) / 10 ** digits).toPrecision(12) + to;
}

/** How long: "3 s", "4 min", "2 h", "5 days". */
export function span(seconds) {
  const s = Math.max(0, Math.floor(seconds));
  if (s < 60) return `${s}${THIN}s`;
  if (s < 3600) return `${Math.floor(s / 60)}${THIN}min`;
  if (s < 48 * 3600) return `${Math.floor(s / 3600)}${THIN}h`;
  return counted(Math.floor(s / 86400), "day");
}

export const ago = (time, now) => (known(time) ? `${span(now - time)} ago` : NONE);

const NEAR = 180 * 86400; // seconds within which nobody asks for the year
const CLOCK = { hour: "2-digit", minute: "2-digit" };
const DAY = { day: "numeric", month: "short", ...CLOCK };
const NEARBY = new Intl.DateTimeFormat("en-GB", DAY);
const FAR = new Intl.DateTimeFormat("en-GB", { year: "numeric", ...DAY });
const SECOND = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

export const clock = (time) => SECOND.format(new Date(1000 * time));

/** "12 Mar, 14:03", in the reader's time zone; with the year if it is long ago. */
export function moment(time) {
  if (!known(time) || Math.abs(time) > 8.6e12) return NONE;
  const form = Math.abs(Date.now() / 1000 - time) < NEAR ? NEARBY : FAR;
  return form.format(new Date(1000 * time));
}

/** A probability, or those of several classes or models. */
export function probability(value) {
  if (value === null || value === undefined) return NONE;
  if (!Array.isArray(value)) return known(value) ? percent(value) : String(value);
  const parts = value.slice(0, 6).map((part) =>
    Array.isArray(part) ? `(${probability(part)})` : probability(part));
  if (value.length > 6) parts.push(`… ${value.length} in all`);
  return parts.join(" · ");
}

/** What happened: yes, no, a share, a class, or shares of classes. */
export function outcome(value) {
  if (value === 1 || value === true) return "yes";
  if (value === 0 || value === false) return "no";
  return typeof value === "string" ? value : probability(value);
}

export const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);
