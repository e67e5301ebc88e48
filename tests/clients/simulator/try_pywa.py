"""Drives the simulator with pywa, and receives its webhooks with it."""

import sys

import httpx
from pywa import WhatsApp
from pywa.errors import WhatsAppError
from pywa.types import Button, Command, Industry, MessageStatusType
from pywa.types.templates import (
    BodyText,
    Template,
    TemplateCategory,
    TemplateLanguage,
)

from receiver import APP_SECRET, Receiver, ask

base_url, version = sys.argv[1:]
# The simulator creates an unknown number in this account.
NUMBER, WABA, PERSON = "106540352242922", "100000000000001", "5511999990001"


def to_simulator(request):
    """The library knows one address only: the provider's."""
    if request.url.host == "graph.facebook.com":
        simulator = httpx.URL(base_url)
        request.url = request.url.copy_with(scheme="http", host=simulator.host, port=simulator.port)
        request.headers["host"] = simulator.netloc.decode()


def refused(code, call):
    try:
        answer = call()
    except WhatsAppError as error:
        assert error.code == code, error
    else:
        raise AssertionError(f"{answer} instead of a refusal with code {code}")


session = httpx.Client(event_hooks={"request": [to_simulator]}, trust_env=False)
wa = WhatsApp(
    NUMBER,
    "T-1",
    session=session,
    server=None,
    verify_token="open sesame",
    waba_id=WABA,
    app_secret=APP_SECRET,
    api_version=version.removeprefix("v"),
)

# Files.
picture = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
media = wa.upload_media(picture, mime_type="image/png", filename="a.png")
address = wa.get_media_url(media.id)
assert (address.mime_type, address.file_size) == ("image/png", len(picture)), address
assert wa.get_media_bytes(url=address.url) == picture
assert wa.send_image(PERSON, media.id, caption="look").id.startswith("wamid.")
assert wa.delete_media(media.id)
refused(100, lambda: wa.get_media_url(media.id))

# The number, its account, its profile, its greeting.
assert wa.get_business_profile().about is None
assert wa.update_business_profile(
    about="Pigeons", email="a@example.com", industry=Industry.RETAIL, websites=["https://example.com"]
)
profile = wa.get_business_profile()
shown = (profile.about, profile.email, profile.industry, list(profile.websites))
assert shown == ("Pigeons", "a@example.com", Industry.RETAIL, ["https://example.com"]), profile
assert wa.update_conversational_automation(
    ice_breakers=["Where is my order?"], commands=[Command(name="menu", description="What there is")]
)
number = wa.get_business_phone_number()
assert number.status == "CONNECTED", number
assert list(number.conversational_automation.ice_breakers) == ["Where is my order?"], number
assert number.conversational_automation.commands[0].name == "menu", number
assert NUMBER in [number.id for number in wa.get_business_phone_numbers()]
account = wa.get_business_account()
assert (account.id, account.name) == (WABA, "Simulated business"), account

# Templates.
created = wa.create_template(
    Template(
        name="code_sent",
        language=TemplateLanguage.ENGLISH_US,
        category=TemplateCategory.UTILITY,
        components=[BodyText("Your order {{1}} has left.", "A-1")],
        message_send_ttl_seconds=60,
    )
)
shown = wa.get_template(created.id)
assert (shown.name, shown.message_send_ttl_seconds) == ("code_sent", 60), shown
assert "hello_world" in [template.name for template in wa.get_templates()]

# Messages, and their webhooks.
receiver = Receiver(base_url, NUMBER)
statuses, messages = [], []
wa.on_message_status()(lambda _, status: statuses.append(status))
wa.on_message()(lambda _, message: messages.append(message))


def hear():
    body, signature = receiver.next()
    assert wa.webhook_update_validator(body, signature) is None
    told = wa.webhook_update_handler(body)
    assert told[1] == 200, told


sent = wa.send_message(PERSON, "Will you come?", buttons=[Button("Yes", callback_data="yes")], tracker="k-1")
# Each status comes in a webhook of its own, and webhooks may overtake one another.
while len(statuses) < 3:
    hear()
assert {status.status for status in statuses} == {
    MessageStatusType.SENT,
    MessageStatusType.DELIVERED,
    MessageStatusType.READ,
}, statuses
for status in statuses:
    assert (status.id, status.from_user.wa_id, status.tracker) == (sent.id, PERSON, "k-1"), status
    assert status.from_user.bsuid.startswith("ZZ."), status

statuses.clear()
ask(base_url, "/script", {"match": {"to_suffix": "0002"}, "outcome": {"async_failed": {"code": 131026}}})
failing = wa.send_template("5511999990002", "hello_world", TemplateLanguage.ENGLISH_US, [])
failed = []
while not failed:
    hear()
    failed = [status for status in statuses if status.status == MessageStatusType.FAILED]
assert [(status.id, status.error.code) for status in failed] == [(failing.id, 131026)], statuses

ask(base_url, "/script", {"webhook": {"inbound": {"phone_number_id": NUMBER, "from": PERSON, "text": "olá"}}})
while not messages:
    hear()
message = messages[0]
assert (message.text, message.from_user.wa_id) == ("olá", PERSON), message
assert message.mark_as_read()
statuses.clear()
answered = message.reply("Oi!")
while not statuses:
    hear()
assert (statuses[0].id, statuses[0].from_user.bsuid) == (answered.id, message.from_user.bsuid), statuses

# Blocked people.
blocked = wa.block_users([PERSON])
assert [user.wa_id for user in blocked.added_users] == [PERSON], blocked
assert [user.wa_id for user in wa.get_blocked_users()] == [PERSON]
refused(130403, lambda: wa.send_message(PERSON, "still there?"))
unblocked = wa.unblock_users([PERSON])
assert [user.wa_id for user in unblocked.removed_users] == [PERSON], unblocked
assert wa.send_message(PERSON, "there you are").id

print("pywa: files, profile, templates, messages, webhooks and blocked people")
