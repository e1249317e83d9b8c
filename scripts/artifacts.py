"""Packages in the base stack's bucket, named by what they hold: one that is there already is not sent again."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from scripts.fingerprints import of_content


class Artifacts:
    """One bucket."""

    def __init__(self, client: Any, bucket: str) -> None:
        self._client = client
        self.bucket = bucket

    def send(self, file: Path) -> tuple[str, bool]:
        """A file's key, and whether it had to be sent."""
        key = key_of(file)
        if self._has(key):
            return key, False
        self._client.put_object(Bucket=self.bucket, Key=key, Body=file.read_bytes())
        return key, True

    def empty(self) -> None:
        """Removes everything, so that the bucket can go."""
        for key in self._keys():
            self._client.delete_object(Bucket=self.bucket, Key=key)

    def _has(self, key: str) -> bool:
        try:
            self._client.head_object(Bucket=self.bucket, Key=key)
        except ClientError as error:
            if error.response["ResponseMetadata"]["HTTPStatusCode"] == 404:
                return False
            raise
        return True

    def _keys(self) -> Iterable[str]:
        try:
            pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket)
            return [one["Key"] for page in pages for one in page.get("Contents", [])]
        except ClientError as error:
            if error.response["Error"]["Code"] == "NoSuchBucket":
                return []
            raise


def key_of(file: Path) -> str:
    """What a file is called in the bucket."""
    return f"{file.stem}-{of_content(file)}{file.suffix}"
