"""The engine: runs, batches, records and saved states."""

from potentia.engine.batch import run_batch
from potentia.engine.playing import advance, begin, evaluate, run
from potentia.engine.requests import RECORDERS
from potentia.engine.runs import Run
from potentia.engine.saved import load
from potentia.engine.trace import Trace
from potentia.engine.watching import watch, watch_on
from potentia.kernel.loading import listing

__all__ = ["RECORDERS", "Run", "Trace", "advance", "begin", "evaluate", "load", "run", "run_batch", "watch", "watch_on"]

__dir__ = listing(__all__)
