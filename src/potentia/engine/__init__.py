"""The engine: runs, batches, records and saved states."""

from potentia.engine.run import RECORDERS, Run, advance, begin, run
from potentia.engine.trace import Trace

__all__ = ["RECORDERS", "Run", "Trace", "advance", "begin", "run"]
