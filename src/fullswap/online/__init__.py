"""The online core: rows of numbers that learn, for every kind and any number of streams.

- ``Spec``: a kind of forecaster as frozen plain data, shared by its streams.
- a row: one float64 vector a stream, all that it has learnt (``kernels.columns``).
- ``Forecast``: the ticket of a forecast that waits for its outcome.
- four verbs: forecast (pure), learn (in place), run (one loop over events), refine (a wider row).
"""
