"""Time that passes only when somebody sleeps."""

from chalicelib.attempts import Pacing


class FakeTime:
    def __init__(self) -> None:
        self.now_s = 0.0

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds

    @property
    def pacing(self) -> Pacing:
        return Pacing(monotonic=lambda: self.now_s, sleep=self.sleep, random=lambda: 0.5)
