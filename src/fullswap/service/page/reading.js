// How to read the page, and how its numbers come about.

import { el } from "./dom.js";

const WORDS = [
  ["Error", "Forecasts are put into groups of similar probability; in each, what was said is compared with how often it "
    + "happened. The error is the average of these differences, in percentage points."],
  ["Chance, tolerance", "Chance: the error that right forecasts would show after as many events. Tolerance: what you call small. "
    + "In the bars, dot: measured; grey: chance; tick: tolerance."],
  ["Certain error", "What is left of the error when chance is taken away. The list begins with the largest."],
  ["Evidence", "A bet against the forecasts that gains nothing on average while they are right. Of right forecasters, at most one "
    + "in 4,000 ever comes to 4,000 : 1, however often you look. Verdicts of miscalibration begin at 20 : 1."],
  ["Trend", "The error of each window of events, oldest first: above the line too high, below too low."],
  ["The model, our forecasts", "Whom verdict, error, evidence and alarm are about: the model’s own probabilities, or our forecasts "
    + "where there is no model."],
  ["Alarm", "Rings when a change would explain the outcomes far better than the forecasts do; then it is quiet until acknowledged "
    + "or recovered. How rarely right forecasts ring is the setting."],
  ["Measured, guaranteed", "Measured: what happened so far. Guaranteed: what holds whatever happens, by proof, for our forecasts alone."],
  ["Issued, mean", "What was published is drawn between two neighbouring values; the mean is the average over the draw."],
  ["Waiting", "Forecasts whose outcome has not come yet."],
];

export const reading = () => el("details", { class: "card prose reading", "data-key": "reading" },
  el("summary", {}, "How to read this"),
  el("dl", { class: "glossary" }, WORDS.map(([term, words]) => [el("dt", {}, term), el("dd", {}, words)])));
