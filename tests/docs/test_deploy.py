"""Files to run the service with are those that the page shows, and name what there is."""

import re
import shutil
import subprocess

import pytest

from docs.blocks import ROOT

DEPLOY = ROOT / "docs" / "deploy"
PAGE = (ROOT / "docs" / "howto" / "operations.md").read_text(encoding="utf-8")
FILES = sorted(DEPLOY.iterdir())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_page_shows_the_files_as_they_are(path):
    assert f"\n{path.read_text(encoding='utf-8').rstrip()}\n```" in PAGE


def test_metrics_that_rules_and_the_page_name_are_there(tmp_path):
    pytest.importorskip("msgspec")
    from fullswap.service.metrics import Metrics
    from fullswap.service.service import Service
    from fullswap.service.webhook import Webhook

    service = Service.open(tmp_path)
    numbers = service.ask(lambda engine: engine.numbers()).result()
    service.close()
    metrics = Metrics()
    metrics.count("/v1/forecasts", "POST", 200, 0.01)
    metrics.count_items("/v1/forecasts", 1, 0)
    row = {"stream": "north", "evidence_log10": 1.0, "alarm": None, "pending": 0}
    more = {
        "fullswap_log_lines_dropped_total": 0,
        **Webhook(service, "http://localhost", None).counters(),
    }
    text = metrics.render(numbers, [row], more)
    there = set(re.findall(r"^(fullswap_\w+)", text, re.MULTILINE))
    there |= {name.removesuffix("_bucket") for name in there}
    rules = (DEPLOY / "fullswap-alerts.yml").read_text(encoding="utf-8")
    named = set(re.findall(r"fullswap_[a-z]\w+", rules + PAGE))
    assert named <= there and len(named) > 15
    families = re.findall(r"^# TYPE (\S+)", text, re.MULTILINE)
    assert len(families) == len(set(families))


def test_options_of_the_unit_are_known(tmp_path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd is not here")
    unit = (DEPLOY / "fullswap.service").read_text(encoding="utf-8")
    (tmp_path / "fullswap.service").write_text(
        unit.replace("/opt/fullswap/bin/fullswap", "/bin/true")
    )
    done = subprocess.run(
        ["systemd-analyze", "verify", str(tmp_path / "fullswap.service")],
        capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
