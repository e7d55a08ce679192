"""A ConfigMap for each Invoice, with its text: a reconciler that blocks, and so is no coroutine."""

from setpoint import Controller, ObjectMeta, Request, Resource, Struct, SyncContext, kind
from setpoint.k8s.core.v1 import ConfigMap


class InvoiceSpec(Struct):
    amounts: list[int] = []


class InvoiceStatus(Struct):
    total: int = 0


@kind(group="guards.example.com", version="v1")
class Invoice(Resource[InvoiceSpec, InvoiceStatus]):
    """What somebody is to pay."""


def text_of(invoice: Invoice) -> str:
    lines = [f"{number}. {amount:>8}" for number, amount in enumerate(invoice.spec.amounts, start=1)]
    return "\n".join([f"Invoice {invoice.name}", *lines, f"Total {sum(invoice.spec.amounts)}"])


controller = Controller(Invoice, owns=[ConfigMap])


@controller.reconciler
def reconcile(ctx: SyncContext, request: Request) -> None:
    invoice = ctx.get(Invoice, request)
    if invoice is None or invoice.is_terminating:
        return
    page = ConfigMap(metadata=ObjectMeta(name=invoice.name, namespace=invoice.namespace), data={"invoice.txt": text_of(invoice)})
    ctx.apply(page, owner=invoice)
    invoice.status.total = sum(invoice.spec.amounts)
    ctx.update_status(invoice)
