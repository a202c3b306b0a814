"""Write saved states of today's version, and what follows from them, to tests/states.

Run once for a version of the state, and once more for makers that join it: ``python
tests/forecasting/write_states.py``. Later versions read the same files, so what is written here is
never written anew.
"""

import json
import sys
from pathlib import Path

STATES = Path(__file__).resolve().parents[1] / "states"
KEPT = (
    "binary", "binary, anytime", "binary in steps", "log loss, anytime", "stationary, anytime",
    "binary, weights", "3 classes", "4 classes, anytime", "recalibrator", "recalibrator, growing",
    "recalibrator, models", "recalibrator, 3 classes, models", "recalibrator, groups",
    "12 classes", "12 classes, drawn", "recalibrator, 9 classes",
)  # fmt: skip
"""Names in ``contract.makers.MAKERS``."""


def story(name):
    """A forecaster in the middle of its events, and the log that it is fed with."""
    from contract.makers import MAKERS

    forecaster, log = MAKERS[name](seed=11), MAKERS[name].log(200, 12)
    log.run(forecaster, slice(0, 150))
    for t in range(150, 154):
        log.predict(forecaster, t)
    forecaster.update(log.outcomes[151], forecaster.pending[1])
    forecaster.drop(forecaster.pending[0])
    return forecaster, log


def go_on(forecaster, log):
    """What is forecast next: outcomes of those that wait, then the rest of the log."""
    from contract.makers import described

    shown = [described(forecast) for forecast in forecaster.pending]
    for t, forecast in zip((153, 152), forecaster.pending[::-1], strict=True):
        forecaster.update(log.outcomes[t], forecast)
    for t in range(154, 200):
        shown.append(described(log.predict(forecaster, t)))
        forecaster.update(log.outcomes[t])
    return shown


def write():
    from fullswap.forecasting.state import VERSION

    folder = STATES / str(VERSION)
    folder.mkdir(parents=True, exist_ok=True)
    for name in KEPT:
        path = folder / (name.replace(", ", "_").replace(" ", "_") + ".json")
        if path.exists():
            continue
        forecaster, log = story(name)
        content = {"maker": name, "state": json.loads(forecaster.to_json())}
        content["next"] = go_on(forecaster, log)
        path.write_text(json.dumps(content) + "\n")


if __name__ == "__main__":
    sys.path.insert(0, str(STATES.parent))
    write()
