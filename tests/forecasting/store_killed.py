"""A process that saves a bank again and again until somebody ends it: store, path, report."""

from __future__ import annotations

import sys

import numpy as np

from fullswap.forecasting import Bank, FileStore, Forecaster, SQLiteStore

KEYS = np.arange(300)
STORES = {"file": FileStore, "sqlite": SQLiteStore}


def main(name: str, path: str, report: str) -> None:
    store = STORES[name](path)
    bank = Bank(Forecaster(seed=1))
    for turn in range(10**6):
        bank.run(KEYS, (KEYS + turn) % 2, record=False)
        bank.save(store)
        with open(report, "ab") as file:  # one byte more, after each save
            file.write(b".")


if __name__ == "__main__":
    main(*sys.argv[1:])
