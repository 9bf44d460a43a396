"""What is played: one file per kind of game."""

from potentia.games.base import Game
from potentia.games.congestion import Congestion
from potentia.games.coordination import Coordination, consensus, ising, ring_edges, torus_edges
from potentia.games.coverage import Coverage
from potentia.games.formats.files import read_game, read_potential, write_game
from potentia.games.formats.maps import read_world, write_world
from potentia.games.library import game, game_parameters, register_game, registered_games
from potentia.games.moves import grid_moves, path_moves
from potentia.games.normal_form import NormalForm, random_potential_game
from potentia.games.own import Custom, custom
from potentia.games.separable import Separable
from potentia.games.world import Mixture, World, gaussian_world, paper_world, random_world
from potentia.kernel.loading import listing

__all__ = [
    "Congestion",
    "Coordination",
    "Coverage",
    "Custom",
    "Game",
    "Mixture",
    "NormalForm",
    "Separable",
    "World",
    "consensus",
    "custom",
    "game",
    "game_parameters",
    "gaussian_world",
    "grid_moves",
    "ising",
    "paper_world",
    "path_moves",
    "random_potential_game",
    "random_world",
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
