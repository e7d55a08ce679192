"""The correction: the request has a name that follows from the certificate's UID, so making it again is no other one."""

from setpoint import Context, Controller, ObjectMeta, Request

from .kinds import Certificate, CertificateRequest, request_for

controller = Controller(Certificate, name="certificate", owns=[CertificateRequest])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    certificate = await ctx.get(Certificate, request)
    if certificate is None or certificate.is_terminating:
        return
    requests = await ctx.list(CertificateRequest, namespace=certificate.namespace, owner=certificate)
    if not requests:
        metadata = ObjectMeta(name=f"{certificate.name}-{certificate.uid[:8]}")
        await ctx.apply(request_for(certificate, metadata), owner=certificate)
    if not certificate.status.requested:
        certificate.status.requested = True
        await ctx.update_status(certificate)
