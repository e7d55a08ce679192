"""Decisions and workloads of a plan in words: what goes wrong, said to somebody who has not read how plans are written."""

from __future__ import annotations

from setpoint.levelcheck.plan import Decision, Plan, Site


def decision_in_words(decision: Decision) -> str:
    """What goes wrong, in a sentence without an end."""
    site, how = decision.site, decision.how
    where, what, named = place_in_words(site), _whose(site.what), _whose(decision.object.partition("|")[0])
    back = f", and is back {decision.seconds:g} s later" if decision.seconds > 1 else ""
    match decision.fault:
        case "F1":
            return f"the process dies just {how or 'after'} {where}{back}" if site.where != "rest" else f"the process dies {where}{back}"
        case "F2":
            times = f", {decision.times} times" if decision.times > 1 else ""
            return f"the server answers {how} to {where}{times}"
        case "F3":
            return f"{where} is done, but the reply is lost"
        case "F4":
            return f"somebody else changes the object just before {where}"
        case "F5":
            until = "until nothing else happens" if how == "rest" else "until the next run that reads it has ended"
            return f"the news of {what} is late, {until}"
        case "F6":
            older = f" from before {named} changed" if decision.object else ""
            dies = where if site.where == "rest" else f"just after {where}"
            return f"the process dies {dies}; the next one gets an old list of {decision.resource}{older}"
        case "F7":
            return f"the news of {what} is late, until that of another kind has come"
        case "F8":
            return f"the news of {what} does not come before its next change"
        case "F9" if how == "silent":
            return f"the watch falls silent before the news of {what}, and looks open still"
        case "F9":
            return f"the watch breaks before the news of {what}, and {'is resumed' if how == 'resumed' else 'everything is listed anew'}"
        case "F11":
            return "every run is done twice" if site.where == "start" else f"{what} is run once more, though nothing has changed"
        case "F12":
            return f"the process dies while a timer for {what} waits{back}"
        case "F13":
            return (
                f"the process is down while the user does this, and comes back {'when all is at rest' if how == 'rest' else 'soon after'}"
            )
        case "F14":
            return f"the user makes the same name anew ({how or what})"
        case "F15":
            return f"{where} is under way while another process becomes the leader, and lands after that"
        case "F16":
            return f"the first list of {decision.resource} comes empty, and the rest of it late"
        case "F17":
            way = "ahead" if decision.seconds > 0 else "behind"
            since = "" if site.where == "start" else f", from {where} on"
            return f"the controller's clock is {abs(decision.seconds):g} s {way}{since}"
        case "F18" if how == "finalizer":
            return f"somebody else has a finalizer on {named}"
        case "F18":
            return f"the user deletes {named or 'the object of the run'} just before {where}"
        case "F19":
            done = {"delete": "deletes", "spec": "changes"}.get(how, how)
            when = where if site.where == "rest" else f"just before {where}"
            return f"somebody else {done} {named or 'it'} {when}"
        case "F20":
            return f"the call {what} {'happens, but looks failed' if how == 'lost' else 'fails'}"
        case "F22":
            return "lists come in another order"
    return str(decision)


def place_in_words(site: Site) -> str:
    """A place, in words."""
    match site.where:
        case "write" | "effect":
            return f"`{site.what}`{_nth(site.nth)}"
        case "event":
            return f"the news of {site.what}"
        case "step":
            return f"the user's `{site.what}`"
        case "rest":
            return "at rest" if site.nth == 1 else f"at the {_ordinal(site.nth)} rest"
        case "start":
            return "the start"
    return f"a {site.where} of {site.what}"


def workload_in_words(plan: Plan) -> str:
    """What the user does otherwise than was asked for; empty for the workload as it is."""
    sort, _, rest = plan.variant.partition(":")
    said = {
        "direct": "the user applies the last manifests alone, on a fresh cluster",
        "hasty": "the user does not wait between the steps",
        "recreate": "after all, the user deletes an object and makes it anew at once",
        "deleted": "after all, the user deletes an object",
        "undone": "the user makes an object and deletes it at once",
        "made": "the user makes an object, waits, and deletes it",
        "keep": "the user does only some of the steps",
        "back": f"after all, the user changes {rest.partition(':')[2] or 'a field'}, waits, and takes it back",
    }
    return said.get(sort, plan.variant)


def _whose(what: str) -> str:
    """An object as a place names it, without its count: `pods default/a#2`."""
    return what.partition("#")[0]


def _nth(nth: int) -> str:
    return f" (the {_ordinal(nth)} time)" if nth > 1 else ""


def _ordinal(nth: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(nth % 10 if nth % 100 not in (11, 12, 13) else 0, "th")
    return f"{nth}{ending}"
