"""Packages show their public names, and load some of them on first use."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from potentia.kernel.loading import lazy, listing

PACKAGES = ("analysis", "beliefs", "engine", "extend", "figures", "games", "rules", "statistics", "studies", "testing")


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_lists_its_public_names_and_has_them(name):
    package = importlib.import_module(f"potentia.{name}")
    assert dir(package) == sorted(package.__all__)
    assert all(hasattr(package, each) for each in package.__all__)


def test_names_are_loaded_when_they_are_asked_for():
    get, names = lazy("potentia.kernel", {"loading": ("listing", "lazy")})
    assert get("lazy") is lazy
    assert get("listing") is listing
    assert names() == ["lazy", "listing"]
    with pytest.raises(AttributeError, match=r"module 'potentia\.kernel' has no attribute 'lasy'"):
        get("lasy")


def test_statistics_are_there_without_scipy():
    code = "import sys, potentia.statistics; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
