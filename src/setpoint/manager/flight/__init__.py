"""Why did it run, what did it change, who fights over this field: answers for people, which no reconciler can reach.

`recorder` listens to the observer and keeps the last runs of each key: the `causes` of a run, what is `in_progress`, what its `writes` have
changed (`changed_paths`) and by whom (`writers`), kept small as `records`. `heads` tell versions
apart. `loops` finds keys that go round in circles. `why` answers questions, and `debug_endpoint` lets another process ask them.
"""
