"""The laboratory from the command line."""

from __future__ import annotations

import json
import re

from tests.commands import potentia


def test_a_page_is_written_and_mistakes_are_told(tmp_path):
    page = tmp_path / "lab.html"
    done = potentia("laboratory", "stag-hunt", "--rule", "lll", "--tau", "0.5", "--set", "stag=5", "--out", page)
    assert done.stdout.replace("\n", "") == f"page: {page}"
    state = json.loads(re.search(r'id="state">(.*?)</script>', page.read_text("utf-8"))[1])
    assert state["payoffs"][0] == [[5, 0], [3, 3]]
    assert state["tau"] == 0.5
    page.unlink()
    for args, told in [
        (("ring",), "GAME must be of two players with two actions each"),
        (("stag-hunt", "--rule", "soql"), "--rule must be a point of who × considers × chooses"),
        (("stag-hunt", "--tau", "geometric:1:0.1"), "--tau must be a number"),
        (("stag-hunt", "--revision", "vanishing:4"), "--revision must be one number here"),
    ]:
        done = potentia("laboratory", *args, "--out", page)
        assert told in " ".join(done.stderr.split()), done.stderr
        assert not page.exists()
    assert "must end in .html" in potentia("laboratory", "--out", tmp_path / "lab.txt").stderr
    assert json.loads(potentia("laboratory", "--out", page, "--json").stdout) == {"page": str(page)}
