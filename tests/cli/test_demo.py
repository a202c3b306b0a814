"""`fullswap demo`: real weather, honest numbers, a report."""

import io
import json
import subprocess
import sys

import numpy as np
import pytest

from fullswap.demo import Tour, weather
from fullswap.demo.picture import ASCII, FANCY, reliability_lines


@pytest.fixture(scope="module")
def rain():
    return weather.read_rain()


def test_the_model_never_sees_what_it_forecasts(rain, monkeypatch):
    days, wet, features = weather._read(weather._file())
    assert len(rain.days) == 1095 and (np.diff(rain.days) == np.timedelta64(1, "D")).all()
    assert rain.days[0] == weather.FITTED and 150 < rain.learnt_from < 190
    np.testing.assert_array_equal(rain.happened, wet[days >= weather.FITTED])
    # another future changes no forecast made before it
    later = days >= np.datetime64("2014-06-01")
    other = np.where(later[:, None], features[::-1], features)
    monkeypatch.setattr(weather, "_read", lambda path: (days, np.where(later, 1 - wet, wet), other))
    again = weather.read_rain()
    before = rain.days <= np.datetime64("2014-06-01")
    np.testing.assert_array_equal(again.said[before], rain.said[before])
    assert not np.array_equal(again.said, rain.said)


def test_the_regression_is_at_its_maximum():
    rng = np.random.default_rng(0)
    known = rng.normal(size=(400, 2))
    target = (rng.random(400) < 1 / (1 + np.exp(-known @ [1.0, -2.0]))).astype(float)
    said = weather._logistic(known, target, known)
    scaled = (known - known.mean(axis=0)) / known.std(axis=0)
    logits = np.log(said / (1 - said))
    design = np.column_stack((np.ones(400), scaled))
    weights = np.linalg.lstsq(design, logits, rcond=None)[0]
    np.testing.assert_allclose(design.T @ (target - said), weights * weather.PENALTY, atol=1e-8)


@pytest.mark.parametrize("seed", [0, 5])
def test_the_weather_gets_better_and_promises_are_kept(seed):
    tour = Tour(seed)
    assert tour.before.miscalibrated and tour.before.error > 0.1
    assert tour.after.error < tour.before.error / 2
    assert tour.after.brier.score < tour.before.brier.score
    assert tour.certificate.points <= tour.certificate.points_guaranteed
    assert set(np.round(tour.issued * 10, 9)) <= set(range(11))
    assert tour.alarm.direction == "too high" and tour.day(tour.alarm).startswith("2013-07")
    assert tour.alarm_after is None
    assert tour.adversary.points <= tour.adversary.points_guaranteed < 0.1 < tour.frequency
    assert tour.equilibrium.gap <= 0.001 and tour.holds


def test_it_prints_every_step_and_writes_its_report(call, tmp_path):
    page = tmp_path / "demo.html"
    code, out, err = call("demo", "--report", page)
    assert (code, err) == (0, "")
    assert [line[0] for line in out.splitlines() if line[1:3] == ". "] == list("12345")
    assert "Staged" in out and "guaranteed" in out and "nan" not in out and FANCY[0] in out
    assert out.endswith(f"Report: {page}\n")
    html = page.read_text(encoding="utf-8")
    assert "Rain in Seattle" in html and html.rstrip().endswith("</html>")


def test_json_and_quiet(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, _ = call("demo", "--json", "--seed", "3")
    found = json.loads(out)
    assert code == 0 and found["holds"] and found["report"] == "fullswap-demo.html"
    assert found["after"]["error"] < found["before"]["error"]
    assert found["alarm"]["day"].startswith("2013-07") and found["alarm_after"] is None
    assert (tmp_path / "fullswap-demo.html").stat().st_size > 10_000
    code, out, _ = call("demo", "--quiet", "--report", "quiet.html")
    assert code == 0 and len(out.splitlines()) == 6
    assert out.splitlines()[-1] == "Report: quiet.html"


def test_where_the_report_goes_if_this_folder_is_read_only(monkeypatch, tmp_path):
    from fullswap.cli import demo

    monkeypatch.setattr("os.access", lambda *_: False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    place = demo._place(None)
    assert place.name == "fullswap-demo.html" and tmp_path in place.parents


def test_a_broken_promise_is_1(call, tmp_path, monkeypatch):
    monkeypatch.setattr(Tour, "holds", False)
    assert call("demo", "--quiet", "--report", tmp_path / "x.html")[0] == 1


@pytest.mark.parametrize("missing", ["vega_datasets", "jinja2"])
def test_without_the_extra_it_says_what_to_install(call, monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    code, out, err = call("demo")
    assert (code, out) == (2, "") and err.count("\n") == 1
    assert "pip install 'fullswap[demo]'" in err


def test_the_data_package_and_pandas_are_not_imported():
    looked = (
        "import sys; from fullswap.demo.weather import read_rain; read_rain(); "
        "print({'vega_datasets', 'pandas'} & set(sys.modules))"
    )
    result = subprocess.run([sys.executable, "-c", looked], capture_output=True, text=True)
    assert result.stdout == "set()\n"


def test_the_picture_shows_both_ends_and_leaves_out_rare_levels():
    said = np.array([0.0] * 12 + [1.0] * 12 + [0.5] * 9)
    lines = reliability_lines(said, said, np.ones(33), 76, ASCII)
    assert [line[:5] for line in lines[1:]] == ["100 %", "  0 %"]
    assert lines[1].count("o") == 2 and "|" not in lines[1]
    assert lines[2].count("|" + "-" * 18 + "o") == 2
    assert max(map(len, lines)) <= 76


def test_the_picture_in_an_encoding_without_its_letters(monkeypatch):
    from fullswap.cli.demo import _picture

    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    assert _picture(Tour()).isascii()
