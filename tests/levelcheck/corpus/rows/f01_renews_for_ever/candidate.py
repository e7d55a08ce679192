"""What both candidates do: take a lease that is free, renew it, and keep their name in a ConfigMap while they lead."""

from datetime import timedelta

from setpoint import Manager, ObjectMeta, Request
from setpoint.k8s.coordination.v1 import Lease
from setpoint.k8s.core.v1 import ConfigMap
from setpoint.objects import MicroTime

KEY, WORK = Request("default", "boss"), Request("default", "work")
DURATION, PERIOD = 15.0, 10.0


async def acquire(manager: Manager, name: str) -> bool:
    """Takes the lease, if it is free, its own, or has run out."""
    lease = await manager.client.get(Lease, KEY)
    if lease is None:
        return False
    renewed, holder = lease.spec.renew_time, lease.spec.holder_identity
    if holder not in (None, name) and renewed is not None and renewed + timedelta(seconds=DURATION) > manager.now():
        return False
    lease.spec.holder_identity, lease.spec.renew_time = name, MicroTime.of(manager.now())
    await manager.client.update(lease)
    return True


async def renew(manager: Manager, name: str) -> None:
    """Renews the lease. Raises if it cannot, or if somebody else has it."""
    lease = await manager.client.get(Lease, KEY)
    if lease is None or lease.spec.holder_identity != name:
        raise RuntimeError("the lease is lost")
    lease.spec.renew_time = MicroTime.of(manager.now())
    await manager.client.update(lease)


async def act(manager: Manager, name: str) -> None:
    """What a leader does."""
    work = await manager.client.get(ConfigMap, WORK)
    if work is None or work.data != {"leader": name}:
        await manager.client.apply(ConfigMap(metadata=ObjectMeta(name=WORK.name, namespace=WORK.namespace), data={"leader": name}))
