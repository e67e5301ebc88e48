"""A mail server of a test: it takes mails over STARTTLS from who signs in, and keeps them as lines of JSON.

usage: server.py PORT DIRECTORY

The directory gets `ca.pem`, with which the server's certificate is checked, and `mails`. As long as it has a file `refuse`,
mails are refused for now; as long as it has a file `hold`, the answer to a mail that was taken is held back. The server ends
when its input ends.
"""

import asyncio
import email
import email.policy
import json
import os
import ssl
import sys
from pathlib import Path

import trustme
from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

PORT, DIRECTORY = int(sys.argv[1]), Path(sys.argv[2])
USER, PASSWORD = b"pombo", b"s3cret"


class Keeper:
    async def handle_DATA(self, server, session, envelope):
        if (DIRECTORY / "refuse").exists():
            return "451 4.3.0 come back later"
        mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
        kept = {
            "to": envelope.rcpt_tos,
            "from": str(mail["from"]),
            "subject": str(mail["subject"]),
            "id": str(mail["message-id"]),
            "unsubscribe": str(mail["list-unsubscribe"]),
            "text": mail.get_body(("plain",)).get_content(),
            "html": mail.get_body(("html",)).get_content(),
        }
        with open(DIRECTORY / "mails", "a", encoding="utf-8") as mails:
            mails.write(json.dumps(kept) + "\n")
        while (DIRECTORY / "hold").exists():
            await asyncio.sleep(0.01)
        return "250 2.0.0 taken"


def signed_in(server, session, envelope, mechanism, given):
    is_right = isinstance(given, LoginPassword) and (given.login, given.password) == (USER, PASSWORD)
    return AuthResult(success=is_right)


def encryption():
    authority = trustme.CA()
    authority.cert_pem.write_to_path(DIRECTORY / "ca.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    return context


async def serve():
    context = encryption()
    os.close(os.open(DIRECTORY / "mails", os.O_CREAT))

    def protocol():
        return SMTP(
            Keeper(),
            hostname="mail.example",
            tls_context=context,
            require_starttls=True,
            authenticator=signed_in,
            auth_required=True,
        )

    loop = asyncio.get_running_loop()
    server = await loop.create_server(protocol, "127.0.0.1", PORT)
    print("listening", flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


asyncio.run(serve())
