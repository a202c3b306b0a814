"""After a warm-up the first request of a service compiles nothing."""

import os
import subprocess
import sys

import pytest

from docs.blocks import ROOT

pytest.importorskip("msgspec", reason="the extra serve is not installed")
pytestmark = pytest.mark.timeout(600)
FIRST = """
import sys
from fullswap.kernels import compiling
from fullswap.service.messages import ForecastItem, OutcomeItem, SpecBody
from fullswap.service.rehearsal import KINDS
from fullswap.service.service import Service
service = Service.open(sys.argv[1])
for name, (body, p) in KINDS.items():
    service.ask(lambda engine: engine.put_spec(name, body)).result()
    (made,) = service.forecasts([ForecastItem(name, name, p=p)]).result()
    service.outcomes([OutcomeItem(1, made.id)]).result()
service.close()
Service.open(sys.argv[1]).close()
print(compiling.progress.compiled)
"""


def test_the_first_request_finds_everything_compiled(tmp_path):
    from fullswap.service.rehearsal import rehearse

    rehearse()
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-c", FIRST, str(tmp_path / "data")],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "0", done.stderr
