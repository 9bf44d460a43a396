"""PettingZoo's own five tests."""

import warnings
from itertools import product
from unittest.mock import patch

import pytest
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, render_test, seed_test

import potentia as pt
from potentia.envs.setting import OBSERVATIONS, REWARDS
from tests.unit.envs.games_here import ALL

CYCLES = 12
# What PettingZoo warns of in all environments with masks, with players of different kinds, or at corners of maps.
EXPECTED = (
    "Observation is not a NumPy array",
    "Observation is a single number",
    "Observation numpy array is all zeros",
    "Observations are different shapes",
    "Observation space for each agent probably should be",
    "Agents have different observation space sizes",
)


def passes(game, folder, **options):
    """Every one of them, for one game and its options; each kind of picture of it."""

    def parallel(**more):
        return pt.envs.parallel_env(game, 9, compiled=False, **options, **more)

    def in_turn(**more):
        return pt.envs.aec_env(game, 9, compiled=False, **options, **more)

    with warnings.catch_warnings():
        for text in EXPECTED:
            warnings.filterwarnings("ignore", text)
        parallel_api_test(parallel(), CYCLES)
        parallel_seed_test(parallel, CYCLES)
        api_test(in_turn(), CYCLES)
        seed_test(in_turn, CYCLES)
        with patch("webbrowser.open"), patch("tempfile.mkdtemp", lambda prefix: folder):
            render_test(in_turn, {"html": lambda text: text.startswith("<!doctype html>")})


@pytest.mark.parametrize(
    ("name", "reward", "observation"),
    [
        ("normal_form", "marginal", "full"),  # unequal action sets
        ("constrained", "utility", "own"),  # masks
        ("congestion", "potential", "local"),
        ("walled", "marginal", "local"),
        ("eventful", "utility", "own"),
    ],
)
def test_official_tests(name, reward, observation, tmp_path):
    passes(ALL[name](), tmp_path, reward=reward, observation=observation)


def test_official_tests_of_moves():
    def made(**more):
        return pt.envs.parallel_env(ALL["bare"](), 9, actions="moves", compiled=False, **more)

    parallel_api_test(made(), CYCLES)
    parallel_seed_test(made, CYCLES)


@pytest.mark.long
@pytest.mark.parametrize(("name", "reward", "observation"), list(product(ALL, REWARDS, OBSERVATIONS)))
def test_official_tests_of_everything(name, reward, observation, tmp_path):
    game = ALL[name]()
    if reward == "potential" and not game.has_potential:
        with pytest.raises(pt.errors.InvalidRun, match="cannot be the potential: none is known"):
            pt.envs.parallel_env(game, reward=reward)
        return
    passes(game, tmp_path, reward=reward, observation=observation)
