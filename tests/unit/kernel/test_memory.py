"""What counts as free memory: the machine's, that of control groups and the limits of the process."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import psutil
import pytest

from potentia.kernel import memory

MACHINE = 8_000_000_000


@pytest.fixture(autouse=True)
def _machine(monkeypatch):
    """8 GB free, and no limit on this process."""
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=MACHINE))
    monkeypatch.setattr(memory, "_left_of_limits", lambda: iter(()))


def _group(folder, **files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name.replace("memory_", "memory.")).write_text(f"{content}\n")


def _in_groups(root, text):
    (root / "proc" / "self").mkdir(parents=True)
    (root / "proc" / "self" / "cgroup").write_text(text)
    return root / "sys" / "fs" / "cgroup"


def test_without_control_groups_the_machine_counts(tmp_path):
    assert memory.available(tmp_path) == MACHINE


def test_every_group_up_to_the_root_counts(tmp_path):
    mount = _in_groups(tmp_path, "0::/user/job\n")
    _group(mount / "user" / "job", memory_max="max", memory_high="max", memory_current=10**6)
    assert memory.available(tmp_path) == MACHINE
    _group(mount / "user", memory_max=3 * 10**9, memory_current=10**9)
    assert memory.available(tmp_path) == 2 * 10**9
    _group(mount / "user" / "job", memory_max=500 * 10**6, memory_current=100 * 10**6)
    assert memory.available(tmp_path) == 400 * 10**6
    _group(mount / "user" / "job", memory_high=300 * 10**6)
    assert memory.available(tmp_path) == 200 * 10**6
    _group(mount / "user" / "job", memory_stat="anon 1\ninactive_file 50000000\nactive_file 7")
    assert memory.available(tmp_path) == 250 * 10**6, "files that the kernel can drop are as good as free"
    _group(mount / "user" / "job", memory_current=400 * 10**6)
    assert memory.available(tmp_path) == 0


def test_groups_of_the_first_version_count(tmp_path):
    mount = _in_groups(tmp_path, "7:pids:/job\n4:cpu,memory:/job\n0::/\n")
    _group(mount / "memory", memory_limit_in_bytes=2**63 - 4096, memory_usage_in_bytes=5 * 10**9)
    _group(mount / "memory" / "job", memory_limit_in_bytes=10**9, memory_usage_in_bytes=4 * 10**8)
    assert memory.available(tmp_path) == 6 * 10**8
    _group(mount / "memory" / "job", memory_stat="inactive_file 1\ntotal_inactive_file 100000000")
    assert memory.available(tmp_path) == 7 * 10**8


@pytest.mark.parametrize("path", ["/host/path/that/is/not/here", "/../../elsewhere", "/"])
def test_in_a_container_the_root_of_what_is_mounted_counts(tmp_path, path):
    mount = _in_groups(tmp_path, f"0::{path}\n")
    _group(mount, memory_max=10**9, memory_current=10**8)
    assert memory.available(tmp_path) == 9 * 10**8


@pytest.mark.parametrize("text", ["", "nonsense", "0::", "0", "4:memory", ":::\n\n\0", "0::/\xff"])
@pytest.mark.parametrize("content", ["", "words", "-", "1 2"])
def test_what_cannot_be_understood_is_no_limit(tmp_path, text, content):
    mount = _in_groups(tmp_path, text)
    _group(mount, memory_max=content, memory_current=content, memory_stat=content)
    _group(mount / "memory", memory_limit_in_bytes=content, memory_usage_in_bytes=1)
    assert memory.available(tmp_path) == MACHINE


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not keep such limits")
@pytest.mark.parametrize("limit", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_limits_of_the_process_count(limit):
    script = (
        "import psutil, resource\n"
        "from potentia.kernel import memory\n"
        f"resource.setrlimit(resource.{limit}, (10**9, 10**9))\n"
        "print(memory.available())\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert 10**8 < int(done.stdout) < 10**9
