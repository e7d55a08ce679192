"""The mutants are what they say: one change each, in a guard that is there, and a module that can be loaded."""

from pathlib import Path

import pytest
from tests.levelcheck.corpus.mutants import GUARDS, MUTANTS, Mutant


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_a_mutant_changes_one_place_of_its_guard(mutant: Mutant) -> None:
    source = mutant.source()
    assert source != (GUARDS / mutant.guard / "fixed.py").read_text(encoding="utf-8")
    compile(source, f"{mutant.guard}/fixed.py", "exec")


def test_each_mutant_is_another_one() -> None:
    assert len({(mutant.guard, mutant.name) for mutant in MUTANTS}) == len({mutant.source() for mutant in MUTANTS}) == len(MUTANTS)


def test_each_mutant_says_what_is_wrong_and_what_shows_it() -> None:
    for mutant in MUTANTS:
        assert mutant.fault.endswith("."), mutant
        assert mutant.shown_by, mutant


def test_each_guard_has_mutants() -> None:
    assert {mutant.guard for mutant in MUTANTS} == {path.parent.name for path in GUARDS.glob("*/fixed.py")}


def test_a_mutant_is_written_beside_the_other_modules_of_its_guard(tmp_path: Path) -> None:
    mutant = next(mutant for mutant in MUTANTS if "memory" in mutant.new)
    package = mutant.write(tmp_path)
    assert (package / "fixed.py").read_text(encoding="utf-8") == mutant.source()
    assert (package / "memory.py").exists()
    with pytest.raises(FileExistsError):
        mutant.write(tmp_path)


def test_a_mutant_whose_place_is_gone_is_told_of() -> None:
    with pytest.raises(ValueError, match="0 times, and not once"):
        Mutant(guard="g09_prune", name="n", old="not in there at all", new="", fault="None.", shown_by=("F0",)).source()
