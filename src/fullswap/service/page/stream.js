// One stream: what is wrong, since when, how sure, beside what is guaranteed.

import { now } from "./api.js";
import * as charts from "./charts.js";
import { el, own } from "./dom.js";
import { JUDGED } from "./list.js";
import { icon, KINDS, meter, scaleOf } from "./marks.js";
import { reading } from "./reading.js";
import { headline, sentence } from "./sentence.js";
import { ago, capital, count, counted, evidence, known, moment, NONE, outcome, percent, points,
  probability, signed, span } from "./words.js";

const section = (id, name, ...parts) =>
  el("section", { "data-key": id, "aria-labelledby": id }, el("h2", { id }, name), parts);

function table(names, rows, { label, stacked }) {
  const grid = el("table", { class: stacked && "stacked", role: "table", "aria-label": label },
    el("thead", { role: "rowgroup" }, el("tr", { role: "row" },
      names.map((name) => el("th", { role: "columnheader", scope: "col" }, name)))),
    el("tbody", { role: "rowgroup" }, rows.map(({ key, cells }) => el("tr", { role: "row", "data-key": key },
      cells.map((cell, k) => el(k ? "td" : "th", { role: k ? "cell" : "rowheader", scope: k ? null : "row", "data-label": names[k] }, cell))))));
  return el("div", { class: "scroller", tabindex: 0, role: "region", "aria-label": label }, grid);
}

function facts(s) {
  const waiting = s.pending ? `${counted(s.pending, "waits", "wait")} for an outcome${known(s.oldest_pending)
    ? `, the oldest for ${span(now() - s.oldest_pending)}` : ""}` : "none waits for an outcome";
  const parts = [["spec ", own(s.spec)], `${counted(s.events, "event")} with an outcome`, waiting,
    `last event ${ago(s.last_event, now())}`];
  return el("ul", { class: "facts muted", role: "list" }, parts.map((part) => el("li", {}, part)));
}

function alarmItem(alarm, s, trouble) {
  const active = s.alarm?.id === alarm.id && !alarm.acknowledged && !alarm.recovered;
  const state = [alarm.acknowledged ? `acknowledged${known(alarm.acknowledged_time) ? ` ${moment(alarm.acknowledged_time)}` : ""}` : "not acknowledged",
    alarm.recovered && `recovered${known(alarm.recovered_time) ? ` ${moment(alarm.recovered_time)}` : ""}`];
  return el("li", { "data-key": String(alarm.id), class: `alarm-item ${active ? "active" : ""}`, tabindex: -1, id: `alarm-${alarm.id}` },
    icon("bell"),
    el("div", {}, el("p", {}, alarm.text),
      el("p", { class: "muted" }, `Rang ${moment(alarm.time)} (${ago(alarm.time, now())}), after ${counted(alarm.at, "event")}; `
        + `${alarm.rings === 1 ? "once" : `${count(alarm.rings)} times`}; ${state.filter(Boolean).join("; ")}.`),
      active && trouble && el("p", { class: "wrong" }, trouble)),
    active && el("button", { type: "button", class: "main", "data-do": "acknowledge" }, "Acknowledge"));
}

function alarms(s, trouble) {
  const list = s.alarms ?? [];
  if (!list.length) return section("alarms", "Alarms", el("p", { class: "card quietly" }, s.verdict === "not watched"
    ? "This stream is not watched." : "None has rung."));
  const shown = (some) => el("ul", { class: "alarms", role: "list" }, some.map((alarm) => alarmItem(alarm, s, trouble)));
  return section("alarms", "Alarms", el("div", { class: "card prose" }, shown(list.slice(0, 3)),
    list.length > 3 && el("details", {}, el("summary", {}, `${count(list.length - 3)} older`), shown(list.slice(3)))));
}

const answer = (title, ...parts) => el("article", { class: "card answer" }, el("h3", {}, title), parts);

