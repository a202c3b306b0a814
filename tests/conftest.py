"""Settings shared by all tests: one thread per process, reproducible Hypothesis examples."""

import os
import signal

# Before numpy or numba load: test processes run side by side and must not multiply threads.
for _variable in (
    "NUMBA_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
):
    os.environ[_variable] = "1"
os.environ["MPLBACKEND"] = "Agg"  # plots are drawn without a display
os.environ["FULLSWAP_QUIET"] = "1"  # what tests read on standard error is not about compiling

from hypothesis import settings  # noqa: E402

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # as a job in the background begins; what Ctrl-C does is tested all the same
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No deadline: the first call of a kernel compiles it.
settings.register_profile("fullswap", derandomize=True, deadline=None, max_examples=40)
settings.load_profile("fullswap")


collect_ignore = ["conftest.py"]  # two of one name cannot both be read for examples
