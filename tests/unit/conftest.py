"""How hypothesis searches: alike at each run, so that a test fails for everybody or for nobody.

HYPOTHESIS_PROFILE=explore looks elsewhere at each run, and longer.
"""

import os

from hypothesis import HealthCheck, settings

# No deadline and no complaint about slowness: on a busy machine they would fail for no reason of the code's.
_CALM = settings(deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])

settings.register_profile("hermetic", _CALM, derandomize=True, max_examples=60)
settings.register_profile("explore", _CALM, derandomize=False, max_examples=3000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "hermetic"))
