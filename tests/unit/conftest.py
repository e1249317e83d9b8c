"""How hypothesis searches: alike at each run, so that a test fails for everybody or for nobody.

HYPOTHESIS_PROFILE=explore looks elsewhere at each run, and longer.
"""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "hermetic", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "explore", deadline=None, max_examples=3000, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "hermetic"))
