"""pywa: every type of message, files, templates, signs, webhooks and errors."""

import urllib.parse

import httpx
from pywa import WhatsApp
from pywa.errors import WhatsAppError
from pywa.types import Button, Command, Contact, Industry, MessageStatusType, Section, SectionList, SectionRow, URLButton
from pywa.types.templates import BodyText, Template, TemplateCategory, TemplateLanguage

from suite import NAME, PERSON, Receiver, end, let_fail, newest, row, sample, target, write

TO_TARGET = urllib.parse.urlsplit(target.base_url)


def to_target(request):
    """The library knows one address only: the provider's."""
    if request.url.host == "graph.facebook.com":
        request.url = request.url.copy_with(scheme="http", host=TO_TARGET.hostname, port=TO_TARGET.port)
        request.headers["host"] = TO_TARGET.netloc


def client(key):
    return WhatsApp(
        target.number,
        key,
        session=httpx.Client(event_hooks={"request": [to_target]}, trust_env=False, timeout=30),
        server=None,
        verify_token=target.verify_token,
        waba_id=target.account,
        app_secret=target.app_secret,
        api_version=target.version.removeprefix("v"),
    )


wa = client(target.key)


def refused(code, call):
    try:
        answer = call()
    except WhatsAppError as error:
        assert error.code == code, error
        assert error.message, error
    else:
        raise AssertionError(f"{answer} instead of a refusal with code {code}")


def is_sent(sent):
    assert sent.id.startswith("wamid.") and sent.to == PERSON, sent
    return sent.id


# Files.
@row("files")
def files():
    ids = {}
    for kind in ("image", "video", "audio", "document", "sticker"):
        content, name, mime_type = sample(kind)
        ids[kind] = wa.upload_media(content, mime_type=mime_type, filename=name).id
    content, _, mime_type = sample("image")
    shown = wa.get_media_url(ids["image"])
    assert (shown.mime_type, shown.file_size) == (mime_type, len(content)), shown
    assert wa.get_media_bytes(url=shown.url) == content
    return ids


@row("delete a file")
def _():
    content, name, mime_type = sample("image")
    # The same content is the same file, also for the other targets of the company: this one is another.
    media = wa.upload_media(content + target.name.encode(), mime_type=mime_type, filename=name)
    assert wa.delete_media(media.id)
    refused(100, lambda: wa.get_media_url(media.id))


# The number, its account, its templates.
@row("number and account")
def _():
    number = wa.get_business_phone_number()
    assert (number.id, number.status) == (target.number, "CONNECTED") and number.display_phone_number, number
    assert target.number in [number.id for number in wa.get_business_phone_numbers()]
    account = wa.get_business_account()
    assert account.id == target.account and account.name, account


@row("templates")
def _():
    names = [template.name for template in wa.get_templates()]
    assert "hello_world" in names, names
    made = wa.create_template(
        Template(
            name=f"made_{PERSON}",
            language=TemplateLanguage.ENGLISH_US,
            category=TemplateCategory.UTILITY,
            components=[BodyText("Your order {{1}} has left.", "A-1")],
        )
    )
    shown = wa.get_template(made.id)
    assert (shown.name, shown.language) == (f"made_{PERSON}", TemplateLanguage.ENGLISH_US), shown
    assert f"made_{PERSON}" in [template.name for template in wa.get_templates()]
    assert wa.delete_template(f"made_{PERSON}")


@row("profile")
def _():
    assert wa.get_business_profile() is not None


# Messages and their webhooks.
statuses, messages, choices = [], [], []
wa.on_message_status()(lambda _, status: statuses.append(status))
wa.on_message()(lambda _, message: messages.append(message))
wa.on_callback_button()(lambda _, choice: choices.append(choice))


def read(body, signature):
    assert wa.webhook_update_validator(body, signature) is None
    answer = wa.webhook_update_handler(body)
    assert answer[1] == 200, answer


receiver = Receiver(lambda asked: wa.webhook_challenge_handler(asked["hub.verify_token"], asked["hub.challenge"]))


def hear(found, among):
    return receiver.hear(read, lambda: next((told for told in among if found(told)), None))


@row("statuses")
def sent():
    sent = wa.send_message(PERSON, "Will you come?", tracker="k-1")
    for word in (MessageStatusType.SENT, MessageStatusType.DELIVERED, MessageStatusType.READ):
        status = hear(lambda status: (status.id, status.status) == (is_sent(sent), word), statuses)
        assert (status.from_user.wa_id, status.tracker) == (PERSON, "k-1"), status
    return sent.id, newest()


@row("handshake")
def _():
    [(asked, status)] = receiver.handshakes
    assert (asked["hub.mode"], status) == ("subscribe", 200), asked


@row("failed message")
def _():
    let_fail()
    try:
        failing = wa.send_template(target.failing, "hello_world", TemplateLanguage.ENGLISH_US, [])
    except WhatsAppError as error:
        assert target.is_web and error.code == 131000, error
        return
    failed = hear(lambda status: (status.id, status.status) == (failing.id, MessageStatusType.FAILED), statuses)
    assert failed.error.code > 0 and failed.error.message, failed


