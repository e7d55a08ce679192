"""Mutants of the guards: each is a correct controller with one small change that makes it wrong.

A check that holds a mutant has overlooked a real fault. What the fault is, and by which classes of faults it can be seen, stands with it.
"F0" means that no fault is needed: what is wrong shows in the run without faults, if one compares it with what is wanted (O8, O12) or with
itself (O4, O11), and not with another run.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

GUARDS = Path(__file__).parent / "guards"


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A change of the text of a guard's `fixed.py`, in which `old` occurs exactly once."""

    guard: str
    """The guard's folder."""
    name: str
    """What was changed, in a few words."""
    old: str
    new: str
    fault: str
    """Why that is wrong, in a sentence."""
    shown_by: tuple[str, ...]
    """The classes of faults of which each should show it."""

    def __str__(self) -> str:
        return f"{self.guard}: {self.name}"

    def source(self) -> str:
        """The changed `fixed.py`. Raises `ValueError` unless there is exactly one place to change."""
        text = (GUARDS / self.guard / "fixed.py").read_text(encoding="utf-8")
        if (places := text.count(self.old)) != 1:
            raise ValueError(f"{self}: what it replaces is in {self.guard}/fixed.py {places} times, and not once")
        return text.replace(self.old, self.new)

    def write(self, folder: Path, /) -> Path:
        """Copies the guard's package into `folder`, under its own name, with the change made, and gives where it is."""
        package = folder / self.guard
        shutil.copytree(GUARDS / self.guard, package, ignore=shutil.ignore_patterns("__pycache__"))
        (package / "fixed.py").write_text(self.source(), encoding="utf-8")
        return package


