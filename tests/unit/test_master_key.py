"""Where the master key comes from, how long it is kept, and what is said when it can't be read."""

import stat

import pytest

from chalicelib.gateway_settings import SettingsError, read_settings
from chalicelib.master_key import KEPT_S, RETRY_S, MasterKey, UnreadableMasterKeyError, read_reference
from fedcompute.errors import Problem

VALUE = "v" * 32
ENVIRONMENT = {"REGISTRY_TABLE": "registry"}


class Source:
    """A source that answers, or fails, as the test says; and a clock."""

    def __init__(self):
        self.value = VALUE
        self.fails = False
        self.reads = 0
        self.now = 0.0

    def read(self, reference):
        self.reads += 1
        if self.fails:
            raise UnreadableMasterKeyError("it is gone")
        return self.value

    def key(self):
        return MasterKey("ssm:/a", read=self.read, monotonic=lambda: self.now)


def test_missing_file_is_made_for_its_owner_alone_and_stays(tmp_path):
    path = tmp_path / "made" / "master.key"

    first = MasterKey(f"file:{path}").value()

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(first) >= 43
    assert MasterKey(f"file:{path}").value() == first
    assert list(path.parent.iterdir()) == [path]


def test_file_that_others_may_read_is_refused(tmp_path):
    path = tmp_path / "master.key"
    path.write_text(VALUE)
    path.chmod(0o640)

    with pytest.raises(Problem, match="chmod 600"):
        MasterKey(f"file:{path}").value()


@pytest.mark.parametrize("reference", ["", "file:", "env:X", "plain text", "http://a"])
def test_reference_of_no_known_kind_says_which_there_are(reference):
    with pytest.raises(Problem, match="file:PATH, ssm:PARAMETER or secretsmanager:SECRET") as problem:
        MasterKey(reference).value()

    assert problem.value.code == "not_ready"
    assert problem.value.headers["Retry-After"]


def test_file_that_cannot_be_made_is_told_without_its_name(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(UnreadableMasterKeyError, match="can't be read") as error:
        read_reference(f"file:{tmp_path}/file/inside")

    assert str(tmp_path) not in str(error.value)


def test_short_master_key_is_refused():
    source = Source()
    source.value = "v" * 31 + " \n"

    with pytest.raises(Problem, match="fewer than 32"):
        source.key().value()


def test_value_is_kept_for_five_minutes_and_read_again_then():
    source = Source()
    key = source.key()

    key.value()
    source.value, source.now = "w" * 32, KEPT_S - 1
    kept = key.value()
    source.now = KEPT_S
    renewed = key.value()

    assert (kept, renewed, source.reads) == (VALUE.encode(), b"w" * 32, 2)


def test_known_value_outlives_a_source_that_fails():
    source = Source()
    key = source.key()
    key.value()
    source.fails, source.now = True, KEPT_S

    during = [key.value() for _ in range(3)]
    source.fails, source.value, source.now = False, "w" * 32, KEPT_S + RETRY_S

    assert during == [VALUE.encode()] * 3
    assert key.value() == b"w" * 32
    assert source.reads == 3


def test_source_that_never_answered_is_asked_again_each_time():
    source = Source()
    key = source.key()
    source.fails = True

    for _ in range(2):
        with pytest.raises(Problem, match="it is gone"):
            key.value()
    source.fails = False

    assert key.value() == VALUE.encode()


def test_file_is_refused_on_aws_where_each_instance_would_make_its_own():
    on_aws = {**ENVIRONMENT, "AWS_LAMBDA_FUNCTION_NAME": "gateway", "MASTER_KEY": "file:/tmp/master.key"}

    with pytest.raises(SettingsError, match="MASTER_KEY"):
        read_settings(on_aws)
    assert read_settings(on_aws | {"AWS_ENDPOINT_URL": "http://localhost:4566"}).master_key.startswith("file:")


def test_master_key_itself_is_no_reference_and_is_not_repeated():
    with pytest.raises(SettingsError, match="MASTER_KEY") as refusal:
        read_settings({**ENVIRONMENT, "MASTER_KEY": VALUE})

    assert VALUE not in str(refusal.value)


def test_keys_are_the_default():
    assert read_settings(ENVIRONMENT).auth == "keys"
