// @kapso/whatsapp-cloud-api: every type of message, files, templates, signs, webhooks and errors.

import assert from "node:assert/strict";
import { GraphApiError, WhatsAppClient } from "@kapso/whatsapp-cloud-api";
import { normalizeWebhook, verifySignature } from "@kapso/whatsapp-cloud-api/server";
import { end, letFail, newest, person, personName, receive, row, sample, target, until, write } from "./suite.mjs";

const { account: businessAccountId, base_url: baseUrl, number: phoneNumberId, version: graphVersion } = target;
const client = (accessToken) => new WhatsAppClient({ accessToken, baseUrl, graphVersion });
const kapso = client(target.key);
const to = { phoneNumberId, to: person };

const idOf = ({ contacts, messages }) => {
  assert.ok(messages[0].id.startsWith("wamid.") && contacts[0].waId === person, JSON.stringify({ contacts, messages }));
  return messages[0].id;
};
const refused = (code, promise) =>
  assert.rejects(promise, (error) => {
    assert.ok(error instanceof GraphApiError, String(error));
    assert.equal(error.code, code, JSON.stringify(error));
    return true;
  });

const upload = async (kind) => {
  const { name, type, bytes } = await sample(kind);
  return (await kapso.media.upload({ phoneNumberId, type, file: new Blob([bytes], { type }), fileName: name })).id;
};
const files = await row("files", async () => {
  const ids = {};
  for (const kind of ["image", "video", "audio", "document", "sticker"]) ids[kind] = await upload(kind);
  const { bytes, type } = await sample("image");
  assert.equal((await kapso.media.get({ mediaId: ids.image, phoneNumberId })).mimeType, type);
  const fetched = await kapso.media.download({ mediaId: ids.image, phoneNumberId, auth: "always" });
  assert.ok(Buffer.from(fetched).equals(bytes));
  return ids;
});
await row("delete a file", async () => {
  const file = new Blob([`some text for ${person} of ${target.name}`], { type: "text/plain" });
  const { id: mediaId } = await kapso.media.upload({ phoneNumberId, type: "text/plain", file, fileName: "a.txt" });
  assert.deepEqual(await kapso.media.delete({ mediaId, phoneNumberId }), { success: true });
  await refused(100, kapso.media.get({ mediaId }));
});

await row("templates", async () => {
  const { data } = await kapso.templates.list({ businessAccountId, limit: 50 });
  assert.ok(data.some(({ name }) => name === "hello_world"), JSON.stringify(data));
  const name = `made_${person}`;
  const components = [{ type: "BODY", text: "Your order has left." }];
  const made = await kapso.templates.create({ businessAccountId, name, language: "en_US", category: "UTILITY", components });
  assert.ok(made.id && made.status, JSON.stringify(made));
  assert.deepEqual(await kapso.templates.delete({ businessAccountId, name }), { success: true });
});
await row("profile", async () => {
  assert.ok((await kapso.phoneNumbers.businessProfile.get({ phoneNumberId })).data.length);
});

const statuses = [];
const messages = [];
const receiver = await receive({
  challenge: (asked) => asked["hub.challenge"],
  read: (body, signatureHeader) => {
    assert.ok(verifySignature({ appSecret: target.app_secret, rawBody: body, signatureHeader }));
    const told = normalizeWebhook(JSON.parse(body));
    assert.equal(told.phoneNumberId, phoneNumberId);
    statuses.push(...told.statuses);
    messages.push(...told.messages.map((message) => ({ message, contact: told.contacts[0] })));
  },
});
const status = (id, word) =>
  until(() => statuses.find((status) => status.id === id && status.status === word), `${word} of ${id}`);
const message = (type, has = () => true) =>
  until(
    () => messages.find(({ message }) => message.from === person && message.type === type && has(message)),
    `a message of the type ${type}`,
  );

