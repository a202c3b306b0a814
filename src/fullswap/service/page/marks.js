// Small pictures: a shape for each verdict, an error beside chance and tolerance, a trend.

import { el, svg } from "./dom.js";
import { known, signed } from "./words.js";

export const KINDS = {
  "miscalibrated": "off",
  "miscalibrated, but little": "little",
  "no evidence of miscalibration": "quiet",
  "too little data to say": "unsaid",
  "not watched": "unwatched",
};

const SHAPES = {
  off: () => [svg("path", { d: "M8 1.5 15.2 14H.8z", fill: "currentColor" }),
    svg("path", { d: "M8 6v4M8 11.2v1.6", class: "hole" })],
  little: () => svg("path", { d: "M8 2.8 14 13.2H2z", class: "drawn" }),
  quiet: () => svg("circle", { cx: 8, cy: 8, r: 5.5, fill: "currentColor" }),
  unsaid: () => svg("circle", { cx: 8, cy: 8, r: 5.3, class: "drawn", "stroke-dasharray": "2.4 1.8" }),
  unwatched: () => svg("path", { d: "M3 8h10", class: "drawn" }),
  bell: () => [svg("path", { fill: "currentColor",
    d: "M8 1a1.2 1.2 0 0 0-1.2 1.3C4.6 2.9 3.4 4.7 3.4 7v3L2 12v.8h12V12l-1.4-2V7c0-2.3-1.2-4.1-3.4-4.7A1.2 1.2 0 0 0 8 1z" }),
  svg("path", { d: "M6.3 13.6a1.8 1.8 0 0 0 3.4 0z", fill: "currentColor" })],
};

export const icon = (kind) =>
  svg("svg", { class: `icon ${kind}`, viewBox: "0 0 16 16", "aria-hidden": "true" }, SHAPES[kind]());

/** The verdict: its shape, its colour and its words. */
export function verdict(words) {
  const kind = KINDS[words] ?? "unsaid";
  return el("span", { class: `word ${kind}` }, icon(kind), el("span", {}, words));
}

const STEPS = [0.05, 0.1, 0.2, 0.5, 1];

/** One scale for all rows of a page, so that bars can be compared. */
export function scaleOf(rows) {
  const largest = rows.flatMap((row) => [row.error, row.noise, row.ours_error, 1.5 * row.tolerance]);
  const most = Math.max(0, ...largest.filter(known));
  return STEPS.find((step) => most <= step) ?? 1;
}

/** Dot: measured. Grey: what chance alone would show. Tick: the tolerance. */
export function meter({ error, noise, tolerance, kind, scale }) {
  if (!known(error)) return null;
  const x = (share) => (3 + 134 * Math.min(Math.max(share, 0) / scale, 1)).toFixed(1);
  return svg("svg", { class: `meter ${kind}`, viewBox: "0 0 140 14", "aria-hidden": "true" },
    svg("rect", { x: 3, y: 5, width: 134, height: 4, rx: 2, class: "track" }),
    known(noise) && svg("rect", { x: 3, y: 5, width: x(noise) - 3, height: 4, rx: 2, class: "chance" }),
    known(tolerance) && svg("path", { d: `M${x(tolerance)} 1v12`, class: "tolerance" }),
    svg("circle", { cx: x(error), cy: 7, r: 3.6, class: "dot" }));
}

/** Signed error of each window, oldest first: above the line too high, below too low. */
export function spark(values, tolerance) {
  const good = (values ?? []).filter(known);
  if (!good.length) return el("span", { class: "muted" }, "no window yet");
  const most = Math.max(...good.map(Math.abs), tolerance || 0, 0.005);
  const wide = 96 / Math.max(values.length, 16);
  const bars = { within: "", beyond: "" }; // two paths, not a hundred bars
  values.forEach((value, k) => {
    if (!known(value)) return;
    const high = Math.sign(value || 1) * Math.max((11 * Math.abs(value)) / most, 0.6);
    bars[tolerance && Math.abs(value) > tolerance ? "beyond" : "within"]
      += `M${(k * wide).toFixed(1)} 12v${(-high).toFixed(1)}h${(wide - 0.8).toFixed(1)}V12z`;
  });
  const worst = good.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a));
  const label = `Error of the last ${good.length} windows: now ${signed(good.at(-1))}, at most ${signed(worst)}`;
  return svg("svg", { class: "spark", viewBox: "0 0 96 24", preserveAspectRatio: "none", role: "img", "aria-label": label },
    svg("title", {}, label), svg("path", { d: "M0 12h96", class: "zero" }),
    Object.entries(bars).map(([kind, d]) => d && svg("path", { d, class: kind })));
}
