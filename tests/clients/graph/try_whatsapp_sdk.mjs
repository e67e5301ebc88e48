// Meta's own SDK: the types of messages that it has, signs, webhooks and errors. It has no files and no templates to list.

import assert from "node:assert/strict";
import https from "node:https";
import { createRequire } from "node:module";
import net from "node:net";
import tls from "node:tls";
import { aim, end, letFail, newest, person, personName, row, sample, target, until, write } from "./suite.mjs";

// The SDK takes a host as its base, and only port 443 with TLS: connections to this host go to the target without TLS.
const HOST = "door.invalid";
const place = new URL(target.base_url);
https.Agent.prototype.createConnection = (options, connected) => {
  assert.equal(options.host, HOST);
  const socket = net.connect({ host: place.hostname, port: Number(place.port) }, () => socket.emit("secureConnect"));
  socket.once("secureConnect", () => connected?.(null, socket));
  return socket;
};
// It listens at a port that is fixed beforehand, and on every interface: here at a free one, on this machine alone.
let listening;
const { listen } = net.Server.prototype;
net.Server.prototype.listen = function () {
  listening = new Promise((heard) => this.once("listening", () => heard(this.address().port)));
  return listen.call(this, 0, "127.0.0.1");
};
// It joins the pieces of a webhook as texts, and then gives the text to `Buffer.concat`, which takes pieces alone.
const { concat } = Buffer;
Buffer.concat = (pieces, ...rest) => (typeof pieces === "string" ? Buffer.from(pieces) : concat(pieces, ...rest));

Object.assign(process.env, {
  NODE_ENV: "production",
  WA_BASE_URL: HOST,
  WA_PHONE_NUMBER_ID: target.number,
  WA_BUSINESS_ACCOUNT_ID: target.account,
  CLOUD_API_VERSION: target.version,
  CLOUD_API_ACCESS_TOKEN: target.key,
  M4D_APP_ID: "1",
  M4D_APP_SECRET: target.app_secret,
  WEBHOOK_ENDPOINT: "hook",
  WEBHOOK_VERIFICATION_TOKEN: target.verify_token,
});
const WhatsApp = createRequire(import.meta.url)("whatsapp");
const whatsapp = new WhatsApp();

const answered = async (promise) => {
  const response = await promise;
  return { status: response.statusCode(), body: await response.responseBodyToJSON() };
};
const idOf = async (promise) => {
  const { status, body } = await answered(promise);
  assert.equal(status, 200, JSON.stringify(body));
  assert.ok(body.messages[0].id.startsWith("wamid."), JSON.stringify(body));
  return body.messages[0].id;
};

const statuses = [];
const messages = [];
whatsapp.webhooks.start((status, _headers, body, response, error) => {
  if (error) return console.error(`${status}: ${error}`);
  response.writeHead(status).end();
  for (const { changes } of body.entry) {
    for (const { value } of changes) {
      statuses.push(...(value.statuses ?? []));
      messages.push(...(value.messages ?? []).map((message) => ({ message, contact: value.contacts[0] })));
    }
  }
});
const ended = await aim(`http://127.0.0.1:${await listening}/hook`);
const status = (id, word) =>
  until(() => statuses.find((status) => status.id === id && status.status === word), `${word} of ${id}`);
const message = (type, has = () => true) =>
  until(
    () => messages.find(({ message }) => message.from === person && message.type === type && has(message)),
    `a message of the type ${type}`,
  );
const to = Number(person);

const sent = await row("statuses", async () => {
  const id = await idOf(whatsapp.messages.text({ body: "hello" }, to));
  for (const word of ["sent", "delivered", "read"]) assert.equal((await status(id, word)).recipient_id, person);
  return { id, provider: await newest() };
});
await row("failed message", async () => {
  await letFail();
  const template = { name: "hello_world", language: { code: "en_US", policy: "deterministic" } };
  const { body } = await answered(whatsapp.messages.template(template, Number(target.failing)));
  if (target.is_web && body.error) return assert.equal(body.error.code, 131000);
  const [error] = (await status(body.messages[0].id, "failed")).errors;
  assert.ok(error.code > 0 && error.title, JSON.stringify(error));
});
const heard = await row("inbound text", async () => {
  await write({ text: "Olá!" });
  const { message: told, contact } = await message("text", ({ text }) => text.body === "Olá!");
  assert.deepEqual([contact.wa_id, contact.profile.name], [person, personName]);
  return told.id;
});
await row("inbound file", async () => {
  await write({ sticker: {} });
  assert.ok((await message("sticker")).message.sticker.id);
});
await row("inbound answer", async () => {
  await write({ text: "Sim!", context: sent.provider });
  assert.equal((await message("text", ({ text }) => text.body === "Sim!")).message.context?.id, sent.id);
});
await row("read mark and typing", async () => {
  const { body } = await answered(whatsapp.messages.status({ status: "read", message_id: heard }));
  assert.deepEqual(body, { success: true });
});

// The SDK sends files by ids, and has no way to upload them.
const upload = async (kind) => {
  const { name, type, bytes } = await sample(kind);
  const form = new FormData();
  form.set("messaging_product", "whatsapp");
  form.set("file", new Blob([bytes], { type }), name);
  const headers = { authorization: `Bearer ${target.key}` };
  const path = `${target.base_url}/${target.version}/${target.number}/media`;
  return (await (await fetch(path, { method: "POST", headers, body: form })).json()).id;
};
const buttons = { buttons: [{ type: "reply", reply: { id: "yes", title: "Yes" } }] };
const menu = { button: "Open", sections: [{ title: "Hot", rows: [{ id: "tea", title: "Tea", description: "green" }] }] };
const contact = { name: { formatted_name: "Ana Sol", first_name: "Ana" }, phones: [{ phone: "+999900000001", type: "CELL" }] };
const { messages: send } = whatsapp;
for (const [kind, sends] of [
  ["text", () => send.text({ body: "*Olá*", preview_url: true }, to)],
  ["image", async () => send.image({ id: await upload("image"), caption: "look" }, to)],
  ["video", async () => send.video({ id: await upload("video"), caption: "look" }, to)],
  ["audio", async () => send.audio({ id: await upload("audio") }, to)],
  ["document", async () => send.document({ id: await upload("document"), caption: "look", filename: "list.pdf" }, to)],
  ["sticker", async () => send.sticker({ id: await upload("sticker") }, to)],
  ["location", () => send.location({ latitude: 37.75, longitude: -122.42, name: "HQ", address: "1 Hacker Way" }, to)],
  ["contacts", () => send.contacts([contact], to)],
  ["template", () => send.template({ name: "hello_world", language: { code: "en_US", policy: "deterministic" } }, to)],
  ["buttons", () => send.interactive({ type: "button", body: { text: "Will you come?" }, action: buttons }, to)],
  ["list", () => send.interactive({ type: "list", body: { text: "Menu" }, action: menu }, to)],
  ["answer", () => send.text({ body: "Oi!" }, to, heard)],
]) {
  await row(`send ${kind}`, () => idOf(sends()));
}

await row("error of a message", async () => {
  const unknown = { name: "no_such_template", language: { code: "en_US", policy: "deterministic" } };
  assert.equal((await answered(send.template(unknown, to))).body.error.code, 132001);
});
await row("error of a key", async () => {
  whatsapp.updateAccessToken("EXPIRED-key");
  process.env.CLOUD_API_ACCESS_TOKEN = "EXPIRED-key";
  const { status, body } = await answered(new WhatsApp().messages.text({ body: "hello" }, to));
  assert.deepEqual([status, body.error.code], [401, 190]);
});

await ended();
end();
