"""A server of a test's own that keeps objects as S3 does, with an empty bucket `media`.

usage: server.py PORT

For each line of its input it writes one with the keys in the bucket, as JSON. It ends when its input ends.
"""

import json
import logging
import sys

import boto3
from moto.server import ThreadedMotoServer

PORT = int(sys.argv[1])
BUCKET = "media"

logging.getLogger("werkzeug").disabled = True
server = ThreadedMotoServer(ip_address="127.0.0.1", port=PORT, verbose=False)
server.start()
own = boto3.client(
    "s3",
    endpoint_url=f"http://127.0.0.1:{PORT}",
    region_name="us-east-1",
    aws_access_key_id="an-id",
    aws_secret_access_key="hush",
)
own.create_bucket(Bucket=BUCKET)
print("listening", flush=True)
for _ in sys.stdin:
    found = own.list_objects_v2(Bucket=BUCKET).get("Contents", [])
    unfinished = own.list_multipart_uploads(Bucket=BUCKET).get("Uploads", [])
    print(json.dumps([entry["Key"] for entry in found + unfinished]), flush=True)
server.stop()