function compared(s) {
  const scale = scaleOf([s]), kind = KINDS[s.verdict] ?? "unsaid";
  const line = (name, error, noise, mark) => el("div", { class: "compare" },
    el("dt", {}, name), el("dd", {}, el("b", {}, known(error) ? `${points(error)} off` : NONE),
      meter({ error, noise, tolerance: s.tolerance, kind: mark, scale }),
      el("small", {}, `chance alone ${points(noise, false)}`)));
  return answer("How far off?",
    el("dl", {}, s.watched === "model" && line("The model’s own", s.error, s.noise, kind),
      line("Ours", s.watched === "model" ? s.ours_error : s.error, s.watched === "model" ? s.ours_noise : s.noise, "ours")),
    el("p", { class: "note" }, `Measured, on average. Tick: the tolerance, ${points(s.tolerance)}. Grey: chance.`));
}

const sure = (s) => answer("How sure?",
  el("p", { class: "big" }, el("b", {}, evidence(s.evidence_log10))),
  el("p", {}, `against ${JUDGED[s.watched] ?? "it"} being calibrated, now.`),
  known(s.evidence_log10_most) && el("p", {}, `At most ${evidence(s.evidence_log10_most)} so far.`),
  el("p", { class: "note" }, "Verdicts of miscalibration begin at 20 : 1. You may look as often as you like."));

function promised(s) {
  const c = s.certificate;
  const about = c?.subject ? capital(c.subject) : "Our forecasts";
  return answer("What is guaranteed?",
    known(c?.points_guaranteed) && c.holds !== false ? [
      el("p", { class: "big" }, "at most ", el("b", {}, points(c.points_guaranteed))),
      el("p", {}, `${about}, whatever happens, in root mean square.`)]
      : el("p", { class: "big" }, el("b", {}, "nothing")),
    known(c?.points) && el("p", {}, `Measured: ${points(c.points)}`, known(c.points_noise) && ` (chance alone ${points(c.points_noise, false)})`, "."),
    el("p", { class: "note" }, "About our forecasts alone; nothing is promised of the model. The whole text is below."));
}

const numbers = (label, names, rows) => el("details", {}, el("summary", {}, "The same in numbers"),
  table(names, rows, { label }));

const figure = (name, title, key, caption, alternative) => el("figure", { class: `card ${name}` }, el("h3", {}, title), key,
  el("div", { "data-chart": name }), el("figcaption", {}, caption), alternative);

const legend = (raw, ...others) => el("p", { class: "legend", "aria-hidden": "true" },
  raw && el("span", { class: "raw" }, "■ the model’s own"), el("span", { class: "ours" }, "● ours"), others);

function pictures(s) {
  const raw = Boolean(s.reliability?.raw?.length), r = s.reliability ?? {}, w = s.windows ?? [];
  const out = ["raw", "ours"].filter((name) => r[name]?.length).map((name) => {
    const { out, of, expected } = charts.outside(r[name]);
    return `${capital(charts.NAMES[name])}: ${out} of ${of} outside, ${expected.toFixed(1)} expected by chance. `;
  });
  const dots = ["raw", "ours"].flatMap((name) => (r[name] ?? []).map((d, k) => ({ key: `${name} ${k}`,
    cells: [charts.NAMES[name], percent(d.p), percent(d.happened), count(d.n), `${percent(d.low)} to ${percent(d.high)}`] })));
  const windows = w.map((v) => ({ key: v.from, cells: [`${count(v.from)} to ${count(v.to)}`, moment(v.time),
    known(v.raw_error) ? signed(v.raw_error) : NONE, signed(v.ours_error), points(v.noise), evidence(v.evidence_log10)] }));
  const names = ["Events", "Until", "The model’s own", "Ours", "Chance up to", "Evidence"];
  const empty = el("p", { class: "quietly" }, "No outcome yet.");
  return section("pictures", "Pictures", el("div", { class: "pictures" },
    dots.length ? figure("reliability", "Said against happened", legend(raw, el("span", {}, "┃ 90 % of calibrated forecasters")),
      [out, "On the diagonal, what is called 30 % happens in 30 %. Larger dots stand for more forecasts."],
      numbers("Said against happened", ["Whose", "Said", "Happened", "Forecasts", "90 % of calibrated"], dots)) : empty,
    w.length ? [
      known(w.at(-1).evidence_log10) && figure("evidence", "Evidence over time",
        el("p", { class: "legend", "aria-hidden": "true" }, el("span", {}, `— against ${JUDGED[s.watched] ?? "it"}`), el("span", {}, "▼ alarm")),
        "On a log scale. Right forecasts cross the line at 20 : 1 at most once in 20 streams, ever.",
        numbers("Evidence over time", names, windows)),
      figure("windows", "Error per window", legend(w.some((v) => known(v.raw_error)), el("span", {}, "▒ chance, two standard deviations"), el("span", {}, "┄ tolerance")),
        `What was said minus what happened, on average over ${counted(w.at(-1).n ?? w.at(-1).to - w.at(-1).from, "event")}.`,
        numbers("Error per window", names, windows)),
    ] : null));
}

