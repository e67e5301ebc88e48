"""Sends with the Python client that was generated from the reference, and reads the results."""

import re
import sys
import time
from io import BytesIO
from uuid import UUID

from pombo_client import AuthenticatedClient
from pombo_client.api.business_account import explain_limits, list_templates, send_business_messages
from pombo_client.api.contacts import check_numbers, upload_contacts
from pombo_client.api.operator import list_tiers, replace_tier
from pombo_client.api.sends import show_send
from pombo_client.models import (
    BusinessSend,
    ButtonAction,
    FileForm,
    Import,
    InteractiveBody,
    InteractiveButtons,
    NumberCheck,
    Queued,
    Replaced,
    Reply,
    ReplyButton,
    TemplateBody,
    TextParameter,
    TierOptions,
)
from pombo_client.types import File

base_url, key, operator_key, channel = sys.argv[1:]
channel = UUID(channel)
company = AuthenticatedClient(base_url=base_url, token=key, raise_on_unexpected_status=True)
operator = AuthenticatedClient(base_url=base_url, token=operator_key, raise_on_unexpected_status=True)


def send(body: BusinessSend) -> UUID:
    queued = send_business_messages.sync(channel, client=company, body=body)
    assert isinstance(queued, Queued) and queued.recipients_count == 1, queued
    return queued.send_id


def template_with_variables() -> BusinessSend:
    """A template whose text has variables, and a value for each."""
    for template in list_templates.sync(channel, client=company, limit=100).data:
        if {part.type_ for part in template.components} & {"HEADER", "BUTTONS"}:
            continue
        text = next(part.text for part in template.components if part.type_ == "BODY")
        names = list(dict.fromkeys(re.findall(r"\{\{(\w+)\}\}", text)))
        named = template.parameter_format == "NAMED"
        values = [TextParameter(type_="text", text=f"value of {name}") for name in names]
        for name, value in zip(names, values):
            if named:
                value.parameter_name = name
        if values:
            return BusinessSend(
                type_="template",
                phone_number="+999 900 000 005",
                template_id=template.id,
                components=[TemplateBody(type_="body", parameters=values)],
            )
    raise AssertionError("no template has variables in its text alone")


def is_sent(send_id: UUID) -> bool:
    shown = show_send.sync(send_id, client=company)
    counts = shown.counts
    assert counts.failed == 0, counts
    return shown.state == "finished" and counts.sent + counts.delivered + counts.read == 1


yes = ReplyButton(type_="reply", reply=Reply(id="yes", title="Yes"))
buttons = InteractiveButtons(
    type_="button", body=InteractiveBody(text="Will you come?"), action=ButtonAction(buttons=[yes])
)
sends = [
    send(BusinessSend(type_="text", phone_number=["+999 900 000 004"], message="from Python")),
    send(template_with_variables()),
    send(BusinessSend(type_="interactive", phone_number=999900000006, interactive=buttons)),
]
end = time.monotonic() + 30
for send_id in sends:
    while not is_sent(send_id):
        assert time.monotonic() < end, f"send {send_id} is not finished"
        time.sleep(0.1)

limits = explain_limits.sync(channel, client=company)
assert any(limit.limit == "template_quota" for limit in limits.limits), limits

rows = BytesIO(b"phone,first_name\n+999 900 000 008,Gil\n")
form = FileForm(file=File(payload=rows, file_name="people.csv", mime_type="text/csv"))
imported = upload_contacts.sync(client=company, body=form, start=True)
assert isinstance(imported, Import) and imported.file_name == "people.csv", imported

checked = check_numbers.sync(client=company, body=NumberCheck(phone_number=["+999 900 000 001", "12"]))
assert checked.valid_count == 1, checked

quota = next(tier.template_quota for tier in list_tiers.sync(client=operator).data if tier.name == "standard")
assert quota == "unlimited" or quota >= 1, quota
options = TierOptions(kind="business_account", messages_per_second="80/s", template_quota=2000)
replaced = replace_tier.sync("standard", client=operator, body=options, dry_run=True)
assert isinstance(replaced, Replaced), replaced
changes = {change.option: change.new for change in replaced.difference}
assert quota == 2000 or changes["template_quota"] == 2000, changes

print(f"Python: {len(sends)} messages were sent; the quota of templates is {quota}")