const sent = await row("statuses", async () => {
  const id = idOf(await kapso.messages.sendText({ ...to, body: "hello", bizOpaqueCallbackData: "k-1" }));
  for (const word of ["sent", "delivered", "read"]) {
    const told = await status(id, word);
    assert.deepEqual([told.recipientId, told.bizOpaqueCallbackData], [person, "k-1"]);
  }
  return { id, provider: await newest() };
});
await row("handshake", () => assert.equal(receiver.handshakes[0]?.["hub.verify_token"], target.verify_token));
await row("failed message", async () => {
  await letFail();
  const template = { name: "hello_world", language: { code: "en_US" } };
  const sends = kapso.messages.sendTemplate({ phoneNumberId, to: target.failing, template });
  const answer = await sends.catch((refusal) => {
    if (!target.is_web || refusal.code !== 131000) throw refusal;
  });
  if (!answer) return;
  const [error] = (await status(answer.messages[0].id, "failed")).errors;
  assert.ok(error.code > 0 && error.title && error.errorData.details, JSON.stringify(error));
});
const heard = await row("inbound text", async () => {
  await write({ text: "Olá!" });
  const { message: told, contact } = await message("text", ({ text }) => text.body === "Olá!");
  assert.deepEqual([contact.waId, contact.profile.name], [person, personName]);
  return told.id;
});
await row("inbound file", async () => {
  await write({ image: { caption: "Este?" } });
  const { image } = (await message("image")).message;
  const fetched = await kapso.media.download({ mediaId: image.id, auth: "always" });
  assert.ok(Buffer.from(fetched).equals((await sample("image")).bytes));
});
await row("inbound answer", async () => {
  await write({ text: "Sim!", context: sent.provider });
  assert.equal((await message("text", ({ text }) => text.body === "Sim!")).message.context?.id, sent.id);
});
await row("inbound location", async () => {
  await write({ location: { latitude: -23.5, longitude: -46.5 } });
  assert.equal((await message("location")).message.location.latitude, -23.5);
});
await row("read mark and typing", async () => {
  assert.deepEqual(await kapso.messages.markRead({ phoneNumberId, messageId: heard }), { success: true });
  const typing = { phoneNumberId, messageId: heard, typingIndicator: { type: "text" } };
  assert.deepEqual(await kapso.messages.markRead(typing), { success: true });
});

const { messages: send } = kapso;
const place = { latitude: 37.75, longitude: -122.42, name: "HQ", address: "1 Hacker Way" };
const contacts = [{ name: { formattedName: "Ana Sol", firstName: "Ana" }, phones: [{ phone: "+999900000001" }] }];
const bodyText = "Will you come?";
const sections = [{ title: "Hot", rows: [{ id: "tea", title: "Tea", description: "green" }] }];
const parameters = { displayText: "Open", url: "https://example.com" };
for (const [kind, sends] of [
  ["text", () => send.sendText({ ...to, body: "*Olá*", previewUrl: true })],
  ["image", () => send.sendImage({ ...to, image: { id: files.image, caption: "look" } })],
  ["video", () => send.sendVideo({ ...to, video: { id: files.video, caption: "look" } })],
  ["audio", () => send.sendAudio({ ...to, audio: { id: files.audio, voice: true } })],
  ["document", () => send.sendDocument({ ...to, document: { id: files.document, filename: "list.pdf" } })],
  ["sticker", () => send.sendSticker({ ...to, sticker: { id: files.sticker } })],
  ["location", () => send.sendLocation({ ...to, location: place })],
  ["contacts", () => send.sendContacts({ ...to, contacts })],
  ["reaction", () => send.sendReaction({ ...to, reaction: { messageId: heard, emoji: "😀" } })],
  ["template", () => send.sendTemplate({ ...to, template: { name: "hello_world", language: { code: "en_US" } } })],
  ["buttons", () => send.sendInteractiveButtons({ ...to, bodyText, buttons: [{ id: "yes", title: "Yes" }] })],
  ["list", () => send.sendInteractiveList({ ...to, bodyText, buttonText: "Open", sections })],
  ["link", () => send.sendInteractiveCtaUrl({ ...to, bodyText, parameters })],
  ["answer", () => send.sendText({ ...to, body: "Oi!", contextMessageId: heard })],
]) {
  await row(`send ${kind}`, async () => idOf(await sends()));
}

await row("error of a message", () => {
  const template = { name: "no_such_template", language: { code: "en_US" } };
  return refused(132001, send.sendTemplate({ ...to, template }));
});
await row("error of a key", () => refused(190, client("EXPIRED-key").messages.sendText({ ...to, body: "hello" })));

await receiver.close();
end();
