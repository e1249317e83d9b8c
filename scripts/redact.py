"""Takes secrets out of text that is written down for others to read: diagnostics, manifests, logs."""

import re

HIDDEN = "<removed>"

_NAMES = r"[\w.-]*(?:token|secret|passw(?:or)?d|passphrase|credential|api[_-]?key|private[_-]?key|master[_-]?key|provider[_-]?key|access[_-]?key)[\w.-]*"
_RULES = (
    # PEM blocks of keys, whatever stands around them.
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL), HIDDEN),
    # Certificates and keys as kubeconfigs hold them.
    (
        re.compile(
            r"((?:client-key|client-certificate|certificate-authority|id-token|refresh-token)(?:-data)?\"?:\s*)\"?[^\s\",}]+\"?"
        ),
        rf"\1{HIDDEN}",
    ),
    (re.compile(r"(?i)(authorization\"?[:=]\s*\"?)(?:(?:bearer|basic)\s+)?[^\s\",]+"), rf"\1{HIDDEN}"),
    (re.compile(r"(?i)\b(bearer\s+)[\w.~+/=-]{8,}"), rf"\1{HIDDEN}"),
    # JSON web tokens: service accounts' above all.
    (re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?"), HIDDEN),
    (re.compile(r"\bfc_[\w-]+_[\w-]{8,}"), HIDDEN),
    (re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"), HIDDEN),
    # userinfo of a URL
    (re.compile(r"(\w+://)[^\s/@:]+:[^\s/@]+@"), rf"\1{HIDDEN}@"),
    # A container's environment: name and value on two lines (YAML) or in two members (JSON).
    (
        re.compile(rf"(?i)(\"?name\"?:\s*\"?{_NAMES}\"?,?\s+\"?value\"?:\s*)(?:\"[^\"]*\"|'[^']*'|\S+)"),
        rf"\1{HIDDEN}",
    ),
    # name: value and NAME=value
    (re.compile(rf"(?i)(\"?\b{_NAMES}\"?\s*[:=]\s*)(?:\"[^\"\n]+\"|'[^'\n]+'|[^\s\"',}}{{\[]+)"), rf"\1{HIDDEN}"),
)


def redacted(text: str) -> str:
    """The text without what is or looks like a secret; rather one word too many than one too few."""
    for pattern, instead in _RULES:
        text = pattern.sub(instead, text)
    return text
