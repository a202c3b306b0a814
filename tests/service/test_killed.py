"""Killed at any moment: nothing acknowledged is lost or doubled, and what follows is the same."""

import random
import time

import pytest

from service.killed import SPECS, Player, Server, banks_of, repeat

PLAYERS = 4


def killed(folder, times, seed):
    """Play while the service is killed so many times; the players, and the server, running."""
    rng = random.Random(seed)
    server = Server(folder).start()
    for name, (body, _) in SPECS.items():
        assert server.ask("PUT", f"/v1/specs/{name}", body)[0] in (200, 201)
    players = [Player(k, server, seed + k) for k in range(PLAYERS)]
    for player in players:
        player.start()
    for _ in range(times):
        time.sleep(rng.choice((0.02, 0.2, 0.6)) * rng.random())
        done = [len(player.played) for player in players]
        server.kill()
        server.start()
        check_some(server, players, done, rng)
    time.sleep(0.3)
    for player in players:
        player.stopping.set()
    for player in players:
        player.join(60)
        assert player.trouble is None or "stopped" in str(player.trouble), player.trouble
    return players, server


def check_some(server, players, done, rng):
    """What was acknowledged before the kill is there after it."""
    for player, count in zip(players, done, strict=True):
        for what, item, answer in rng.sample(player.played[:count], min(count, 5)):
            path = "/v1/forecasts" if what == "forecast" else "/v1/outcomes"
            status, again = server.ask("POST", path, {"items": [item]})
            assert status == 200
            (again,) = again["items"]
            if what == "forecast":
                # an event that has its outcome since is no reason to forget the answer
                assert again == answer, (item, answer, again)
            else:
                assert again["status"] == "known", (item, answer, again)


def check_all(folder, players, server):
    """All of it, against banks; and after a clean stop and a start once more."""
    views = {}
    for turn in range(2):
        for player in players:
            asked = [item for what, item, _ in player.played if what == "forecast"]
            told = [answer for what, _, answer in player.played if what == "forecast"]
            for k in range(0, len(asked), 500):
                _, again = server.ask("POST", "/v1/forecasts", {"items": asked[k : k + 500]})
                assert again["items"] == told[k : k + 500]
        listed = server.ask("GET", "/v1/streams?limit=1000")[1]["streams"]
        rows = {row["stream"]: row for row in listed}
        if turn == 0:
            views = rows
            assert server.stop() == 0
            banks = banks_of(folder)
            server.start()
    counts = {}
    for player in players:
        counts.update(repeat(banks, player.played))
    for stream, row in rows.items():
        assert row["events"] == counts.get(stream, 0)
        for name in ("events", "forecasts", "pending", "evidence_log10", "error", "ours_error"):
            assert row[name] == views[stream][name]
    # the next forecast of every stream is that of a run without interruption
    for stream in rows:
        spec = stream.split()[0]
        p = {"p": 0.37} if spec in ("default", "places") else {}
        _, answer = server.ask("POST", "/v1/forecasts", {"items": [{"stream": stream, **p}]})
        (ticket,) = banks[spec].predict([stream], *([[0.37]] if p else []))
        assert answer["items"][0]["points"] == ticket.points.tolist()
        assert answer["items"][0]["weights"] == ticket.weights.tolist()
    assert server.stop() == 0


@pytest.mark.timeout(600)
def test_a_service_that_is_killed_goes_on_as_if_nothing_had_happened(tmp_path):
    players, server = killed(tmp_path / "data", 4, 1)
    check_all(tmp_path / "data", players, server)
    assert sum(len(player.played) for player in players) > 100


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", [100, 200])
def test_a_hundred_times(tmp_path, seed, record_property):
    players, server = killed(tmp_path / "data", 100, seed)
    check_all(tmp_path / "data", players, server)
    record_property("events", sum(len(player.played) for player in players))
    record_property("retries", sum(player.retries for player in players))
