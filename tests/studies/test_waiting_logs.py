"""Logs where forecasts wait for their outcome: order, events, and when an outcome is known."""

from __future__ import annotations

import numpy as np

from studies import logs


def only(folder, name, text):
    (folder / name).write_text(text, encoding="utf-8")
    return {stream.name: stream for stream in logs.read_logs(folder)}


def test_games_are_known_when_they_end(tmp_path):
    text = "season,team1,team2,period,secs,prob1,prob1_outcome\n"
    text += "2016,A,B,1,600,0.5,1\n2016,A,B,1,580,0.6,1\n2016,A,C,1,600,0.3,0\n"
    text += "2017,A,B,1,600,0.2,0\n2017,A,B,2,600,0.1,0\n"
    (stream,) = only(tmp_path, "march_madness_in_game_women.csv", text).values()
    assert stream.event_of().tolist() == [0, 0, 1, 2, 2]
    assert stream.known.tolist() == [1, 1, 2, 4, 4]
    assert stream.resolved() == [[], [0], [1], [], [2]]
    assert stream.delayed and stream.outcomes.tolist() == [1, 1, 0, 0, 0]


def test_three_way_games_are_two_streams(tmp_path):
    text = "season,team1,team2,prob1,prob1_outcome,probtie,probtie_outcome,prob2,prob2_outcome\n"
    text += "2019,A,B,0.69,1,0.2,0,0.11,0\n2019,A,B,0.5,1,0.3,0,0.21,0\n"
    win, tie = only(tmp_path, "world_cup_matches_in_game_women.csv", text).values()
    assert win.outcomes.tolist() == [1, 1] and tie.outcomes.tolist() == [0, 0]
    assert win.claimed[1] == 0.5 / 1.01 and round(tie.claimed[0], 12) == 0.2  # rows sum to 1
    assert win.known.tolist() == tie.known.tolist() == [1, 1]


def test_a_decided_round_is_no_forecast(tmp_path):
    rounds = range(1, 8)
    head = "season,forecast_date,player"
    head += "".join(f",round_{k},round_{k}_outcome" for k in rounds)

    def line(day, player, chances, won):
        cells = "".join(f",{p},{float(k <= won)}" for k, p in zip(rounds, chances, strict=True))
        return f"2016,{day},{player}{cells}"

    days = ["2016-08-28", "2016-08-30", "2016-09-01"]
    # newest first; A wins everything, B loses the first round, so its later ones are over with it
    lines = [
        line(days[2], "A", ["1.0"] * 7, 7),
        line(days[2], "B", ["0.0"] * 7, 0),
        line(days[1], "A", ["1.0", "0.8", "0.7", "0.6", "0.5", "0.4", "0.3"], 7),
        line(days[1], "B", ["0.0"] * 7, 0),
        line(days[0], "A", ["0.9", "0.7", "0.6", "0.5", "0.4", "0.3", "0.2"], 7),
        line(days[0], "B", ["0.1", "0.05", "0.0", "0.0", "0.0", "0.0", "0.0"], 0),
    ]
    text = "\n".join([head, *lines]) + "\n"
    (stream,) = only(tmp_path, "tennis_women.csv", text).values()
    first = [0.9, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0, 0, 0, 0, 0]
    assert stream.claimed.tolist() == [*first, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3]
    # round 1, and all of B, is known before the forecasts of the second day
    assert stream.known.tolist() == [13] + [19] * 6 + [13] * 7 + [19] * 6
    assert stream.event_of().tolist() == [*range(14), *range(1, 7)]


def test_rain_is_known_on_its_day(tmp_path):
    text = "date,actual,0_days_out,1_days_out\n"
    text += "2025-01-01,True,30,\n2025-01-02,False,20,10\n2025-01-03,True,90,80\n"
    text += "2025-01-05,True,95,70\n2025-01-06,,,60\n"
    streams = only(tmp_path, "seattle_nws_forecast_log.csv", text)
    assert list(streams) == ["rain, nws", "rain, nws, 1 day ahead", "rain, nws, all leads"]
    assert not streams["rain, nws"].delayed
    ahead = streams["rain, nws, 1 day ahead"]
    assert ahead.claimed.tolist() == [0.1, 0.8, 0.7]
    # made on the 1st, 2nd and 4th: nothing is made on the 3rd, when the second is known
    assert ahead.known.tolist() == [1, 1, 2]
    every = streams["rain, nws, all leads"]
    assert every.claimed.tolist() == [0.3, 0.1, 0.2, 0.8, 0.9, 0.7, 0.95]
    assert every.event_of().tolist() == [0, 1, 1, 2, 2, 3, 3]
    assert every.known.tolist() == [1, 3, 3, 4, 4, 6, 6]


def test_every_outcome_is_known_once_and_not_before_its_forecasts():
    rng = np.random.default_rng(0)
    events = np.repeat(rng.permutation(20), 3)
    known = np.maximum.reduceat(np.arange(60), np.arange(0, 60, 3)).repeat(3)
    stream = logs.Stream("made", rng.random(60), np.zeros(60), events=events, known=known)
    resolved = [event for over in stream.resolved() for event in over]
    assert sorted(resolved) == list(range(20))
