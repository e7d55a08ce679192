"""One run: what each fault does, and that nothing happens which a real cluster could not do."""

import subprocess
import sys
from itertools import pairwise

import msgspec
import pytest
from tests.levelcheck.boxes import box, workload

from setpoint.levelcheck import Workload, advance, apply, delete, patch, recreate, wait
from setpoint.levelcheck.check import case_of, programs
from setpoint.levelcheck.oracles.hot_loop import hot_loops
from setpoint.levelcheck.plan import Decision, Plan, Site
from setpoint.levelcheck.recording import Changed, Delivered, Died, Key, RunBegan, RunEnded, Started, Wrote
from setpoint.levelcheck.run.execution import Execution
from setpoint.levelcheck.search.explore import Explorer
from setpoint.levelcheck.search.single import singles
from setpoint.levelcheck.search.variants import variant
from setpoint.levelcheck.search.worker import in_worker

TARGET = "tests.levelcheck.boxes:controller"
BOXES = "boxes.tests.example.com"
BOX, CONFIG = Key(BOXES, "default", "a"), Key("configmaps", "default", "a")
RUN = "box default/a"


def recorded(*plans, steps=workload, **declared):
    """The recordings of plans, made in a process of their own."""
    case = case_of(TARGET, steps, **declared)

    def work(heard):
        with programs(case) as loaders:
            prepared = Execution(case, Plan(), steps, loaders)
            prepared.begin()
            explorer = Explorer(case, loaders, lambda plan, site: (), lambda recording: recording, prepared=prepared)
            return [explorer.explore(plan, variant(steps, plan.variant))[0].result for plan in plans]

    return in_worker(work, lambda *heard: None)


def of(recording, *sorts):
    return [moment for moment in recording.moments if isinstance(moment, sorts)]


def write(what, nth=1):
    return Site("write", RUN, what, nth)


APPLY = "apply configmaps default/a"
STATUS = f"patch {BOXES} default/a (status)"


@pytest.fixture(scope="module")
def reference():
    return recorded(Plan())[0]


def test_the_run_without_faults_ends_at_rest_with_what_was_wanted(reference):
    assert (reference.end, reference.why, reference.unused) == ("rest", "", ())
    assert reference.objects[CONFIG]["data"] == {"size": "2"}
    assert reference.objects[BOX]["status"] == {"size": 2}
    assert [str(wrote.site) for wrote in reference.writes if wrote.revision] == [
        f"write:{RUN}:{what}#{nth}" for nth in (1, 2) for what in (APPLY, STATUS)
    ]
    assert {wrote.line for wrote in reference.writes} <= {"boxes.py:35", "boxes.py:37"}
    assert reference.primaries == {"box": BOXES}
    assert set(reference.watched) == {BOXES, "configmaps"}


def test_a_crash_after_a_write_is_a_new_process_that_remembers_nothing_and_mends_it(reference):
    [run] = recorded(Plan((Decision("F1", write(APPLY), "after", 1.0),)))
    died, started = of(run, Died), of(run, Started)
    assert [moment.process for moment in died] == ["p1"]
    assert [moment.process for moment in started] == ["p1", "p2"]
    assert started[1].at - died[0].at == pytest.approx(1.0)
    wrote = next(moment for moment in run.writes if moment.process == "p1")
    assert (wrote.code, wrote.fault, wrote.effective) == (201, "F1", True)
    assert not any(moment.at > died[0].at and moment.process == "p1" for moment in run.moments if not isinstance(moment, Changed))
    assert run.objects[BOX]["status"] == {"size": 2}


def test_a_crash_before_a_write_leaves_nothing_of_it():
    [run] = recorded(Plan((Decision("F1", write(APPLY), "before", 1.0),)))
    died = of(run, Died)[0]
    assert not any(moment.key == CONFIG and moment.at <= died.at for moment in of(run, Changed))
    assert run.objects[CONFIG]["data"] == {"size": "2"}


def test_a_failed_write_changes_nothing_and_is_tried_again():
    run, stubborn = recorded(Plan((Decision("F2", write(APPLY), "500"),)), Plan((Decision("F2", write(APPLY), "503", times=4),)))
    first, second = (wrote for wrote in run.writes[:2])
    assert (first.code, first.revision, first.fault) == (500, 0, "F2")
    assert (second.code, second.fault) == (201, "")
    assert [wrote.code for wrote in stubborn.writes[:5]] == [503, 503, 503, 503, 201]
    assert run.objects[BOX]["status"] == stubborn.objects[BOX]["status"] == {"size": 2}


