"""The observer: who hears what, and in which order."""

from __future__ import annotations

from setpoint.world import Event, Observer


class Rained(Event, frozen=True, kw_only=True):
    pass


class Snowed(Event, frozen=True, kw_only=True):
    pass


def test_a_listener_hears_the_sorts_that_it_asked_for_and_one_that_named_none_hears_all() -> None:
    observer, rain, all_ = Observer(), [], []
    observer.subscribe(rain.append, [Rained])
    observer.subscribe(all_.append)
    for event in (Rained(), Snowed()):
        observer.emit(event)
    assert (rain, all_) == ([Rained()], [Rained(), Snowed()])


def test_who_subscribes_or_leaves_after_the_first_event_of_a_sort_does_so_for_the_next() -> None:
    observer, heard = Observer(), []
    observer.emit(Rained())
    leave = observer.subscribe(heard.append)
    observer.emit(Rained())
    leave()
    observer.emit(Rained())
    assert heard == [Rained()]
    assert not observer.heard


def test_what_one_observer_hears_within_another_that_one_hears_first_whenever_it_is_listened_to() -> None:
    outermost, heard = Observer(), []
    inner = Observer(within=Observer(within=outermost))
    inner.subscribe(lambda event: heard.append("inner"))
    inner.emit(Rained())
    outermost.subscribe(lambda event: heard.append("outermost"))
    inner.emit(Rained())
    assert heard == ["inner", "outermost", "inner"]


def test_an_observer_is_heard_where_only_the_one_around_it_is() -> None:
    outer = Observer()
    inner = Observer(within=outer)
    assert not inner.heard
    outer.subscribe(lambda event: None)
    assert inner.heard


def test_it_knows_which_events_anybody_hears_also_where_it_stands_within_another():
    class Heard(Event, frozen=True):
        pass

    class Unheard(Event, frozen=True):
        pass

    outer = Observer()
    inner = Observer(within=outer)
    assert not inner.hears(Heard)
    end = outer.subscribe(lambda event: None, [Heard])
    assert inner.hears(Heard)
    assert not inner.hears(Unheard)
    end()
    assert not inner.hears(Heard)
    inner.subscribe(lambda event: None)
    assert inner.hears(Unheard)
    assert not outer.hears(Unheard)
