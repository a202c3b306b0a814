// The verdict in plain words: how far, how sure, since when, and about whose probabilities.

import { capital, count, counted, evidence, known, moment, odds, points } from "./words.js";

const WHOSE = { model: "The model’s own probabilities are", ours: "Our forecasts (there is no model here) are" };

const howFar = (s) => `${WHOSE[s.watched] ?? "The forecasts are"} ${known(s.error)
  ? `on average ${points(s.error)} off; chance alone would show ${points(s.noise, false)}.` : "judged as soon as outcomes come."}`;

function howSure(s) {
  const { evidence_log10: now, evidence_log10_most: most } = s;
  if (!known(most)) return "";
  const once = `Such a record would come up at most once in ${odds(most)} calibrated forecasters, however often you look.`;
  const fallen = known(now) && now < most / 2
    ? ` The evidence was ${evidence(most)} at its strongest and is ${evidence(now)} now.` : "";
  return once + fallen;
}

function since(alarm) {
  if (!alarm || !known(alarm.since)) return "";
  return `Off since about event ${count(alarm.since + 1)}${known(alarm.since_time) ? `, ${moment(alarm.since_time)}` : ""}.`;
}

export function headline(s) {
  const words = s.direction && s.verdict.startsWith("miscalibrated") ? `: ${s.direction}` : "";
  return capital(s.verdict) + words;
}

export function sentence(s) {
  const limit = points(s.tolerance);
  const parts = {
    "miscalibrated": [howFar(s), known(s.certain) ? `${points(s.certain)} of it are beyond chance, more than the ${points(s.tolerance, false)} tolerated.` : "",
      howSure(s), since(s.alarm)],
    "miscalibrated, but little": [howFar(s), `What is beyond chance${known(s.certain) ? `, ${points(s.certain)},` : ""} is within the tolerance of ${limit}.`,
      howSure(s), since(s.alarm)],
    "no evidence of miscalibration": [howFar(s),
      `After ${counted(s.events, "event")} an error of ${limit}, the tolerance, would have shown.`],
    "too little data to say": [howFar(s), `${counted(s.events, "event")} with an outcome cannot yet show an error of ${limit}, the tolerance.`],
    "not watched": [howFar(s), "No alarm rings for this stream: its spec has no monitor."],
  }[s.verdict] ?? [howFar(s)];
  return parts.filter(Boolean).join(" ");
}
