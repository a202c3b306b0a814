"""The source of the studies on workers elsewhere, and whether they compute the same as here.

The package of the studies is in no wheel, so it travels: every worker unpacks it into its own
folder, also one that comes late or comes back. The scheduler never imports it, for calls travel as
bytes. fullswap, numpy and the like have to be installed where workers run, and to be the same:
otherwise results would depend on who computed them.
"""

from __future__ import annotations

import io
import os
import pickle
import shutil
import sys
import zipfile
from collections.abc import Callable, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import fullswap
from studies.runs import REVISION, provenance
from studies.threads import THREADS

HERE = Path(__file__).resolve().parent
NAME = "fullswap-studies"
"""What travels, as the scheduler knows it: a later study takes the place of an earlier one."""

Environment = tuple[tuple[str, str], ...]


def source() -> bytes:
    """The package of the studies as an archive, with the revision that it is of."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(HERE.rglob("*.py")):
            archive.write(path, f"{HERE.name}/{path.relative_to(HERE).as_posix()}")
        archive.writestr(f"{HERE.name}/{REVISION}", str(provenance()["revision"]))
    return packed.getvalue()


def environment() -> Environment:
    """What results depend on, in this process."""
    versions = {name: str(value) for name, value in provenance().items() if name != "revision"}
    folders = {"fullswap": Path(fullswap.__file__).parent, "studies": HERE}
    sources = {f"source of {name}": digest(folder) for name, folder in folders.items()}
    return tuple({**versions, **sources}.items())


def digest(folder: Path) -> str:
    """A short name for the content of all modules in a folder."""
    known = sha256()
    for path in sorted(folder.rglob("*.py")):
        content = path.read_bytes()
        known.update(f"{path.relative_to(folder).as_posix()} {len(content)}\n".encode())
        known.update(content)
    return known.hexdigest()[:12]


def plugin(archive: bytes) -> Any:
    """What puts the source in place on a worker, and takes it away at the end."""
    from distributed import WorkerPlugin

    # These names are inside this function so that they travel as code: on a worker there is no
    # module yet from which they could be imported.
    def forget() -> None:
        for name in [name for name in sys.modules if name.partition(".")[0] == "studies"]:
            del sys.modules[name]

    class Source(WorkerPlugin):
        name = NAME

        def setup(self, worker: Any) -> None:
            self.folder = os.path.join(worker.local_directory, NAME)
            shutil.rmtree(self.folder, ignore_errors=True)
            # unpacked: numba keeps no compiled code for modules inside an archive
            with zipfile.ZipFile(io.BytesIO(archive)) as packed:
                packed.extractall(self.folder)
            sys.path.insert(0, self.folder)
            forget()  # modules of an earlier study, of another revision perhaps

        def teardown(self, worker: Any) -> None:
            sys.path.remove(self.folder)
            forget()
            shutil.rmtree(self.folder, ignore_errors=True)

    return Source()


def caller() -> Callable[[bytes], Any]:
    """What makes a call on a worker; travels as code, see above."""

    def call(packed: bytes) -> Any:
        function, arguments, named = pickle.loads(packed)
        return function(*arguments, **named)

    return call


def packed(function: Callable[..., Any], *arguments: Any, **named: Any) -> bytes:
    """A call as bytes."""
    return pickle.dumps((function, arguments, named))


def checked(
    wanted: Environment,
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    named: Mapping[str, Any],
) -> Any:
    """The call, on a worker that computes what any other would."""
    from distributed import get_worker

    worker = get_worker()
    wrong = fault(wanted) or many_threads(worker.state.nthreads)
    if wrong:
        raise ValueError(f"the worker at {worker.address} {wrong}")
    return function(*arguments, **named)


def many_threads(threads: int) -> str:
    """What is wrong with a worker that has so many threads; nothing if it has one.

    Examples
    --------
    >>> many_threads(1), many_threads(4)
    ('', 'must have one thread, got 4: start it with --nthreads 1')
    """
    if threads == 1:
        return ""
    return f"must have one thread, got {threads}: start it with --nthreads 1"


@cache
def fault(wanted: Environment) -> str:
    """Why this process would not compute the same; nothing if it would.

    Examples
    --------
    >>> fault((("numpy", "numpy 1.0"),)).startswith("must have numpy 1.0, got numpy")
    True
    """
    here = dict(environment())
    for name, value in wanted:
        if here[name] != value:
            what = f"the same {name} as this process, {value}" if "source" in name else value
            return f"must have {what}, got {here[name]}"
    # the last of them is Apple's, and workers elsewhere do not set it by themselves
    names = THREADS if sys.platform == "darwin" else THREADS[:-1]
    loose = [name for name in names if os.environ.get(name) != "1"]
    if loose:
        return f"must keep to one thread of linear algebra: start it with {'=1 '.join(loose)}=1"
    return ""
