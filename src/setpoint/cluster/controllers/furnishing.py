"""What each namespace is furnished with, again when it is deleted or changed: the ServiceAccount `default`, and the ConfigMap
`kube-root-ca.crt` with the authority that clients within the cluster are to trust.

https://kubernetes.io/docs/concepts/security/service-accounts/#default-service-accounts
https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/#serviceaccount-token-volume-projection
"""

from __future__ import annotations

from setpoint.client.errors import AlreadyExists, Forbidden
from setpoint.cluster.controllers.errors import namespace_is_terminating
from setpoint.controller import Context, Controller
from setpoint.k8s.core.v1 import ConfigMap, Namespace, ServiceAccount
from setpoint.objects import Object, ObjectMeta, Request

ACCOUNT, ROOT_CA = "default", "kube-root-ca.crt"
_DESCRIPTION = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or "
    "kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters."
)


class Furnisher:
    """The reconciler. `root_ca` is the authority's certificate, as PEM."""

    def __init__(self, root_ca: str) -> None:
        self._data = {"ca.crt": root_ca}

    def controller(self) -> Controller[Namespace]:
        """The controller that runs it."""
        controller = Controller(Namespace, name="namespace-furnisher", reconciler=self)
        controller.watch(ServiceAccount, map=_namespace_of, fields=f"metadata.name={ACCOUNT}", metadata_only=True)
        return controller.watch(ConfigMap, map=_namespace_of, fields=f"metadata.name={ROOT_CA}")

    async def __call__(self, ctx: Context, request: Request) -> None:
        """One run: makes what is not there, and puts right what is not as it should be."""
        namespace = await ctx.get(Namespace, request)
        if namespace is None or namespace.is_terminating:
            return
        if await ctx.get(ServiceAccount, Request(namespace.name, ACCOUNT), live=True) is None:
            await _create(ctx, ServiceAccount(metadata=ObjectMeta(name=ACCOUNT, namespace=namespace.name)))
        published = await ctx.get(ConfigMap, Request(namespace.name, ROOT_CA), live=True)
        if published is None:
            annotations = {"kubernetes.io/description": _DESCRIPTION}
            metadata = ObjectMeta(name=ROOT_CA, namespace=namespace.name, annotations=annotations)
            await _create(ctx, ConfigMap(metadata=metadata, data=self._data))
        elif published.data != self._data:
            published.data = self._data
            await ctx.update(published)


def _namespace_of(obj: Object) -> list[Request]:
    return [Request("", obj.namespace)]


async def _create(ctx: Context, obj: Object) -> None:
    try:
        await ctx.create(obj)
    except AlreadyExists:
        return  # its event will tell whether it is as it should be
    except Forbidden as error:
        if not namespace_is_terminating(error):
            raise
