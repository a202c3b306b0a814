"""A process that saves a bank again and again until it is killed: path, report."""

from __future__ import annotations

import sys

import numpy as np

from fullswap import Bank, Forecaster

KEYS = np.arange(300)


def main(path: str, report: str) -> None:
    bank = Bank(Forecaster(seed=1))
    for turn in range(10**6):
        bank.run(KEYS, (KEYS + turn) % 2, record=False)
        bank.save(path)
        with open(report, "ab") as file:  # one byte more, after each save
            file.write(b".")


if __name__ == "__main__":
    main(*sys.argv[1:])
