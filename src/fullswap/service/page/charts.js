// The three pictures of a stream, drawn as wide as they are shown, so that text stays readable.

import { svg } from "./dom.js";
import { count, evidence, known, moment, percent, points, signed } from "./words.js";

export const LINE = Math.log10(20); // evidence from which a verdict is given

const line = (list) => list.map(([x, y], k) => `${k ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

const text = (x, y, words, anchor = "middle", kind = "tick") =>
  svg("text", { x, y, "text-anchor": anchor, class: kind }, words);

function frame(width, height, title, description, ...parts) {
  return svg("svg", { class: "picture", viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
    "aria-label": `${title}. ${description}` },
  svg("title", {}, title), svg("desc", {}, description), parts);
}

/** Round values from `low` to `high`, about as many as asked for. */
export function ticks(low, high, about) {
  const rough = (high - low) / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step || 0);
  return found;
}

// Two kinds of dots that differ without colour: squares for the model, discs for ours.
const SHAPES = {
  raw: (x, y, r) => svg("rect", { x: x - r, y: y - r, width: 2 * r, height: 2 * r, class: "raw mark" }),
  ours: (x, y, r) => svg("circle", { cx: x, cy: y, r: 1.1 * r, class: "ours mark" }),
};
export const NAMES = { raw: "the model’s own", ours: "ours" };

/** How many dots lie outside their whiskers, and how many would by chance. */
export function outside(dots) {
  const judged = dots.filter((dot) => known(dot.low) && known(dot.high));
  const out = judged.filter((dot) => dot.happened < dot.low || dot.happened > dot.high).length;
  return { out, of: judged.length, expected: judged.length / 10 };
}

export function reliability(data, width) {
  const side = Math.min(width - 72, 480), left = 46, top = 10, foot = top + side;
  const series = ["raw", "ours"].filter((name) => data[name]?.length);
  const all = series.flatMap((name) => data[name]);
  const reach = Math.max(0.01, ...all.flatMap((d) => [d.p, d.happened, d.high].filter(known)));
  // Rare events would all crowd in one corner.
  const most = reach > 0.5 ? 1 : Math.min(1, ticks(0, 1.2 * reach, 5).at(-1) || 1);
  const x = (share) => left + (side * share) / most;
  const y = (share) => foot - side * Math.min(share / most, 1);
  const largest = Math.max(1, ...all.map((dot) => dot.n));
  const grid = ticks(0, most, 5).map((value) => [
    svg("path", { d: `M${x(value)} ${top}V${foot}M${left} ${y(value)}H${left + side}`, class: "grid" }),
    text(x(value), foot + 17, percent(value)), text(left - 7, y(value) + 4, percent(value), "end"),
  ]);
  const whiskers = series.map((name) => data[name].map((dot) => known(dot.low) && known(dot.high)
    && svg("path", { d: `M${x(dot.p)} ${y(dot.low)}V${y(dot.high)}`, class: `whisker ${name}` })));
  const dots = series.map((name) => data[name].map((dot) => {
    const mark = SHAPES[name](x(dot.p), y(dot.happened), 2.5 + 4.5 * Math.sqrt(dot.n / largest));
    mark.append(svg("title", {}, `${NAMES[name]}: said ${percent(dot.p)}, happened ${percent(dot.happened)}, `
      + `${count(dot.n)} forecasts; 90 % of calibrated: ${percent(dot.low)} to ${percent(dot.high)}`));
    return mark;
  }));
  const base = foot + 78, tall = 34;
  const bars = series.map((name) => data[name].map((dot) => {
    const high = Math.max((tall * dot.n) / largest, 1);
    const up = name === series[0];
    return svg("rect", { x: x(dot.p) - 3.5, y: up ? base - high : base + 1, width: 7, height: high,
      class: `bar ${name}` });
  }));
  const names = series.map((name, k) => text(left - 7, base + (k ? 16 : -8), k || series.length === 1
    ? name === "raw" ? "model" : "ours" : "model", "end"));
  const told = series.map((name) => {
    const { out, of, expected } = outside(data[name]);
    return `${NAMES[name]}: ${out} of ${of} dots outside, ${expected.toFixed(1)} expected by chance`;
  });
  const height = base + (series.length > 1 ? tall : 0) + 26;
  return frame(left + side + 24, height, "Said against happened", told.join("; "),
    grid, svg("path", { d: `M${x(0)} ${y(0)}L${x(most)} ${y(most)}`, class: "diagonal" }), whiskers, dots,
    text(left + 6, top + 16, "happened ↑", "start", "name"),
    text(left + side - 6, foot - 8, "said →", "end", "name"),
    svg("path", { d: `M${left} ${base + 0.5}H${left + side}`, class: "zero" }), bars, names,
    text(left + side / 2, height - 6, "How often each was said", "middle", "name"));
}

function timeline(windows, width, height) {
  const left = 76, right = width - 10, top = 14, foot = height - 40;
  const last = Math.max(1, windows.at(-1).to), first = windows[0].from;
  const x = (event) => left + ((right - left) * (event - first)) / Math.max(last - first, 1);
  const at = ticks(first, last, Math.max(2, Math.floor((right - left) / 90)));
  const axis = [
    svg("path", { d: `M${left} ${foot}H${right}`, class: "zero" }),
    at.map((event) => text(x(event), foot + 16, count(event),
      x(event) > right - 16 ? "end" : "middle")),
    text((left + right) / 2, height - 5, "events with an outcome", "middle", "name"),
  ];
  return { left, right, top, foot, x, axis };
}

export function evidenceOverTime({ windows, alarms }, width) {
  const height = 236, t = timeline(windows, width, height);
  const seen = windows.filter((w) => known(w.evidence_log10));
  const values = seen.map((w) => w.evidence_log10);
  const high = Math.max(2, Math.ceil(Math.max(...values) + 0.2));
  const low = Math.max(Math.min(-1, Math.floor(Math.min(...values))), -Math.max(3, high));
  const y = (log10) => t.foot - ((t.foot - t.top) * (Math.max(log10, low) - low)) / (high - low);
  const grid = ticks(low, high, 5).filter(Number.isInteger).map((value) => [
    svg("path", { d: `M${t.left} ${y(value)}H${t.right}`, class: "grid" }),
    Math.abs(y(value) - y(LINE)) > 11 && text(t.left - 7, y(value) + 4, short(value), "end"),
  ]);
  const marks = (alarms ?? []).filter((a) => known(a.at)).map((alarm) => {
    const place = Math.min(Math.max(t.x(alarm.at), t.left), t.right);
    return svg("g", { class: "alarm-mark" }, svg("path", { d: `M${place} ${t.top}V${t.foot}` }),
      svg("path", { d: `M${place - 5} ${t.top - 8}h10l-5 9z`, class: "flag" }), svg("title", {}, alarm.text ?? "Alarm"));
  });
  const rung = marks.length ? `${marks.length} alarm${marks.length > 1 ? "s" : ""} marked` : "no alarm";
  return frame(width, height, "Evidence over time",
    `At the end ${evidence(values.at(-1))}, at most ${evidence(Math.max(...values))}; ${rung}`,
    grid, svg("path", { d: `M${t.left} ${y(LINE)}H${t.right}`, class: "threshold" }),
    text(t.left - 7, y(LINE) + 4, "20 : 1", "end", "tick strong"), t.axis, marks,
    svg("path", { d: line(seen.map((w) => [t.x(w.to), y(w.evidence_log10)])), class: "curve watched" }));
}

const short = (log10) => (log10 >= 0 && log10 <= 4 ? `${count(10 ** log10)} : 1` : evidence(log10, 4));

export function errorPerWindow({ windows, tolerance }, width) {
  const height = 260, t = timeline(windows, width, height);
  const values = windows.flatMap((w) => [w.raw_error, w.ours_error, w.noise]).filter(known).map(Math.abs);
  const most = Math.min(1, Math.max(1.15 * Math.max(0, ...values), 1.3 * (tolerance || 0), 0.01));
  const y = (share) => (t.top + t.foot) / 2 - ((t.foot - t.top) / 2) * (share / most);
  const middle = (w) => t.x((w.from + w.to) / 2);
  const noisy = windows.filter((w) => known(w.noise));
  const edge = noisy.flatMap((w) => [[t.x(w.from), w.noise], [t.x(w.to), w.noise]]);
  const band = line([...edge.map(([a, b]) => [a, y(Math.min(b, most))]),
    ...edge.reverse().map(([a, b]) => [a, y(-Math.min(b, most))])]);
  const grid = ticks(-most, most, 4).map((value) => [
    svg("path", { d: `M${t.left} ${y(value)}H${t.right}`, class: Math.abs(value) < 1e-9 ? "zero" : "grid" }),
    text(t.left - 7, y(value) + 4, points(value, false).replace(/\.0$/, ""), "end"),
  ]);
  const limits = known(tolerance) && tolerance > 0 && [1, -1].map((sign) =>
    svg("path", { d: `M${t.left} ${y(sign * tolerance)}H${t.right}`, class: "threshold" }));
  const series = ["raw", "ours"].map((name) => {
    const seen = windows.filter((w) => known(w[`${name}_error`]));
    const many = seen.length > 40;
    return [svg("path", { d: line(seen.map((w) => [middle(w), y(w[`${name}_error`])])), class: `curve ${name}` }),
      seen.map((w) => {
        const mark = SHAPES[name](middle(w), y(w[`${name}_error`]), many ? 1.8 : 2.8);
        mark.append(svg("title", {}, `${NAMES[name]}, events ${count(w.from)} to ${count(w.to)}`
          + `${known(w.time) ? `, ${moment(w.time)}` : ""}: ${signed(w[`${name}_error`])}; chance up to ${points(w.noise)}`));
        return mark;
      })];
  });
  const last = windows.at(-1);
  const told = [known(last.raw_error) && `the model’s own ${signed(last.raw_error)}`, `ours ${signed(last.ours_error)}`];
  return frame(width, height, "Error per window", `Last window: ${told.filter(Boolean).join(", ")}`,
    band && svg("path", { d: `${band}Z`, class: "band" }), grid, limits, t.axis, series,
    text(t.left + 6, t.top + 4, "points too high ↑", "start", "name"),
    text(t.left + 6, t.foot - 6, "points too low ↓", "start", "name"));
}