@row("inbound text")
def heard():
    write(text="Olá, abrem no domingo?")
    message = hear(lambda message: message.text == "Olá, abrem no domingo?", messages)
    assert (message.from_user.wa_id, message.from_user.name) == (PERSON, NAME), message
    return message


@row("inbound file")
def _():
    write(image={"caption": "Este?"})
    message = hear(lambda message: message.caption == "Este?", messages)
    content, _, mime_type = sample("image")
    assert message.image.mime_type == mime_type, message
    assert message.image.get_bytes() == content


@row("inbound answer")
def _():
    write(text="Sim!", context=sent[1])
    message = hear(lambda message: message.text == "Sim!", messages)
    assert message.reply_to_message.id == sent[0], message


@row("inbound location")
def _():
    write(location={"latitude": -23.5, "longitude": -46.5, "name": "Padaria Sol"})
    message = hear(lambda message: message.location, messages)
    assert (message.location.latitude, message.location.name) == (-23.5, "Padaria Sol"), message


@row("read mark and typing")
def _():
    assert heard.mark_as_read()
    assert heard.indicate_typing()


# A message of each type.
for kind, send in {
    "text": lambda: wa.send_message(PERSON, "*Olá*", preview_url=True),
    "image": lambda: wa.send_image(PERSON, files["image"], caption="look"),
    "video": lambda: wa.send_video(PERSON, files["video"], caption="look"),
    "audio": lambda: wa.send_audio(PERSON, files["audio"]),
    "document": lambda: wa.send_document(PERSON, files["document"], filename="list.pdf", caption="look"),
    "sticker": lambda: wa.send_sticker(PERSON, files["sticker"]),
    "location": lambda: wa.send_location(PERSON, 37.75, -122.42, "HQ", "1 Hacker Way"),
    "contacts": lambda: wa.send_contact(
        PERSON, Contact(name=Contact.Name(formatted_name="Ana Sol", first_name="Ana"), phones=[Contact.Phone(phone="+999900000001")])
    ),
    "reaction": lambda: wa.send_reaction(PERSON, "😀", heard.id),
    "template": lambda: wa.send_template(PERSON, "hello_world", TemplateLanguage.ENGLISH_US, []),
    "buttons": lambda: wa.send_message(PERSON, "Will you come?", buttons=[Button("Yes", callback_data="yes")]),
    "list": lambda: wa.send_message(
        PERSON, "Menu", buttons=SectionList("Open", [Section("Hot", [SectionRow("Tea", callback_data="tea", description="green")])])
    ),
    "link": lambda: wa.send_message(PERSON, "See", buttons=URLButton("Open", "https://example.com")),
    "answer": lambda: wa.send_message(PERSON, "Oi!", reply_to_message_id=heard.id),
}.items():
    row(f"send {kind}")(lambda: is_sent(send()))


# Errors.
@row("error of a message")
def _():
    refused(132001, lambda: wa.send_template(PERSON, "no_such_template", TemplateLanguage.ENGLISH_US, []))


@row("error of a key")
def _():
    refused(190, lambda: client("EXPIRED-key").send_message(PERSON, "hello"))


@row("own callback")
def _():
    assert wa.override_phone_callback_url(receiver.url, target.verify_token)
    shown = wa.get_business_phone_number().webhook_configuration
    assert shown["phone_number"] == receiver.url, shown
    assert wa.delete_phone_callback_url()


# What the door does not offer is refused.
@row("greetings", offered=target.is_simulator)
def _():
    def greet():
        return wa.update_conversational_automation(
            ice_breakers=["Where is my order?"], commands=[Command(name="menu", description="What there is")]
        )

    if not target.is_simulator:
        return refused(100, greet)
    assert greet()
    greetings = wa.get_business_phone_number().conversational_automation
    assert (list(greetings.ice_breakers), greetings.commands[0].name) == (["Where is my order?"], "menu"), greetings


@row("change the profile", offered=not target.is_web)
def _():
    def change():
        return wa.update_business_profile(
            about="Pigeons", email="a@example.com", industry=Industry.RETAIL, websites=["https://example.com"]
        )

    if target.is_web:
        return refused(131051, change)
    assert change()
    profile = wa.get_business_profile()
    shown = (profile.about, profile.email, profile.industry, list(profile.websites))
    assert shown == ("Pigeons", "a@example.com", Industry.RETAIL, ["https://example.com"]), profile


@row("block people", offered=target.is_simulator)
def _():
    if not target.is_simulator:
        return refused(100, lambda: wa.block_users([PERSON]))
    blocked = wa.block_users([PERSON])
    assert [user.wa_id for user in blocked.added_users] == [PERSON], blocked
    assert [user.wa_id for user in wa.get_blocked_users()] == [PERSON]
    refused(130403, lambda: wa.send_message(PERSON, "still there?"))
    unblocked = wa.unblock_users([PERSON])
    assert [user.wa_id for user in unblocked.removed_users] == [PERSON], unblocked


receiver.close()
end()