def test_a_lost_reply_is_a_write_that_landed_and_looks_failed():
    [run] = recorded(Plan((Decision("F3", write(APPLY)),)))
    wrote = run.writes[0]
    assert (wrote.code, wrote.revision > 0, wrote.fault) == (201, True, "F3")
    assert "OutcomeUnknown" in of(run, RunEnded)[0].error
    assert run.objects[BOX]["status"] == {"size": 2}


def test_a_conflict_is_a_foreign_change_just_before():
    [run] = recorded(Plan((Decision("F4", write(STATUS, 2)),)))
    conflicted = next(wrote for wrote in run.writes if wrote.site == write(STATUS, 2))
    assert (conflicted.code, conflicted.reason) == (409, "Conflict")
    assert run.objects[BOX]["status"] == {"size": 2}


def test_a_late_watch_brings_everything_later_and_in_order(reference):
    event = Site("event", "", str(BOX), 1)
    late, at_rest = recorded(Plan((Decision("F5", event, "run"),)), Plan((Decision("F5", event, "rest"),)))
    for run in (late, at_rest):
        assert run.unused == ()
        assert run.objects[BOX]["status"] == {"size": 2}
    assert of(at_rest, RunBegan)[0].at > of(reference, RunBegan)[0].at + 20


def test_an_overwritten_state_is_never_seen_by_a_run():
    [run] = recorded(Plan((Decision("F8", Site("event", "", str(BOX), 1), "overwritten"),)))
    assert all(change.after.count(b'"size":"2"') for change in of(run, Changed) if change.key == CONFIG)
    assert run.objects[BOX]["status"] == {"size": 2}


def test_a_watch_that_breaks_and_has_expired_is_listed_anew():
    event = Site("event", "", str(CONFIG), 1)
    expired, resumed, gap = recorded(*(Plan((Decision("F9", event, how),)) for how in ("expired", "resumed", "gap")))
    for run in (expired, resumed, gap):
        assert run.unused == ()
        assert run.objects[BOX]["status"] == {"size": 2}
    assert any(moment.type == "SYNC" and moment.key == CONFIG for moment in of(expired, Delivered))
    assert not any(moment.type == "SYNC" and moment.key == CONFIG for moment in of(resumed, Delivered))


def test_a_silent_watch_is_given_up_and_nothing_is_missed():
    [run] = recorded(Plan((Decision("F9", Site("event", "", str(BOX), 2), "silent"),)))
    assert run.unused == ()
    delivered = [moment.at for moment in of(run, Delivered) if moment.key == BOX]
    made = next(moment.at for moment in of(run, Changed) if moment.key == BOX and moment.process == "p1")
    assert min(at for at in delivered if at > made) > made + 80
    assert run.objects[BOX]["status"] == {"size": 2}


def test_what_is_late_comes_before_a_process_can_act_on_it_for_ever():
    gone = Workload.of(apply(box(1)), wait(), delete(box(1)), wait())
    late, broken = recorded(
        *(Plan((Decision(fault, Site("event", "", str(BOX), 3), how),)) for fault, how in (("F5", "rest"), ("F9", "expired"))), steps=gone
    )
    for run in (late, broken):
        assert (run.end, run.unused) == ("rest", ())
        assert BOX not in run.objects
        assert CONFIG not in run.objects
        assert hot_loops(run) == []
    assert len([wrote for wrote in late.writes if wrote.at > late.last_step]) <= 10


def test_without_its_controllers_the_cluster_collects_no_garbage():
    gone = Workload.of(apply(box(1)), wait(), delete(box(1)), wait())
    alone, whole = (recorded(Plan(), steps=gone, cluster_controllers=has)[0] for has in (False, True))
    assert (CONFIG in alone.objects, CONFIG in whole.objects) == (True, False)


def test_the_process_is_down_while_the_user_does_something():
    step = Site("step", "user", "apply Box default/a", 2)
    at_rest, soon = recorded(Plan((Decision("F13", step, "rest"),)), Plan((Decision("F13", step, "soon"),)))
    for run in (at_rest, soon):
        change = next(m for m in of(run, Changed) if m.key == BOX and m.process == "user" and m.before is not None)
        assert of(run, Died)[0].at <= change.at <= of(run, Started)[1].at
        assert run.objects[CONFIG]["data"] == {"size": "2"}


