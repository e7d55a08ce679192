"""What belongs to `setpoint check webapp.py`: what a user does with a WebApp, and what it should come to."""

from webapp import WebApp, WebAppSpec

from setpoint import ObjectMeta
from setpoint.levelcheck import Workload, apply, delete, patch, wait

shop = WebApp(metadata=ObjectMeta(name="shop", namespace="default"), spec=WebAppSpec(image="nginx:1.29", replicas=2))

workload = Workload.of(
    apply(shop),
    wait(),
    patch(shop, {"spec": {"replicas": 1}}),
    wait(),
    delete(shop),
)
