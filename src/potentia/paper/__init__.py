"""The reproduction: what the paper plays and claims, played again, judged and reported.

To add a claim, write one function in one file: a statement of the theory in the ``*_claims`` module that it belongs to,
a claim about what was played in ``case_claims`` or ``case_learner_claims``. Declare it there with what the paper says::

    @claim("blll", "Under BLLL the stable states are the maximisers", "theorem quoted in section 2.2")
    def blll(scale: Scale) -> Judged:
        kept = ...
        verdict = whether(kept == scale.games, "In all games", f"In {kept} games")
        return Judged({"games that keep it": share_of(kept, scale.games)}, *verdict)

In the case study it is ``@experiment``, the function is given the ``CaseStudy`` that was played, and ``Comparisons`` of
``case_words`` makes verdict, sentence and lines from the differences. The claim is then in the command's table,
in claims.json and on the page, in the order in which claims stand in their modules; its verdict goes into the list of
``tests/exact/test_theory_claims.py``. Only a new module is named once
more, in ``theory.MODULES``. ``report/story.toml`` says in which section of the page a claim is told, and how it goes on
after "it holds that"; what the page says of figures and tables is in ``report/texts.toml``.
"""
