"""The same game as a table of payoffs, and as a game of another library: what every game can be asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from potentia.games.normal_form import NormalForm


class Elsewhere:
    """A game that can be handed on."""

    def to_normal_form(self) -> NormalForm:
        """The same game as a table of payoffs.

        Returns
        -------
        NormalForm
            With the same moves, names, title and potential, where these are known. What it would record and draw beside
            them stays behind.

        Raises
        ------
        TooLarge
            Where the payoffs of all profiles do not fit into memory.
        InvalidGame
            Where more than the profile decides what happens, as with flags, events, drift or a cost of moving.

        Examples
        --------
        >>> import potentia as pt
        >>> pt.games.consensus(pt.games.ring_edges(3)).to_normal_form()
        NormalForm(players=3, actions=2)
        """
        from potentia.games.formats.tables import tabulated

        return tabulated(self)  # type: ignore[arg-type]

    def to_gambit(self) -> Any:
        """The same game as a ``pygambit.Game``, payoffs exactly; constrained moves stay behind, with a warning.

        Returns
        -------
        pygambit.Game
            In strategic form.

        Raises
        ------
        InvalidGame
            Where pygambit is not installed, or as :meth:`to_normal_form`.

        Examples
        --------
        >>> import potentia as pt
        >>> pt.games.game("stag-hunt").to_gambit()  # doctest: +SKIP
        Game(title='stag-hunt(stag=4.0, hare=3.0)')
        """
        from potentia.games.formats.peers import to_gambit

        return to_gambit(self)  # type: ignore[arg-type]

    def to_quantecon(self) -> Any:
        """The same game as a QuantEcon ``NormalFormGame``; names and constrained moves stay behind.

        Returns
        -------
        quantecon.game_theory.NormalFormGame
            The game there.

        Raises
        ------
        InvalidGame
            Where QuantEcon is not installed, or as :meth:`to_normal_form`.

        Examples
        --------
        >>> import potentia as pt
        >>> print(pt.games.game("matching-pennies").to_quantecon())  # doctest: +SKIP
        2-player NormalFormGame with payoff profile array:
        [[[ 1., -1.],  [-1.,  1.]],
         [[-1.,  1.],  [ 1., -1.]]]
        """
        from potentia.games.formats.peers import to_quantecon

        return to_quantecon(self)  # type: ignore[arg-type]

    def to_nashpy(self) -> Any:
        """The same game of two players as a ``nashpy.Game``; names and constrained moves stay behind.

        Returns
        -------
        nashpy.Game
            The game there.

        Raises
        ------
        InvalidGame
            Where nashpy is not installed, for more or fewer than two players, or as :meth:`to_normal_form`.

        Examples
        --------
        >>> import potentia as pt
        >>> pt.games.game("matching-pennies").to_nashpy().zero_sum  # doctest: +SKIP
        True
        """
        from potentia.games.formats.peers import to_nashpy

        return to_nashpy(self)  # type: ignore[arg-type]

    def to_open_spiel(self) -> Any:
        """The same game as a matrix or tensor game of OpenSpiel, with the names of its actions.

        Returns
        -------
        pyspiel.MatrixGame or pyspiel.TensorGame
            The game there.

        Raises
        ------
        InvalidGame
            Where OpenSpiel is not installed, or as :meth:`to_normal_form`.

        Examples
        --------
        >>> import potentia as pt
        >>> pt.games.game("matching-pennies").to_open_spiel().num_players()  # doctest: +SKIP
        2
        """
        from potentia.games.formats.peers import to_open_spiel

        return to_open_spiel(self)  # type: ignore[arg-type]
