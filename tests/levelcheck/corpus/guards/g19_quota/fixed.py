"""A Budget says how much of it the Claims of its namespace use. The sum is made of the list, in every run."""

from setpoint import Condition, Context, Controller, Reader, Request, Resource, Struct, kind


class BudgetSpec(Struct):
    limit: int


class BudgetStatus(Struct):
    used: int = 0
    claims: int = 0
    conditions: list[Condition] = []


@kind(group="guards.example.com", version="v1")
class Budget(Resource[BudgetSpec, BudgetStatus]):
    """How much a namespace may use."""


class ClaimSpec(Struct):
    amount: int


class ClaimStatus(Struct):
    pass


@kind(group="guards.example.com", version="v1")
class Claim(Resource[ClaimSpec, ClaimStatus]):
    """Uses something of a budget."""


controller = Controller(Budget)


@controller.watch(Claim)
async def budgets_of(claim: Claim, reader: Reader) -> list[Request]:
    return [budget.key for budget in await reader.list(Budget, namespace=claim.namespace)]


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    budget = await ctx.get(Budget, request)
    if budget is None or budget.is_terminating:
        return
    claims = [claim for claim in await ctx.list(Claim, namespace=budget.namespace) if not claim.is_terminating]
    budget.status.used = sum(claim.spec.amount for claim in claims)
    budget.status.claims = len(claims)
    ctx.set_condition(budget, "Kept", budget.status.used <= budget.spec.limit, reason="Counted")
    await ctx.update_status(budget)
