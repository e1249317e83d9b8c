"""What the secret scan finds and what it lets pass. Secrets are put together here, so that no line has one."""

import subprocess
import sys
from pathlib import Path

import pytest

from chalicelib.keys import new_id, new_secret, text_of
from scripts import audit_packages
from scripts.secret_scan import in_files, kinds_in

ROOT = Path(__file__).parents[2]
SECRETS = {
    "key of a gateway": text_of(new_id(), new_secret()),
    "private key": "-----BEGIN RSA PRIVATE" + " KEY-----",
    "AWS access key": "AKIA" + "QWERTZUIOP234567",
    "AWS secret key": "aws_secret_access_key = " + "aB3/" * 10,
    "GitHub token": "ghp_" + "a1B2" * 9,
    "URL with a password": "postgres://user:" + "correct-horse@db.example",
    "provider's key": "PROVIDER_KEY=" + "A" * 43 + "=",
    "JSON web token": "eyJ" + "a" * 20 + ".eyJ" + "b" * 20 + "." + "c" * 43,
}


@pytest.mark.parametrize("kind", SECRETS)
def test_secret_is_found_and_not_repeated(tmp_path, kind):
    file = tmp_path / "settings.txt"
    file.write_text(f"first line\nx = {SECRETS[kind]}\n" if kind != "private key" else f"\n{SECRETS[kind]}\n")

    done = subprocess.run(
        [sys.executable, "-m", "scripts.secret_scan", str(file)], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 1
    assert f"{file}:2: looks like a {kind}" in done.stderr
    assert SECRETS[kind] not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "line",
    [
        "Authorization: Bearer fc_<key id>_<secret>",
        "AWS_ACCESS_KEY_ID=" + "AKIAIOSFODNN7EXAMPLE",
        "http://localhost:8080/api",
        "https://[::1]:8443/lab",
        "--hash=sha256:" + "0a1b" * 16,
        SECRETS["GitHub token"] + "  # secret-scan: allow (made up)",
        "0kxRoJDyqHZPKMnP5ZC4cJq9b035SIXRJsGM3E7IyQs=",
    ],
)
def test_what_only_looks_like_one_passes(line):
    assert kinds_in(line) == []


def test_binary_large_and_missing_files_are_left_out(tmp_path):
    (tmp_path / "binary").write_bytes(b"\xff\xfe" + SECRETS["GitHub token"].encode())

    assert list(in_files([tmp_path / "binary", tmp_path / "missing", tmp_path])) == []


CLEAN = {"name": "a", "version": "1", "vulns": []}
SKIPPED = {"name": "b", "skip_reason": "not found"}
FLAWED = {"name": "c", "version": "2", "vulns": [{"id": "CVE-1", "fix_versions": ["3"]}]}


@pytest.mark.parametrize(
    ("report", "code", "strict", "words"),
    [
        ([CLEAN], 0, 0, "no known vulnerability"),
        ([CLEAN, SKIPPED], 0, 3, "nothing is known of b"),
        ([SKIPPED], 0, 3, "Not audited"),
        ([], 0, 3, "Not audited"),
        ([FLAWED, SKIPPED], 1, 1, "c 2: CVE-1; mended in 3"),
    ],
)
def test_audit_tells_no_answer_from_a_clean_one(monkeypatch, capsys, report, code, strict, words):
    monkeypatch.setattr(audit_packages, "audited", lambda _: report)

    codes = audit_packages.main([]), audit_packages.main(["--strict"])

    assert codes == (code, strict)
    captured = capsys.readouterr()
    assert words in captured.out + captured.err


def test_audit_that_cannot_run_says_so(monkeypatch, capsys):
    def fails(_):
        raise FileNotFoundError

    monkeypatch.setattr(audit_packages, "audited", fails)

    assert audit_packages.main([]) == 0
    assert "did not run" in capsys.readouterr().err
