// whatsapp-api-js: every type of message, files, signs, webhooks and errors.

import assert from "node:assert/strict";
import { WhatsAppAPI } from "whatsapp-api-js";
import {
  ActionButtons, ActionCTA, ActionList, Audio, Body, Button, Contacts, Document, Header, Image, Interactive, Language,
  ListSection, Location, Name, Phone, Reaction, Row, Sticker, Template, Text, Video,
} from "whatsapp-api-js/messages";
import { end, letFail, newest, person, personName, receive, row, sample, target, until, write } from "./suite.mjs";

const { number } = target;

/** The library knows one address only: the provider's. */
const toTarget = (url, options) => fetch(String(url).replace("https://graph.facebook.com", target.base_url), options);
const client = (token) =>
  new WhatsAppAPI({
    token,
    appSecret: target.app_secret,
    webhookVerifyToken: target.verify_token,
    v: target.version,
    ponyfill: { fetch: toTarget },
  });
const whatsapp = client(target.key);

const idOf = (answer) => {
  assert.ok(answer.messages?.[0].id.startsWith("wamid."), JSON.stringify(answer));
  return answer.messages[0].id;
};
const refused = (code, answer) => assert.equal(answer.error?.code, code, JSON.stringify(answer));

const upload = async ({ name, type, bytes }) => {
  const form = new FormData();
  form.set("file", new Blob([bytes], { type }), name);
  const { id, error } = await whatsapp.uploadMedia(number, form);
  assert.ok(id, JSON.stringify(error));
  return id;
};

const files = await row("files", async () => {
  const ids = {};
  for (const kind of ["image", "video", "audio", "document", "sticker"]) ids[kind] = await upload(await sample(kind));
  const { bytes, type } = await sample("image");
  const described = await whatsapp.retrieveMedia(ids.image, number);
  assert.deepEqual([described.mime_type, Number(described.file_size)], [type, bytes.length]);
  const fetched = await whatsapp.fetchMedia(described.url);
  assert.ok(Buffer.from(await fetched.arrayBuffer()).equals(bytes));
  return ids;
});
await row("delete a file", async () => {
  const id = await upload({ name: "a.txt", type: "text/plain", bytes: `some text for ${person} of ${target.name}` });
  assert.deepEqual(await whatsapp.deleteMedia(id), { success: true });
  refused(100, await whatsapp.retrieveMedia(id));
});

const statuses = [];
const messages = [];
whatsapp.on.status = (status) => void statuses.push(status);
whatsapp.on.message = (message) => void messages.push(message);
const receiver = await receive({
  challenge: (asked) => whatsapp.get(asked),
  read: (body, signature) => whatsapp.post(JSON.parse(body), body, signature),
});
const status = (id, word) =>
  until(() => statuses.find((status) => status.id === id && status.status === word), `${word} of ${id}`);
const message = (type, has) =>
  until(
    () => messages.find(({ from, message }) => from === person && message.type === type && has(message)),
    `a message of the type ${type}`,
  );

const sent = await row("statuses", async () => {
  const id = idOf(await whatsapp.sendMessage(number, person, new Text("hello"), undefined, "k-1"));
  for (const word of ["sent", "delivered", "read"]) {
    const told = await status(id, word);
    assert.deepEqual(
      [told.phone, told.biz_opaque_callback_data, told.contact.profile?.name !== undefined],
      [person, "k-1", true],
    );
  }
  return { id, provider: await newest() };
});
await row("handshake", () => assert.equal(receiver.handshakes[0]?.["hub.mode"], "subscribe"));
await row("failed message", async () => {
  await letFail();
  const answer = await whatsapp.sendMessage(number, target.failing, new Template("hello_world", new Language("en_US")));
  if (target.is_web && answer.error) return refused(131000, answer);
  const { error } = await status(idOf(answer), "failed");
  assert.ok(error.code > 0 && error.title && error.error_data.details, JSON.stringify(error));
});
const heard = await row("inbound text", async () => {
  await write({ text: "Olá, abrem no domingo?" });
  const told = await message("text", ({ text }) => text.body === "Olá, abrem no domingo?");
  assert.equal(told.contact.profile.name, personName);
  return told;
});
await row("inbound file", async () => {
  await write({ voice: {} });
  const told = await message("audio", () => true);
  const { url } = await whatsapp.retrieveMedia(told.message.audio.id, number);
  const fetched = await whatsapp.fetchMedia(url);
  assert.ok(Buffer.from(await fetched.arrayBuffer()).equals((await sample("audio")).bytes));
});
await row("inbound answer", async () => {
  await write({ text: "Sim!", context: sent.provider });
  assert.equal((await message("text", ({ text }) => text.body === "Sim!")).message.context?.id, sent.id);
});
await row("inbound location", async () => {
  await write({ location: { latitude: -23.5, longitude: -46.5 } });
  assert.equal((await message("location", () => true)).message.location.latitude, -23.5);
});
await row("read mark and typing", async () => {
  assert.deepEqual(await heard.received(), { success: true });
  assert.deepEqual(await heard.received("text"), { success: true });
});

const body = new Body("Will you come?");
const menu = new ActionList("Open", new ListSection("Hot", new Row("tea", "Tea", "green")));
for (const [kind, content] of [
  ["text", () => new Text("*Olá*", true)],
  ["image", () => new Image(files.image, true, "look")],
  ["video", () => new Video(files.video, true, "look")],
  ["audio", () => new Audio(files.audio, true)],
  ["document", () => new Document(files.document, true, "look", "list.pdf")],
  ["sticker", () => new Sticker(files.sticker, true)],
  ["location", () => new Location(-122.42, 37.75, "HQ", "1 Hacker Way")],
  ["contacts", () => new Contacts([new Name("Ana Sol", "Ana"), new Phone("+999900000001", "CELL")])],
  ["reaction", () => new Reaction(heard.message.id, "😀")],
  ["template", () => new Template("hello_world", new Language("en_US"))],
  ["buttons", () => new Interactive(new ActionButtons(new Button("yes", "Yes"), new Button("no", "No")), body)],
  ["list", () => new Interactive(menu, body, new Header("Menu"))],
  ["link", () => new Interactive(new ActionCTA("Open", "https://example.com"), body)],
]) {
  await row(`send ${kind}`, async () => idOf(await whatsapp.sendMessage(number, person, content())));
}
await row("send answer", async () => idOf(await heard.reply(new Text("Oi!"), true)));

await row("error of a message", async () => {
  const unknown = new Template("no_such_template", new Language("en_US"));
  refused(132001, await whatsapp.sendMessage(number, person, unknown));
});
await row("error of a key", async () => {
  refused(190, await client("EXPIRED-key").sendMessage(number, person, new Text("hello")));
});

// What the door does not offer is refused. The library asks for blocked people without a version.
await row(
  "block people",
  async () => {
    const blocked = await whatsapp.blockUser(number, { phone: person });
    if (!target.is_simulator) return refused(100, blocked);
    assert.equal(blocked.block_users?.added_users[0].wa_id, person, JSON.stringify(blocked));
    refused(130403, await whatsapp.sendMessage(number, person, new Text("still there?")));
    const unblocked = await whatsapp.unblockUser(number, { phone: person });
    assert.equal(unblocked.block_users?.removed_users[0].wa_id, person, JSON.stringify(unblocked));
  },
  { offered: target.is_simulator },
);

await receiver.close();
end();
