"""What is said while something takes long, where nobody sees a bar."""

from __future__ import annotations

import pytest

from potentia.cli import terminal


@pytest.mark.parametrize(("seconds", "lines"), [(0.0, 9), (float("inf"), 0)])
def test_a_file_has_a_line_for_each_tenth_of_what_takes_long(seconds, lines, monkeypatch, capsys):
    monkeypatch.setattr(terminal, "_SHORT", seconds)
    with terminal.progress("covering", unit="runs") as tell:
        for done in range(0, 3001, 7):
            tell(done, 3000)
        tell(3000, 3000)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [f"covering: {10 * k} % of 3,000 runs" for k in range(1, 10)][:lines]


def test_few_steps_are_few_lines(monkeypatch, capsys):
    monkeypatch.setattr(terminal, "_SHORT", 0.0)
    with terminal.progress("covering") as tell:
        for done in (0, 1, 1, 2, 3):
            tell(done, 3)
    assert capsys.readouterr().err.splitlines() == ["covering: 30 % of 3 steps", "covering: 60 % of 3 steps"]
    with terminal.progress("covering", quiet=True) as tell:
        assert tell is None
