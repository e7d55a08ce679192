"""Players wear the colour of their team (a ConfigMap each), and a Team says how many players it has. Two controllers, one app.

Neither tells the other anything but by what is in the cluster.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from setpoint import Context, Controller, Index, Manager, ObjectMeta, Request, Resource, Struct, kind, mappers
from setpoint.k8s.core.v1 import ConfigMap


class TeamSpec(Struct):
    colour: str


class TeamStatus(Struct):
    players: int = 0


@kind(group="guards.example.com", version="v1")
class Team(Resource[TeamSpec, TeamStatus]):
    """Has a colour."""


class PlayerSpec(Struct):
    team: str


class PlayerStatus(Struct):
    colour: str = ""


@kind(group="guards.example.com", version="v1")
class Player(Resource[PlayerSpec, PlayerStatus]):
    """Plays in a team."""


BY_TEAM = Index(Player, lambda player: [f"{player.namespace}/{player.spec.team}"])

teams = Controller(Team, indexes=[BY_TEAM])
teams.watch(Player, map=lambda player: [Request(player.namespace, player.spec.team)])

players = Controller(Player, owns=[ConfigMap])
players.watch(Team, map=mappers.by_index(BY_TEAM))


@teams.reconciler
async def count(ctx: Context, request: Request) -> None:
    team = await ctx.get(Team, request)
    if team is not None:
        team.status.players = len(await ctx.list(Player, index=BY_TEAM(str(team.key))))
        await ctx.update_status(team)


@players.reconciler
async def dress(ctx: Context, request: Request) -> None:
    player = await ctx.get(Player, request)
    if player is None or player.is_terminating:
        return
    team = await ctx.get(Team, player.spec.team, namespace=player.namespace)
    colour = team.spec.colour if team is not None else "grey"
    shirt = ConfigMap(metadata=ObjectMeta(name=f"shirt-{player.name}", namespace=player.namespace), data={"colour": colour})
    await ctx.apply(shirt, owner=player)
    player.status.colour = colour
    await ctx.update_status(player)


@asynccontextmanager
async def app(manager: Manager) -> AsyncIterator[None]:
    manager.add(teams, players)
    yield
