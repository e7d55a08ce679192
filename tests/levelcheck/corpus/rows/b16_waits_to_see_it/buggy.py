"""Creates a request under a random name, and gives up too early waiting for the cache to show it."""

import asyncio

from setpoint import Context, Controller, ObjectMeta, Request

from .kinds import Certificate, CertificateRequest, request_for

controller = Controller(Certificate, name="certificate", owns=[CertificateRequest])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    certificate = await ctx.get(Certificate, request)
    if certificate is None or certificate.is_terminating:
        return
    requests = await ctx.list(CertificateRequest, namespace=certificate.namespace, owner=certificate)
    if len(requests) > 1:
        raise RuntimeError("multiple CertificateRequests were found for this certificate, which is unexpected")
    if not requests:
        metadata = ObjectMeta(generate_name=f"{certificate.name}-")
        created = await ctx.create(request_for(certificate, metadata), owner=certificate)
        await until_seen(ctx, created)
    if not certificate.status.requested:
        certificate.status.requested = True
        await ctx.update_status(certificate)


async def until_seen(ctx: Context, created: CertificateRequest) -> None:
    for _ in range(5):
        if await ctx.get(CertificateRequest, created.key) is not None:
            return
        await asyncio.sleep(0.1)
    raise TimeoutError(f"{created.key} was created and does not show")