def test_a_crash_that_lasts_over_a_step():
    [run] = recorded(Plan((Decision("F1", write(APPLY), "down"),)))
    assert of(run, Started)[1].at > of(run, Changed)[-1].at or len(of(run, Started)) == 2
    assert run.objects[BOX]["status"] == {"size": 2}


def test_somebody_deletes_a_child_at_rest_and_it_is_made_again():
    [run] = recorded(Plan((Decision("F19", Site("rest", "", "", 1), "delete", object=str(CONFIG)),)))
    assert any(moment.deleted and moment.process == "somebody" for moment in of(run, Changed))
    assert run.objects[CONFIG]["data"] == {"size": "2"}


def test_a_foreign_finalizer_is_put_on_what_the_user_deletes():
    steps = Workload.of(apply(box(1)), wait(), delete(box(1)), wait())
    [run] = recorded(Plan((Decision("F18", Site("step", "user", "delete Box default/a"), "finalizer", object=str(BOX)),)), steps=steps)
    assert run.violated == ()
    assert BOX not in run.objects
    assert CONFIG not in run.objects


def test_runs_are_repeated():
    once, every = recorded(
        Plan((Decision("F11", Site("run", "box", "default/a", 1), "again"),)), Plan((Decision("F11", Site("start"), "every"),))
    )
    assert len(of(once, RunBegan)) > 0
    assert len(of(every, RunBegan)) > len(of(once, RunBegan))
    assert every.objects[BOX]["status"] == {"size": 2}


def test_a_place_that_never_comes_is_said():
    [run] = recorded(Plan((Decision("F1", write(APPLY, 99), "after", 1.0),)))
    assert run.unused == (f"F1 after at write:{RUN}:{APPLY}#99 seconds=1.0",)


def test_the_other_steps_of_a_user():
    steps = Workload.of(
        apply(box(1)), wait(), patch(box(1), {"spec": {"size": 5}}), advance(10), recreate(box(7)), wait(), delete(box(7)), wait()
    )
    [run] = recorded(Plan(), steps=steps)
    assert [change.deleted for change in of(run, Changed) if change.key == BOX].count(True) == 2
    assert BOX not in run.objects


@pytest.mark.parametrize("seed", range(6))
def test_a_cache_never_goes_back_while_its_process_lives(seed, reference):
    """Soundness: what a process is delivered of one resource is in the order of the server's history, under any fault."""
    case = case_of(TARGET, workload)
    chosen = singles(case, reference).decisions[seed::6][:12]
    for run in recorded(*(Plan((decision,), seed=seed) for decision in chosen)):
        by_stream = {}
        for moment in of(run, Delivered):
            if moment.revision and moment.type != "SYNC":
                by_stream.setdefault((moment.process, moment.key.resource), []).append(moment.revision)
        for revisions in by_stream.values():
            assert all(before <= after for before, after in pairwise(revisions))
        assert run.objects[BOX]["status"] == {"size": 2}


def test_equal_plans_give_equal_runs_under_every_hash_seed():
    program = "import sys; sys.path.insert(0, '.'); from tests.levelcheck.test_run import told; told()"
    told = {
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed, "PATH": ""}
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(told) == 1
    assert len(next(iter(told)).split()) == 3


def told():
    """For the test above."""
    plans = [Plan(), Plan((Decision("F1", write(APPLY), "after", 1.0),)), Plan((Decision("F3", write(STATUS)),), seed=4)]
    print(" ".join(run.digest for run in recorded(*plans)))


def test_a_process_that_dies_after_the_users_last_step_comes_back_without_another_one(reference):
    last = [wrote.site for wrote in reference.writes if wrote.revision][-1]
    [recording] = recorded(Plan((Decision("F1", last, "down"),)))
    assert (recording.end, recording.why) == ("rest", "")
    assert recording.objects[CONFIG]["data"] == {"size": "2"}


def test_several_failures_in_a_row_are_tried_at_each_place_that_writes(reference):
    """Also where the first write there changed nothing."""
    idle = msgspec.structs.replace(next(wrote for wrote in reference.writes if wrote.revision), revision=0, effective=False)
    at = next(place for place, moment in enumerate(reference.moments) if isinstance(moment, Wrote))
    changed = msgspec.structs.replace(reference, moments=[*reference.moments[:at], idle, *reference.moments[at:]])
    tried = [each.site.what for each in singles(case_of(TARGET, workload), changed).decisions if each.how == "503"]
    assert sorted(tried) == sorted([APPLY, STATUS])