function groups(s) {
  const rows = s.by_group?.map((g) => ({ key: g.name, cells: [own(g.name), count(g.rounds), percent(g.said), percent(g.happened),
    ...["", "_noise", "_after_the_fact", "_guaranteed"].map((kind) => points(g[`points${kind}`]))] }));
  return rows ? section("groups", "Groups", el("div", { class: "card long" },
    table(["Group", "Events", "Said", "Happened", "Off", "Chance alone", "After the fact", "Guaranteed"], rows, { label: "By group", stacked: true }),
    el("p", { class: "quietly" }, "Our forecasts. Verdict and alarms look at all events together."))) : [];
}

function recent(s) {
  const list = s.recent ?? [];
  const rows = list.map((f) => ({ key: f.id, cells: [
    moment(f.time), [own(f.id), (f.event ?? null) !== null && el("small", {}, own(f.event))],
    probability(f.p), probability(f.issued), probability(f.mean),
    (f.outcome ?? null) === null ? el("span", { class: "muted" }, "waits") : own(outcome(f.outcome)),
    known(f.resolved) ? moment(f.resolved) : NONE] }));
  return section("recent", "Recent forecasts", rows.length
    ? el("div", { class: "card long" }, table(["Time", "Forecast", "Model said", "Issued", "Mean", "Outcome", "Outcome came"], rows,
      { label: "Recent forecasts, newest first", stacked: true }))
    : el("p", { class: "card quietly" }, "None yet."));
}

const words = (text) => (text ?? "").split("\n").filter(Boolean).map((line) => el("p", {}, line));

function certificate(s) {
  return section("certificate", "Certificate", el("div", { class: "card prose" },
    el("p", { class: "muted" }, "Measured and guaranteed side by side, for our forecasts."), words(s.certificate_text),
    s.explain && el("details", {}, el("summary", {}, "Settings and why"), words(s.explain))));
}

export function streamView(s, trouble) {
  const kind = KINDS[s.verdict] ?? "unsaid";
  return [
    el("div", { class: "heading", "data-key": "heading" },
      el("p", {}, el("a", { href: "#/", "data-do": "back" }, "‹ All streams")),
      el("h1", { id: "title", tabindex: -1, class: s.stream.length > 60 ? "long-name" : null }, own(s.stream)), facts(s)),
    el("section", { class: `verdict-card ${kind}`, "data-key": "verdict", "aria-labelledby": "verdict" }, icon(kind),
      el("div", {}, el("h2", { id: "verdict" }, headline(s)), el("p", { class: "sentence" }, sentence(s)))),
    alarms(s, trouble),
    section("numbers", "Numbers", el("div", { class: "answers" }, compared(s), sure(s), promised(s))),
    groups(s), pictures(s), recent(s), certificate(s), reading(),
  ];
}

const DRAWN = {
  reliability: (s, width) => charts.reliability(s.reliability, width),
  evidence: (s, width) => charts.evidenceOverTime(s, width),
  windows: (s, width) => charts.errorPerWindow(s, width),
};

/** Fills the places of the charts, once they have a width; only what has changed is drawn anew. */
export function drawCharts(root, s) {
  for (const place of root.querySelectorAll("[data-chart]")) {
    const width = Math.floor(place.clientWidth);
    const parts = [width, s.reliability, s.windows, s.alarms, s.tolerance];
    const state = JSON.stringify(parts);
    if (width < 40 || place.drawn === state) continue;
    place.drawn = state;
    place.replaceChildren(DRAWN[place.dataset.chart](s, width));
  }
}
