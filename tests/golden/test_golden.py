"""The package's numbers are those that were recorded."""

import warnings

import pytest

from golden import adapter, record

RECORDED = record.load(record.NUMBERS)
NEEDED = {"service": "litestar", "answers": "litestar"}
"""Libraries without which a part cannot be recorded."""


@pytest.mark.parametrize("part", adapter.PARTS)
def test_numbers_are_those_recorded(part):
    if part in NEEDED:
        pytest.importorskip(NEEDED[part])
    old = {key: value for key, value in RECORDED.items() if key.split("/")[0] == part}
    assert old, f"nothing is recorded of {part}: python tests/golden/record.py {part}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrong, more = record.compare(old, record.record([part]), bits=False)
    assert not wrong, "\n".join(wrong[: record.SHOWN])
    assert not more, f"not recorded yet: {more[:5]}"


def test_all_that_is_recorded_is_compared():
    assert {key.split("/")[0] for key in RECORDED} == set(adapter.PARTS)
