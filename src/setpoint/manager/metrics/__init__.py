"""What is counted, and what people look at it with.

`metrics` has controller-runtime's names, labels and `buckets`, with `depth` of the queue by priority and `requests` in detail where that is
asked for; `own` are those that only Setpoint has, `cache_memory` and `thread_pool` are read when somebody asks. `exposition` writes them as
Prometheus reads them. `dashboard` and `alerts` are made for these names, and tested against them.
"""

from setpoint.manager.metrics.metrics import Metrics

__all__ = ["Metrics"]