MUTANTS: tuple[Mutant, ...] = (
    # an owner and its children, by apply
    Mutant(
        guard="g01_children",
        name="a kind of children is not watched",
        old="controller = Controller(Shop, owns=[Deployment, Service])",
        new="controller = Controller(Shop, owns=[Deployment])",
        fault="A Service that somebody deletes or changes is not put right, since nobody hears of it.",
        shown_by=("F19",),
    ),
    Mutant(
        guard="g01_children",
        name="the Deployment is stated when it is made, and never again",
        old="    deployment = await ctx.apply(deployment_for(shop), owner=shop)\n",
        new="    deployment = await ctx.get(Deployment, request) or await ctx.apply(deployment_for(shop), owner=shop)\n",
        fault="A change of what is wanted reaches a new Deployment and no other, so the end depends on which versions were seen.",
        shown_by=("F0", "F8"),
    ),
    # create if missing, else update
    Mutant(
        guard="g02_create_or_update",
        name="whether the child differs is read from the status",
        old="    elif found.data != rules(redirect):\n",
        new="    elif redirect.status.target != redirect.spec.target:\n",
        fault="What somebody else changes in the child is not put right, for the status knows nothing of it.",
        shown_by=("F19",),
    ),
    Mutant(
        guard="g02_create_or_update",
        name="the status is written before the child, and believed",
        old="""\
    found = await ctx.get(ConfigMap, request)
    if found is None:
""",
        new="""\
    if redirect.status.target == redirect.spec.target:
        return None
    redirect.status.target = redirect.spec.target
    await ctx.update_status(redirect)
    found = await ctx.get(ConfigMap, request)
    if found is None:
""",
        fault="After a crash between the two the status says that it is done, and so it is never done.",
        shown_by=("F1", "F2", "F19"),
    ),
    # a finalizer, and an external system
    Mutant(
        guard="g03_finalizer",
        name="the finalizer comes after the first external call",
        old="""\
        await ctx.add_finalizer(site, FINALIZER)
        await ctx.effect(dns.ensure, host_of(site), site.spec.address)
""",
        new="""\
        await ctx.effect(dns.ensure, host_of(site), site.spec.address)
        await ctx.add_finalizer(site, FINALIZER)
""",
        fault="A site that is deleted between the two goes at once, and its record stays.",
        shown_by=("F18",),
    ),
    Mutant(
        guard="g03_finalizer",
        name="the finalizer goes before the record does",
        old="""\
            await ctx.effect(dns.remove, host_of(site))
            await ctx.remove_finalizer(site, FINALIZER)
""",
        new="""\
            await ctx.remove_finalizer(site, FINALIZER)
            await ctx.effect(dns.remove, host_of(site))
""",
        fault="After a crash between the two nothing is left that would remind anybody of the record.",
        shown_by=("F1", "F20"),
    ),
    Mutant(
        guard="g03_finalizer",
        name="a finally block cleans up",
        old="""\
            await ctx.effect(dns.remove, host_of(site))
            await ctx.remove_finalizer(site, FINALIZER)
""",
        new="""\
            try:
                await ctx.remove_finalizer(site, FINALIZER)
            finally:
                await ctx.effect(dns.remove, host_of(site))
""",
        fault="A process that is killed runs no finally block: the site is gone by then, and the record stays.",
        shown_by=("F1",),
    ),
    Mutant(
        guard="g03_finalizer",
        name="a background task cleans up",
        old="            await ctx.effect(dns.remove, host_of(site))\n",
        new="""\
            import asyncio

            async def remove_soon(host: str) -> None:
                await asyncio.sleep(1)
                await dns.remove(host)

            ctx.cleaning = asyncio.create_task(remove_soon(host_of(site)))
""",
        fault="The finalizer goes before the task has done its work, and a crash in between ends the task.",
        shown_by=("F1",),
    ),
    Mutant(
        guard="g03_finalizer",
        name="the clean-up is left out",
        old="            await ctx.effect(dns.remove, host_of(site))\n",
        new="",
        fault="The record of a site that was deleted stays for ever.",
        shown_by=("F0",),
    ),
    Mutant(
        guard="g03_finalizer",
        name="the branch for a deletion lets nothing go",
        old="            await ctx.remove_finalizer(site, FINALIZER)\n",
        new="",
        fault="A site that was deleted terminates for ever.",
        shown_by=("F0",),
    ),
    Mutant(
        guard="g03_finalizer",
        name="a failure outside is swallowed",
        old="            await ctx.effect(dns.remove, host_of(site))\n",
        new="""\
            try:
                await ctx.effect(dns.remove, host_of(site))
            except Exception as error:
                ctx.log.warning("not removed: %s", error)
""",
        fault="A clean-up that failed is not tried again, for the finalizer goes all the same.",
        shown_by=("F20",),
    ),
    Mutant(
        guard="g03_finalizer",
        name="the finalizers are set, instead of one added",
        old="        await ctx.add_finalizer(site, FINALIZER)\n",
        new="""\
        if FINALIZER not in site.metadata.finalizers:
            await ctx.patch(Site, request, {"metadata": {"finalizers": [FINALIZER]}})
""",
        fault="Finalizers of others, which are there already or come in between, are removed.",
        shown_by=("F18", "F19"),
    ),
    # an external id, recorded before acting
    Mutant(
        guard="g04_intent_first",
        name="the zone is recorded after it was acted on",
        old="""\
            disk.status.zone = await ctx.effect(storage.roomiest)
            await ctx.update_status(disk)
""",
        new="            disk.status.zone = await ctx.effect(storage.roomiest)\n",
        fault="After a crash between disk and record another zone is chosen, and the first disk is known to nobody.",
        shown_by=("F1", "F2"),
    ),
    Mutant(
        guard="g04_intent_first",
        name="the zone is kept in a module global",
        old="""\
def disks(storage: Storage) -> Controller[Disk]:
    controller = Controller(Disk)

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        disk = await ctx.get(Disk, request)
        if disk is None:
            return
        if disk.is_terminating:
            if disk.status.zone:
                await ctx.effect(storage.remove, disk.status.zone, str(disk.key))
            await ctx.remove_finalizer(disk, FINALIZER)
            return
        await ctx.add_finalizer(disk, FINALIZER)
        if not disk.status.zone:
            disk.status.zone = await ctx.effect(storage.roomiest)
            await ctx.update_status(disk)
""",
        new="""\
ZONES: dict[str, str] = {}


def disks(storage: Storage) -> Controller[Disk]:
    controller = Controller(Disk)

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        disk = await ctx.get(Disk, request)
        if disk is None:
            return
        if disk.is_terminating:
            if disk.uid in ZONES:
                await ctx.effect(storage.remove, ZONES[disk.uid], str(disk.key))
            await ctx.remove_finalizer(disk, FINALIZER)
            return
        await ctx.add_finalizer(disk, FINALIZER)
        if disk.uid not in ZONES:
            ZONES[disk.uid] = await ctx.effect(storage.roomiest)
        disk.status.zone = ZONES[disk.uid]
""",
        fault="A process that starts anew chooses another zone, and does not know where the old disk is.",
        shown_by=("F1", "F13"),
    ),
    Mutant(
        guard="g04_intent_first",
        name="the zone is kept in a class attribute",
        old="""\
        if not disk.status.zone:
            disk.status.zone = await ctx.effect(storage.roomiest)
            await ctx.update_status(disk)
""",
        new="""\
        zones = vars(Disk).get("zones", {})
        if disk.uid not in zones:
            Disk.zones = {**zones, disk.uid: await ctx.effect(storage.roomiest)}
        disk.status.zone = Disk.zones[disk.uid]
""",
        fault="A process that starts anew chooses another zone, and the disk in the first one stays.",
        shown_by=("F1", "F13"),
    ),
    Mutant(
        guard="g04_intent_first",
        name="the zone is kept in an lru_cache",
        old="""\
def disks(storage: Storage) -> Controller[Disk]:
    controller = Controller(Disk)

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        disk = await ctx.get(Disk, request)
        if disk is None:
            return
        if disk.is_terminating:
            if disk.status.zone:
                await ctx.effect(storage.remove, disk.status.zone, str(disk.key))
            await ctx.remove_finalizer(disk, FINALIZER)
            return
        await ctx.add_finalizer(disk, FINALIZER)
        if not disk.status.zone:
            disk.status.zone = await ctx.effect(storage.roomiest)
            await ctx.update_status(disk)
""",
        new="""\
from functools import lru_cache


@lru_cache(maxsize=None)
def chosen(uid: str) -> list[str]:
    return []


def disks(storage: Storage) -> Controller[Disk]:
    controller = Controller(Disk)

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        disk = await ctx.get(Disk, request)
        if disk is None:
            return
        if disk.is_terminating:
            if disk.status.zone:
                await ctx.effect(storage.remove, disk.status.zone, str(disk.key))
            await ctx.remove_finalizer(disk, FINALIZER)
            return
        await ctx.add_finalizer(disk, FINALIZER)
        if not chosen(disk.uid):
            chosen(disk.uid).append(await ctx.effect(storage.roomiest))
        disk.status.zone = chosen(disk.uid)[0]
""",
        fault="A process that starts anew chooses another zone, and the disk in the first one stays.",
        shown_by=("F1", "F13"),
    ),
    Mutant(
        guard="g04_intent_first",
        name="the zone is kept in a dict of a module beside it",
        old="""\
        if not disk.status.zone:
            disk.status.zone = await ctx.effect(storage.roomiest)
            await ctx.update_status(disk)
""",
        new="""\
        from . import memory

        if disk.uid not in memory.held:
            memory.held[disk.uid] = await ctx.effect(storage.roomiest)
        disk.status.zone = memory.held[disk.uid]
""",
        fault="A process that starts anew chooses another zone, and the disk in the first one stays.",
        shown_by=("F1", "F13"),
    ),
    Mutant(
        guard="g04_intent_first",
        name="there is no finalizer",
        old="        await ctx.add_finalizer(disk, FINALIZER)\n",
        new="",
        fault="A Disk that is deleted goes at once, and the disk in the cloud stays.",
        shown_by=("F14",),
    ),
    # a state machine in the status
    Mutant(
        guard="g05_phases",
        name="a phase believes that the phases before it are still done",
        old="    await prepare(ctx, archive)\n",
        new="",
        fault="What an earlier phase made is not made again when somebody deletes it.",
        shown_by=("F19",),
    ),
    # generated names, and adoption by label
    Mutant(
        guard="g06_generated_names",
        name="how many there are is counted in the status",
        old="""\
    while len(pods) < pool.spec.size:
        pods.append(await ctx.create(pod_for(pool), owner=pool))
    pods.sort(key=lambda pod: (pod.metadata.creation_timestamp, pod.name))
    for extra in pods[pool.spec.size :]:
        await ctx.delete(extra)
    pool.status.size = min(len(pods), pool.spec.size)
""",
        new="""\
    for _ in range(pool.status.size, pool.spec.size):
        await ctx.create(pod_for(pool), owner=pool)
    pods.sort(key=lambda pod: (pod.metadata.creation_timestamp, pod.name), reverse=True)
    for extra in pods[: max(0, pool.status.size - pool.spec.size)]:
        await ctx.delete(extra)
    pool.status.size = pool.spec.size
""",
        fault="Pods that were made before a crash, that were adopted or that somebody deleted are counted wrongly for ever.",
        shown_by=("F0", "F1", "F19"),
    ),
    Mutant(
        guard="g06_generated_names",
        name="those that exist are counted by what this process has made",
        old="    pods = [*await ctx.list(Pod, owner=pool), *await adopted(ctx, pool)]\n",
        new="""\
    made = vars(Pool).get("made", {}).get(pool.uid, [])
    Pool.made = {**vars(Pool).get("made", {}), pool.uid: made}
    pods = [pod for pod in await ctx.list(Pod, owner=pool) if pod.name in made] + await adopted(ctx, pool)
    while len(pods) < pool.spec.size:
        pods.append(await ctx.create(pod_for(pool), owner=pool))
    made[:] = [pod.name for pod in pods]
""",
        fault="After a crash none counts that was there before, and as many are made again.",
        shown_by=("F1",),
    ),
    Mutant(
        guard="g06_generated_names",
        name="nothing is adopted",
        old="    pods = [*await ctx.list(Pod, owner=pool), *await adopted(ctx, pool)]\n",
        new="    pods = await ctx.list(Pod, owner=pool)\n",
        fault="Pods that a predecessor left behind run for ever beside those of its successor.",
        shown_by=("F0",),
    ),
    # a pair with an elected leader
    Mutant(
        guard="g07_leader_pair",
        name="what was applied is remembered in a module global",
        old="""\
controller = Controller(Banner, owns=[ConfigMap])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    banner = await ctx.get(Banner, request)
    if banner is None or banner.is_terminating:
        return
""",
        new="""\
controller = Controller(Banner, owns=[ConfigMap])
applied: dict[str, dict[str, str]] = {}


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    banner = await ctx.get(Banner, request)
    if banner is None or banner.is_terminating or applied.get(banner.uid) == banner.spec.texts:
        return
    applied[banner.uid] = dict(banner.spec.texts)
""",
        fault="What others do to the children is not put right, the late write of a former leader included; nor is what failed done again.",
        shown_by=("F2", "F19"),
    ),
    Mutant(
        guard="g07_leader_pair",
        name="generated names, and no look at how many there are",
        old="""\
    texts = await ctx.apply_all([text_for(banner, language) for language in languages], owner=banner)
    await ctx.prune(ConfigMap, keep=texts, owner=banner)
""",
        new="""\
    there = {text.metadata.labels["language"]: text for text in await ctx.list(ConfigMap, owner=banner)}
    for language in languages:
        if language not in there:
            text = text_for(banner, language)
            text.metadata = ObjectMeta(generate_name="text-", namespace=banner.namespace, labels={"language": language})
            await ctx.create(text, owner=banner)
        elif there[language].data["text"] != banner.spec.texts[language]:
            there[language].data["text"] = banner.spec.texts[language]
            await ctx.update(there[language])
    for language in there:
        if language not in languages:
            await ctx.delete(there[language])
""",
        fault="A former leader's late create makes a second child, which nobody changes or deletes from then on.",
        shown_by=("F15",),
    ),
    # a timer that polls a Job
    Mutant(
        guard="g08_job_poll",
        name="only the run that creates the Job asks for the next one",
        old="""\
        job = await ctx.create(job_for(backup), owner=backup)
    if not any(reference.uid == backup.uid for reference in job.metadata.owner_references):
        return Result(requeue_after=5)  # a predecessor's, which is on its way out
    backup.status.done = bool(job.status.succeeded)
    await ctx.update_status(backup)
    return Result(requeue_after=300 if backup.status.done else 5)
""",
        new="""\
        await ctx.create(job_for(backup), owner=backup)
        return Result(requeue_after=60)
    backup.status.done = bool(job.status.succeeded)
    await ctx.update_status(backup)
    return None
""",
        fault="When the timer is lost, a run that finds the Job unfinished does not ask for another one, and nobody sees its end.",
        shown_by=("F1", "F12"),
    ),
    Mutant(
        guard="g08_job_poll",
        name="the UID of the owner is not checked",
        old="""\
    if not any(reference.uid == backup.uid for reference in job.metadata.owner_references):
        return Result(requeue_after=5)  # a predecessor's, which is on its way out
    backup.status.done = bool(job.status.succeeded)
    await ctx.update_status(backup)
    return Result(requeue_after=300 if backup.status.done else 5)
""",
        new="""\
    backup.status.done = bool(job.status.succeeded)
    await ctx.update_status(backup)
    return None if backup.status.done else Result(requeue_after=5)
""",
        fault="The finished Job of a predecessor of the same name is taken for one's own, and none is made when it goes with its owner.",
        shown_by=("F14",),
    ),
    # what is no longer wanted is pruned
    Mutant(
        guard="g09_prune",
        name="nothing is pruned",
        old="    await ctx.prune(ConfigMap, keep=queues, owner=tenant)\n",
        new="",
        fault="Queues that are no longer wanted stay.",
        shown_by=("F0", "F8"),
    ),
    Mutant(
        guard="g09_prune",
        name="what was wanted before is remembered in an lru_cache",
        old="""\
controller = Controller(Tenant, owns=[ConfigMap])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    tenant = await ctx.get(Tenant, request)
    if tenant is None or tenant.is_terminating:
        return
    queues = [await ctx.apply(queue_for(tenant, queue), owner=tenant) for queue in tenant.spec.queues]
    await ctx.prune(ConfigMap, keep=queues, owner=tenant)
""",
        new="""\
from functools import lru_cache

controller = Controller(Tenant, owns=[ConfigMap])


@lru_cache(maxsize=None)
def wanted_before(uid: str) -> list[str]:
    return []


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    tenant = await ctx.get(Tenant, request)
    if tenant is None or tenant.is_terminating:
        return
    queues = [await ctx.apply(queue_for(tenant, queue), owner=tenant) for queue in tenant.spec.queues]
    for queue in wanted_before(tenant.uid):
        if queue not in tenant.spec.queues:
            unwanted = await ctx.get(ConfigMap, f"{tenant.name}-{queue}", namespace=tenant.namespace)
            if unwanted is not None:
                await ctx.delete(unwanted)
    wanted_before(tenant.uid)[:] = tenant.spec.queues
""",
        fault="A new process does not know what was wanted before, and leaves what is wanted no longer.",
        shown_by=("F1", "F13"),
    ),
    Mutant(
        guard="g09_prune",
        name="the number of queues stands for the queues",
        old="""\
    if tenant is None or tenant.is_terminating:
        return
""",
        new="""\
    if tenant is None or tenant.is_terminating or tenant.status.queues == len(tenant.spec.queues):
        return
""",
        fault="As many others are taken for the same ones, and a queue that was deleted for one that is there.",
        shown_by=("F0", "F19"),
    ),
    Mutant(
        guard="g09_prune",
        name="the children have no owner",
        old="await ctx.apply(queue_for(tenant, queue), owner=tenant)",
        new="await ctx.apply(queue_for(tenant, queue))",
        fault="What has no owner is not found to be pruned, and stays when the tenant goes.",
        shown_by=("F0",),
    ),
    # several controllers in one app
    Mutant(
        guard="g10_several_controllers",
        name="players do not hear of their team",
        old="players.watch(Team, map=mappers.by_index(BY_TEAM))\n",
        new="",
        fault="A new colour of the team reaches the players at the next start, or never.",
        shown_by=("F1", "F13"),
    ),
    # a cluster-scoped kind with children in many namespaces
    Mutant(
        guard="g11_cluster_scoped",
        name="namespaces are not watched",
        old="controller.watch(Namespace, map=mappers.to_all(Policy))\n",
        new="",
        fault="A namespace that comes later gets its rules at the next start, or never.",
        shown_by=("F1", "F13"),
    ),
    # a mapper from a shared ConfigMap
    Mutant(
        guard="g12_shared_config",
        name="the shared ConfigMap is not watched",
        old="controller.watch(ConfigMap, map=mappers.by_index(BY_SETTINGS))\n",
        new="",
        fault="New settings reach the agents at the next start, or never.",
        shown_by=("F1", "F13"),
    ),
    Mutant(
        guard="g12_shared_config",
        name="the settings are read once in a process",
        old="""\
controller = Controller(Agent, owns=[Secret])
controller.watch(ConfigMap, map=mappers.by_index(BY_SETTINGS))


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    agent = await ctx.get(Agent, request)
    if agent is None or agent.is_terminating:
        return
    settings = await ctx.get(ConfigMap, agent.spec.settings, namespace=agent.namespace)
    level = settings.data.get("level", "") if settings is not None else ""
""",
        new="""\
from functools import cache

controller = Controller(Agent, owns=[Secret])
controller.watch(ConfigMap, map=mappers.by_index(BY_SETTINGS))


@cache
def levels(namespace: str) -> dict[str, str]:
    return {}


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    agent = await ctx.get(Agent, request)
    if agent is None or agent.is_terminating:
        return
    known = levels(agent.namespace)
    settings = await ctx.get(ConfigMap, agent.spec.settings, namespace=agent.namespace)
    if settings is not None and agent.spec.settings not in known:
        known[agent.spec.settings] = settings.data.get("level", "")
    level = known.get(agent.spec.settings, "")
""",
        fault="The end depends on when the process was started last.",
        shown_by=("F0", "F1", "F13"),
    ),
    Mutant(
        guard="g12_shared_config",
        name="settings that are gone are taken for unchanged",
        old='    level = settings.data.get("level", "") if settings is not None else ""\n',
        new="""\
    if settings is None and agent.status.level:
        return
    level = settings.data.get("level", "") if settings is not None else ""
""",
        fault="Settings that nobody has any more stay in force, for those agents that saw them.",
        shown_by=("F0", "F8"),
    ),
    # a plain def reconciler
    Mutant(
        guard="g13_plain_def",
        name="a random name instead of a fixed one",
        old="""\
    page = ConfigMap(metadata=ObjectMeta(name=invoice.name, namespace=invoice.namespace), data={"invoice.txt": text_of(invoice)})
    ctx.apply(page, owner=invoice)
""",
        new="""\
    meta = ObjectMeta(generate_name=f"{invoice.name}-", namespace=invoice.namespace)
    ctx.create(ConfigMap(metadata=meta, data={"invoice.txt": text_of(invoice)}), owner=invoice)
""",
        fault="Each run makes another child, and each child asks for a run.",
        shown_by=("F0",),
    ),
    Mutant(
        guard="g13_plain_def",
        name="the status is taken as proof that the child is as it should be",
        old="""\
    if invoice is None or invoice.is_terminating:
        return
""",
        new="""\
    if invoice is None or invoice.is_terminating or invoice.status.total == sum(invoice.spec.amounts):
        return
""",
        fault="A page that somebody deletes or changes is not written again.",
        shown_by=("F19",),
    ),
    # a class with __call__
    Mutant(
        guard="g14_callable_class",
        name="who is on a list is kept in a class attribute",
        old="        there = await ctx.effect(self.lists.members, name)\n",
        new="""\
        known = vars(Subscriptions).get("known", {})
        there = list(known.get(name, []))
        Subscriptions.known = {**known, name: list(wanted)}
""",
        fault="A new process believes that nobody is on the list, and takes nobody off it; and a call that failed counts as done.",
        shown_by=("F1", "F13", "F20"),
    ),
    # a rollout in two phases
    Mutant(
        guard="g15_two_phase_rollout",
        name="the Deployments are not watched",
        old="controller = Controller(Release, owns=[Deployment])",
        new="controller = Controller(Release)",
        fault="That the canary runs is noticed at the next start, or never.",
        shown_by=("F1", "F19"),
    ),
    # a StatefulSet, resized in the right order
    Mutant(
        guard="g16_statefulset_resize",
        name="who has joined is kept on the class",
        old="        for member in [member for member in range(ready) if member not in members]:\n",
        new="""\
        joined = vars(Ring).get("joined", {})
        Ring.joined = {**joined, ring.uid: max(ready, joined.get(ring.uid, 0))}
        for member in range(joined.get(ring.uid, 0), ready):
""",
        fault="A member that left and comes again does not join, unless the process was started in between.",
        shown_by=("F0", "F1", "F13"),
    ),
    # a garbage-collected hierarchy of three levels
    Mutant(
        guard="g17_hierarchy",
        name="the lowest level has no owner",
        old="    await ctx.apply(log, owner=ship)\n",
        new="    await ctx.apply(log)\n",
        fault="The logs of ships that are gone stay.",
        shown_by=("F0",),
    ),
    # conditions with stable transition times
    Mutant(
        guard="g18_conditions",
        name="the time of a transition is always new",
        old='    ctx.set_condition(route, "Ready", accepted and resolved, reason="Checked")\n',
        new="""\
    others = [condition for condition in route.status.conditions if condition.type != "Ready"]
    ready = "True" if accepted and resolved else "False"
    route.status.conditions = [
        *others,
        Condition(type="Ready", status=ready, reason="Checked", message="", last_transition_time=ctx.now()),
    ]
""",
        fault="Each run writes, though nothing has changed.",
        shown_by=("F11",),
    ),
    Mutant(
        guard="g18_conditions",
        name="a write that fails is swallowed",
        old="    await ctx.update_status(route)\n",
        new="""\
    try:
        await ctx.update_status(route)
    except Exception as error:
        ctx.log.warning("no status for now: %s", error)
""",
        fault="A run that ends without an error is not tried again, so what failed in it stays undone.",
        shown_by=("F2",),
    ),
    Mutant(
        guard="g18_conditions",
        name="the backend is not watched",
        old="controller.watch(Service, map=mappers.by_index(BY_BACKEND))\n",
        new="",
        fault="That the backend comes or goes is noticed at the next start, or never.",
        shown_by=("F1", "F13"),
    ),
    # a counter computed from a list
    Mutant(
        guard="g19_quota",
        name="claims are counted as they are first seen",
        old="    budget.status.used = sum(claim.spec.amount for claim in claims)\n",
        new="""\
    seen = vars(Budget).get("seen", {})
    Budget.seen = {**{claim.uid: claim.spec.amount for claim in claims}, **seen}
    budget.status.used = sum(Budget.seen.values())
""",
        fault="What is deleted or changed later still counts, until the process ends.",
        shown_by=("F0", "F1", "F13"),
    ),
    # a Secret, copied into namespaces by label
    Mutant(
        guard="g20_secret_copier",
        name="the source is not watched",
        old="controller.watch(Secret, map=mappers.by_index(BY_SOURCE))\n",
        new="",
        fault="A new token reaches the copies at the next start, or never.",
        shown_by=("F1", "F13"),
    ),
    Mutant(
        guard="g20_secret_copier",
        name="a copy is written when it is made, and never again",
        old="            copies.append(await ctx.apply(copy, owner=shared))\n",
        new="            copies.append(await ctx.get(Secret, copy.key) or await ctx.apply(copy, owner=shared))\n",
        fault="Copies keep the token that was there when they were made.",
        shown_by=("F0", "F8"),
    ),
    Mutant(
        guard="g20_secret_copier",
        name="the copies have no owner",
        old="            copies.append(await ctx.apply(copy, owner=shared))\n",
        new="            copies.append(await ctx.apply(copy))\n",
        fault="Copies in namespaces that are no longer meant stay, and so do all when the SharedSecret goes.",
        shown_by=("F0",),
    ),
    # a Job for each generation
    Mutant(
        guard="g21_job_per_generation",
        name="the status names the Job before there is one",
        old="    job = await ctx.apply(job_for(migration), owner=migration)\n",
        new="""\
    wanted = job_for(migration)
    if migration.status.job != wanted.name:
        migration.status.job = wanted.name
        await ctx.update_status(migration)
        await ctx.apply(wanted, owner=migration)
    job = await ctx.get(Job, wanted.key)
    if job is None:
        return
""",
        fault="After a crash between the two the status names a Job that nobody makes.",
        shown_by=("F1", "F2", "F19"),
    ),
)
