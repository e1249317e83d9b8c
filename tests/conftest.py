"""What every test needs to import the apps' modules, and to make AWS clients that reach nobody."""

import os
import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent

for _folder in ("tests", "provider_app", "gateway_app", "layers/fedcompute/python"):
    sys.path.insert(0, str(_ROOT / _folder))

os.environ["AWS_ACCESS_KEY_ID"] = "testing"
os.environ["AWS_SECRET_ACCESS_KEY"] = "testing"
os.environ["AWS_DEFAULT_REGION"] = "us-east-1"
os.environ["AWS_EC2_METADATA_DISABLED"] = "true"
for _name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_REGION"):
    os.environ.pop(_name, None)
