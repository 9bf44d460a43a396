"""The tests pass wherever they are started: what they find around them is what they brought."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

from tests.surroundings import ROOT

LOOK = """
import json, locale, os, signal, subprocess, sys
def look():
    child = "import signal; print(*(signal.getsignal(n) is not signal.SIG_IGN for n in (2, 15)))"
    masked = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    umask = os.umask(0)
    os.umask(umask)
    names = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "NUMBA_DISABLE_JIT", "POTENTIA_CACHE_DIR", "PYTHONPATH", "LANG")
    return {
        "heard": subprocess.check_output([sys.executable, "-c", child], text=True).strip(),
        "masked": len(masked),
        "umask": umask,
        "there": [name for name in names if name in os.environ],
        "home": os.access(os.environ.get("HOME", ""), os.W_OK),
        "encoding": locale.getencoding().upper(),
    }
"""
HOSTILE = """
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_SETMASK, [signal.SIGINT])
os.umask(0o077)
before = look()
from tests.surroundings import settle
settle()
print(json.dumps([before, look()]))
"""
SETTLED = {"heard": "True True", "masked": 0, "umask": 0o022, "there": [], "home": True, "encoding": "UTF-8"}


def look():
    found = {}
    exec(LOOK, found)
    return found["look"]()


def test_nothing_is_inherited():
    """Also with a home that is not there, a terminal that is none and letters of seven bits."""
    strange = {
        "NO_COLOR": "1",
        "FORCE_COLOR": "1",
        "COLUMNS": "13",
        "NUMBA_DISABLE_JIT": "1",
        "LANG": "xx",
        "TERM": "?",
    }
    strange |= {"POTENTIA_CACHE_DIR": "/nowhere", "PYTHONPATH": str(ROOT), "HOME": "/nowhere", "LC_ALL": "POSIX"}
    strange |= {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PATH": os.environ["PATH"]}
    done = subprocess.run(
        [sys.executable, "-c", LOOK + HOSTILE], env=strange, cwd=ROOT, capture_output=True, text=True, check=True
    )
    before, after = json.loads(done.stdout)
    assert before.pop("encoding") != "UTF-8"  # what is looked at tells the difference
    assert len(before.pop("there")) == 7
    assert before == {"heard": "False False", "masked": 1, "umask": 0o077, "home": False}
    assert after == SETTLED


def test_these_tests_have_them_too(request):
    """In every worker."""
    plain = ["NUMBA_DISABLE_JIT"] if request.config.getoption("--plain") else []
    assert look() == SETTLED | {"there": plain}
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
