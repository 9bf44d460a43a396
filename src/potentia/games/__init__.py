"""What is played: one file per kind of game.

To add a named game of a kind that exists, write a function with a default for each parameter in ``library.py``, under
``@register_game("name", players=Integer(least=3))``: the command line, specifications and ``pt.game`` know it then.

To add a kind, write one file: a NamedTuple of frozen arrays that kernels read (with ``sizes`` and ``moves``), a
NamedTuple of a run's state (with ``profile``), a :class:`Game` that checks what it is given (``given.py`` and
:mod:`potentia.kernel.checks`), calls ``_seal`` and makes both, and ``@protocol.utility.register(Data)``; the other
functions of :mod:`potentia.kernel.protocol` where their defaults are wrong or slow. Name the class below, and let
``potentia.testing.check_game`` check it.
"""

from potentia.games.base import Game
from potentia.games.congestion import Congestion
from potentia.games.coordination import Coordination, consensus, ising, ring_edges, torus_edges
from potentia.games.coverage import Coverage
from potentia.games.drift_kinds import Flow, Frames, Shift
from potentia.games.formats.files import read_game, read_potential, write_game
from potentia.games.formats.map_frames import read_flow, read_frames
from potentia.games.formats.maps import read_world, write_world
from potentia.games.formats.peers import convert, from_gambit, from_nashpy, from_open_spiel, from_quantecon
from potentia.games.library import game, game_parameters, register_game, registered_games
from potentia.games.moves import grid_moves, path_moves
from potentia.games.normal_form import NormalForm, random_potential_game
from potentia.games.own import Custom, custom
from potentia.games.random_worlds import random_world
from potentia.games.separable import Separable
from potentia.games.world import Mixture, World, gaussian_world, paper_world
from potentia.kernel.loading import listing

__all__ = [
    "Congestion",
    "Coordination",
    "Coverage",
    "Custom",
    "Flow",
    "Frames",
    "Game",
    "Mixture",
    "NormalForm",
    "Separable",
    "Shift",
    "World",
    "consensus",
    "convert",
    "custom",
    "from_gambit",
    "from_nashpy",
    "from_open_spiel",
    "from_quantecon",
    "game",
    "game_parameters",
    "gaussian_world",
    "grid_moves",
    "ising",
    "paper_world",
    "path_moves",
    "random_potential_game",
    "random_world",
    "read_flow",
    "read_frames",
    "read_game",
    "read_potential",
    "read_world",
    "register_game",
    "registered_games",
    "ring_edges",
    "torus_edges",
    "write_game",
    "write_world",
]

__dir__ = listing(__all__)
