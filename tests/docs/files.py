"""The files that the commands in the pages read: rain in Seattle, and a game."""

import doctest
import json
from contextlib import chdir
from pathlib import Path

import numpy as np

from docs.blocks import ROOT, blocks_of
from fullswap.demo.weather import read_rain

PRISONERS = """NFG 1 R "Two prisoners" { "Anna" "Boris" }

{ { "silent" "talk" }
{ "silent" "talk" }
}

{
{ "" -1, -1 }
{ "" 0, -5 }
{ "" -5, 0 }
{ "" -3, -3 }
}
1 2 3 4
"""


def write_files(folder: Path) -> None:
    """`rain.csv`, `forecasts.csv`, the same as Parquet and JSON lines, and `prisoners.nfg`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rain = read_rain()
    days = [str(day) for day in rain.days]
    seen = np.cumsum(rain.happened) - rain.happened
    columns = {
        "date": days,
        "month": [int(day[5:7]) for day in days],
        "probability": rain.said.round(3).tolist(),
        "climatology": ((seen + 1) / (np.arange(len(days)) + 2)).round(3).tolist(),
        "rain": rain.happened.astype(int).tolist(),
        "known": [str(day + np.timedelta64(6, "D")) for day in rain.days],
    }
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    lines = [",".join(columns), *(",".join(map(str, row.values())) for row in rows)]
    (folder / "forecasts.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "forecasts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    pq.write_table(pa.table(columns), folder / "forecasts.parquet")
    (folder / "prisoners.nfg").write_text(PRISONERS, encoding="utf-8")
    _write_tutorial(folder)


def _write_tutorial(folder: Path) -> None:
    """`rain.csv`, as the first example of the tutorial writes it."""
    first = next(b for b in blocks_of(ROOT / "docs" / "tutorial.md") if b.language == "python")
    source = "".join(example.source for example in doctest.DocTestParser().get_examples(first.text))
    with chdir(folder):
        exec(source, {})
    assert (folder / "rain.csv").exists()
