"""What rules, schedules, revisions, choice maps and beliefs declare of their parameters is what they refuse."""

import dataclasses
import inspect
import json

import attrs
import pytest

import potentia as pt
from potentia.beliefs import Communication
from potentia.errors import InvalidInput
from potentia.kernel.checks import Check
from potentia.rules import (
    Diminishing,
    Geometric,
    Groups,
    Logarithmic,
    Piecewise,
    Relative,
    SignalRevision,
    Vanishing,
    penalties,
    schedules,
)
from potentia.rules.chooses import Best, Better, Logit, Metropolis, Mistakes
from potentia.rules.considers import Everything, JointTrial, Trial
from potentia.rules.who import Everybody, Independent, InGroups, One

CLASSES = [
    *pt.rules.registered().values(),
    *pt.beliefs.registered().values(),
    *(schedules.Constant, Geometric, Logarithmic, Piecewise, Relative),
    *(Diminishing, Groups, SignalRevision, Vanishing, Communication),
    *(One, Independent, InGroups, Everybody, Everything, Trial, JointTrial),
    *(Best, Better, Logit, Metropolis, Mistakes),
    *(penalties.Burg, penalties.Gibbs, penalties.Tsallis),
]
GIVEN = {"tau": 0.1, "revision": 0.3, "start": 1.0, "stop": 0.1, "points": [(0, 1.0)], "schedule": 0.1, "m": 1.0}
GIVEN |= {"groups": [((0,), 1.0)], "memory": 3, "sample": 2, "who": "one", "considers": "trial", "chooses": "best"}


def good(cls):
    needed = [f.name for f in attrs.fields(cls) if f.default is attrs.NOTHING]
    assert set(needed) <= set(GIVEN), f"{cls.__name__}: add a good value of {needed} to GIVEN"
    return {name: GIVEN[name] for name in needed}


def check_of(field):
    """The check behind a validator, also where None may stand."""
    return getattr(field.validator, "validator", field.validator)


DECLARED = [
    pytest.param(cls, field, value, id=f"{cls.__name__}.{field.name}-{value!r:.20}")
    for cls in CLASSES
    for field in attrs.fields(cls)
    if isinstance(check_of(field), Check)
    for value in check_of(field).refused()
    if not (value is None and field.default is None)
]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_all_are_declared(cls):
    """Frozen, equal by value, hashable, each parameter checked or converted, shown in the signature."""
    one = cls(**good(cls))
    assert one == cls(**good(cls))
    assert hash(one) == hash(cls(**good(cls)))
    fields = attrs.fields(cls)
    assert all(field.validator is not None or field.converter is not None for field in fields)
    assert list(inspect.signature(cls).parameters) == [f.name for f in sorted(fields, key=lambda f: f.kw_only)]
    if fields:
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            setattr(one, fields[0].name, 1.0)


@pytest.mark.parametrize(("cls", "field", "value"), DECLARED)
def test_what_is_declared_is_refused(cls, field, value):
    with pytest.raises(InvalidInput) as caught:
        cls(**good(cls) | {field.name: value})
    assert isinstance(caught.value, cls.invalid)
    assert caught.value.parameter == field.name
    assert repr(caught.value.value) == repr(value) or value in (caught.value.value, 10**400)
    assert str(caught.value).startswith(f"{field.name} must be ")
    assert "got " in str(caught.value)


def test_dataclasses_replaces_and_lists_parameters():
    rule = pt.rule("soql", vartheta=0.25)
    assert dataclasses.replace(rule, vartheta=0.5) == pt.rule("soql", vartheta=0.5)
    assert [field.name for field in dataclasses.fields(rule)] == [field.name for field in attrs.fields(type(rule))]
    belief = pt.belief("split-merge", noise=0.1)
    assert dataclasses.replace(belief, most=3) == pt.belief("split-merge", noise=0.1, most=3)
    with pytest.raises(InvalidInput, match="noise must be"):
        dataclasses.replace(belief, noise=-1.0)
    assert dataclasses.asdict(pt.rule("lll", tau=0.1)) == {"tau": {"tau": 0.1}}
    assert dataclasses.replace(Geometric(1.0, 0.1), stop=0.5) == Geometric(1.0, 0.5)

    @dataclasses.dataclass(frozen=True)
    class Slower(Vanishing):
        z: float = 0.0

    assert (Slower(2).m, Slower(2, 1.0).z) == (2.0, 1.0)
    with pytest.raises(InvalidInput, match="m must be a finite number > 0"):
        Slower(-1)


def test_dataclasses_of_the_old_docs_are_rules():
    """Frozen dataclasses as the docs of 0.1 had them, built by name and described, and one that extends ours."""
    from potentia.rules.base import rule_from

    @dataclasses.dataclass(frozen=True)
    class Old(pt.extend.Rule):
        name = "old"
        summary = "as before"
        tau: float = 0.5
        words: tuple = ("a", 1.0)

        def data(self, game, horizon):
            raise NotImplementedError

        def new_memory(self, game):
            raise NotImplementedError

    @dataclasses.dataclass(frozen=True)
    class Extended(pt.rules.LLL):
        name = "extended"
        bonus: float = 1.0

    @attrs.frozen
    class Bare(pt.extend.Rule):  # without a summary
        name = "bare"

        def data(self, game, horizon):
            raise NotImplementedError

    known = pt.rules.registered()
    try:
        pt.rules.register(Old)
        pt.rules.register(Extended)
        pt.rules.register(Bare)
        assert "bare()" in pt.rule.__doc__
        one = pt.rule("extended", tau=1, bonus=2.0)
        assert one.spec() == {"rule": "extended", "tau": 1.0, "bonus": 2.0}
        assert dataclasses.replace(one, tau=0.5) == Extended(0.5, 2.0)
        assert pt.run(pt.game("ring"), one, 10).final.size == 100
        with pytest.raises(InvalidInput, match="tau must be finite and > 0"):
            Extended(-1.0)
        assert pt.rule("old").spec() == {"rule": "old", "tau": 0.5, "words": ["a", 1.0]}
        assert rule_from({"rule": "old", "tau": 0.1}) == Old(0.1)
        assert repr(Old(0.1)) == "test_dataclasses_of_the_old_docs_are_rules.<locals>.Old(tau=0.1, words=('a', 1.0))"
        with pytest.raises(InvalidInput, match=r"old has no parameter 'x' \(it has tau, words\)"):
            pt.rule("old", x=1)
    finally:
        from potentia.rules.base import _registry

        _registry._known = known


@pytest.mark.parametrize("cls", [*pt.rules.registered().values(), *pt.beliefs.registered().values()])
def test_plain_data_has_an_inverse(cls):
    one = cls(**good(cls))
    again = cls.from_spec(json.loads(json.dumps(one.spec())))
    assert again == one
    assert again.describe() == one.describe()
