"""Runs on the workers of a Dask cluster: one of this machine, or one that is running already.

A worker has one thread and makes one run at a time. What waits, waits here and not in the cluster:
so it can still be called off when a run fails, the longest come first, and a worker that is lost
takes with it the run that it was making and no other. That run is made again elsewhere.
"""

from __future__ import annotations

import logging
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from fullswap.base.extras import is_installed
from studies import shipping
from studies.threads import one_thread

if TYPE_CHECKING:
    import distributed

MISSING = "--engine dask needs its extra: pip install 'fullswap[sweep]'"
CONNECT, WORKERS = 10.0, 60.0
"""Seconds to wait for a scheduler that was named, and for its first worker."""
_LOOK = 1.0
"""Seconds from one look at which workers there are to the next."""
_LOCAL: dict[str, Any] = {
    "distributed.scheduler.worker-ttl": None,  # compiled rounds may keep a worker silent for long
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}


@contextmanager
def local_workers(count: int) -> Iterator[Executor]:
    """Processes of this machine as workers, which hear and answer on 127.0.0.1 alone."""
    _need_distributed()
    import dask
    from distributed import Client, LocalCluster

    with (
        one_thread(),
        dask.config.set(_LOCAL),
        LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",  # with no address it would take a well-known port
            scheduler_kwargs={"dashboard": False},
            memory_limit=0,  # as with any process; Dask would stop and end those that grow
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        client.register_plugin(_calm())
        with _executor(client) as executor:
            yield executor


@contextmanager
def running_workers(address: str) -> Iterator[Executor]:
    """The workers of a running cluster, which get the source of the studies from here."""
    _need_distributed()
    from distributed import Client

    with Client(address, timeout=CONNECT, set_as_default=False) as client:
        try:
            client.wait_for_workers(1, timeout=WORKERS)
        except TimeoutError:
            raise TimeoutError(f"no worker came to {address} within {WORKERS:g} s") from None
        client.register_plugin(shipping.plugin(shipping.source()))
        try:
            _check(client)
            with _executor(client) as executor:
                yield executor
        finally:
            if client.status == "running":  # else there is nobody left to be told
                with suppress(ValueError):  # another study took its place, and is over
                    client.unregister_worker_plugin(shipping.NAME)


def _calm() -> Any:
    from distributed import WorkerPlugin

    class Calm(WorkerPlugin):
        name = "fullswap-calm"

        def setup(self, worker: Any) -> None:
            # Ctrl-C goes to all processes: the one that started these says so, and ends them
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            # it also says what failed, and that it was called off need not be said at all
            logging.getLogger("distributed.worker").setLevel(logging.CRITICAL)

    return Calm()


def _need_distributed() -> None:
    if not is_installed("distributed"):
        raise ImportError(MISSING)


def _check(client: distributed.Client) -> None:
    for address, threads in client.nthreads().items():
        wrong = shipping.many_threads(threads)
        if wrong:
            raise ValueError(f"the worker at {address} {wrong}")
    asked = shipping.packed(shipping.fault, shipping.environment())
    for address, wrong in client.run(shipping.caller(), asked).items():
        if wrong:
            raise ValueError(f"the worker at {address} {wrong}")


@contextmanager
def _executor(client: distributed.Client) -> Iterator[WorkersExecutor]:
    executor = WorkersExecutor(client)
    try:
        yield executor
    finally:
        executor.shutdown()


class WorkersExecutor(Executor):
    """Calls on the workers of a cluster, as many at a time as there are workers.

    Parameters
    ----------
    client : distributed.Client
        Closed by who made it.
    """

    def __init__(self, client: distributed.Client) -> None:
        self._client = client
        self._environment = shipping.environment()
        self._call = shipping.caller()
        self._waiting: deque[tuple[Future[Any], bytes, str]] = deque()
        self._running: dict[Future[Any], distributed.Future] = {}
        self._changed = threading.Event()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="studies-cluster", daemon=True)
        self._thread.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Have a call made; it can be cancelled until a worker is free for it."""
        packed = shipping.packed(shipping.checked, self._environment, fn, args, kwargs)
        called = " ".join(str(getattr(each, "name", each)) for each in args)
        future: Future[Any] = Future()
        if self._closed:
            raise RuntimeError("cannot schedule new futures after shutdown")
        self._waiting.append((future, packed, called))
        self._changed.set()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        """Call off what waits and what runs: whoever wants results has waited for them."""
        self._closed = True
        self._changed.set()
        self._thread.join()
        for future, _, _ in self._waiting:
            future.cancel()
        if self._running and self._client.status == "running":
            self._client.cancel(list(self._running.values()))

    def _work(self) -> None:
        while not self._closed:
            # now and then unasked: workers may have come
            self._changed.wait(_LOOK)
            self._changed.clear()
            try:
                while self._waiting and self._free() > 0 and not self._closed:
                    self._start()
            except Exception as error:  # whatever it is, nobody would hear of it from this thread
                self._fail(RuntimeError(f"the cluster cannot be reached any more: {error}"))

    def _free(self) -> int:
        return len(self._client.nthreads()) - len(self._running)

    def _start(self) -> None:
        """Give the next call to the cluster, if it is still wanted."""
        future, packed, called = self._waiting[0]
        if future.set_running_or_notify_cancel():
            there = self._client.submit(self._call, packed, pure=False)
            self._running[future] = there
            there.add_done_callback(lambda there: self._end(future, there, called))
        self._waiting.popleft()

    def _end(self, future: Future[Any], there: distributed.Future, called: str) -> None:
        from distributed import KilledWorker

        result: Any = None
        failure: Exception | None = None
        try:
            result = there.result()
        except KilledWorker as error:
            lost = error.allowed_failures + 1
            failure = RuntimeError(f"{lost} workers were lost one after the other, at {called}")
        except CancelledError:
            failure = RuntimeError(f"the cluster was closed or gave up the run {called}")
        except Exception as error:
            failure = error
        if failure is None:
            future.set_result(result)
        else:
            future.set_exception(failure)
        del self._running[future]
        self._changed.set()

    def _fail(self, failure: Exception) -> None:
        while self._waiting:
            future = self._waiting.popleft()[0]
            if future.running() or future.set_running_or_notify_cancel():
                future.set_exception(failure)
