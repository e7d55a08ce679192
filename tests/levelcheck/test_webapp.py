"""The example of the README is level-based, and three ways of writing it that look as good are not: each is shown by a short trace."""

from pathlib import Path

import pytest
from check_webapp import shop, workload

from setpoint.levelcheck import Report, Workload, apply, level_check, wait
from setpoint.levelcheck.report.suggestion import suggestion

from .project import Project, project

__all__ = ["project"]

EXAMPLE = Path(__file__).parents[2] / "examples" / "webapp" / "webapp.py"
SHORT = Workload.of(apply(shop), wait())
STATUS = """    app.status.ready_replicas = deployment.status.ready_replicas or 0
"""
DEPLOYMENT = """    deployment = await ctx.apply(deployment_for(app), owner=app)
"""
SERVICE = """    await ctx.apply(service_for(app), owner=app)
"""
WRITE = """    await ctx.update_status(app)
"""
CONTROLLER = """controller = Controller(WebApp, owns=[Deployment, Service])
"""

BROKEN = {
    # What was said is noted before it has been said; and nobody else may change it.
    "status_kept_in_memory": {
        CONTROLLER: f"{CONTROLLER}said: dict[Request, int] = {{}}\n",
        STATUS: f"""{STATUS}    if said.get(request) == app.status.ready_replicas:
        return
    said[request] = app.status.ready_replicas
""",
    },
    # The service is made with the deployment, and never by itself.
    "service_made_with_deployment": {
        DEPLOYMENT: f"""    is_new = await ctx.get(Deployment, request) is None
{DEPLOYMENT}""",
        SERVICE: f"""    if is_new:
    {SERVICE}""",
    },
    # The deployment's name is drawn, and written down when the deployment is there.
    "deployment_with_random_name": {
        "from typing import Annotated\n": "import random\nfrom typing import Annotated\n",
        "    ready_replicas: int = 0\n": '    ready_replicas: int = 0\n    deployment: str = ""\n',
        DEPLOYMENT: """    wanted = deployment_for(app)
    wanted.metadata.name = app.status.deployment or f"{app.name}-{random.randrange(10**6)}"
    deployment = await ctx.apply(wanted, owner=app)
    app.status.deployment = deployment.name
""",
    },
}


def broken(project: Project, name: str) -> Report:
    """The report on the example with something changed."""
    source = EXAMPLE.read_text(encoding="utf-8")
    for old, new in BROKEN[name].items():
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    (project.folder / f"{name}.py").write_text(source, encoding="utf-8")
    return level_check(f"{name}.py:controller", SHORT)


def test_the_example_is_level_based():
    report = level_check("webapp:controller", workload)
    told = [(str(each.refutation.plan), each.refutation.finding.sentence) for each in report.broken]
    assert (report.verdict, report.inconclusive, told) == ("HELD", "", [])


@pytest.mark.parametrize(
    ("name", "says", "suggests"),
    [
        ("status_kept_in_memory", "webapp default/shop", "Keep no such note between runs"),
        ("service_made_with_deployment", "service default/shop is missing", "Check each child on its own"),
        ("deployment_with_random_name", "deployment", "drawn by chance"),
    ],
)
def test_what_looks_as_good_is_refuted(project, name, says, suggests):
    report = broken(project, name)
    assert report.verdict == "REFUTED", report.inconclusive
    first = report.broken[0].refutation
    assert len(first.plan.decisions) <= 1
    assert says in first.finding.sentence
    assert suggests in suggestion(report.broken[0])
