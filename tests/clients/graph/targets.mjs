// Writes what the suites need to know of each target: the simulator, the door on a business account, and the door on a web
// session. Arguments: the simulator's address, the report of a demonstration whose phone is linked, a key that is bound to the
// business account's channel, one that is bound to the web session, and the directory.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const [simulator, said, businessKey, webKey, directory] = process.argv.slice(2);
const demo = JSON.parse(said);
const [company] = demo.companies;
const files = fileURLToPath(new URL("../../../crates/simulator/src/written/files", import.meta.url));
// Programs of another version make the same requests.
const version = "v26.0";
const app_secret = "0123456789abcdef0123456789abcdef";
const verify_token = "open sesame";

const ask = async (method, url, body, key) => {
  const headers = { "content-type": "application/json", ...(key && { authorization: `Bearer ${key}` }) };
  const answer = await fetch(url, { method, headers, body: body && JSON.stringify(body) });
  const text = await answer.text();
  assert.ok(answer.ok, `${method} ${url}: ${text}`);
  return text && JSON.parse(text);
};

const digits = (number) => number.replaceAll(/\D/g, "");
const write = (name, target) => {
  const kinds = { is_simulator: name === "simulator", is_web: name === "web" };
  // On a web session, messages to numbers that end like this one fail by themselves.
  const common = { name, ...kinds, version, files, app_secret, verify_token, failing: "999900000479" };
  return writeFile(`${directory}/${name}.json`, JSON.stringify({ ...common, ...target }));
};

// The simulator creates an unknown number, in an account that has the usual templates.
const number = "106540352242922";
const { display_phone_number } = await ask("GET", `${simulator}/${version}/${number}`, undefined, "T-1");
await write("simulator", {
  base_url: simulator,
  simulator,
  key: "T-1",
  number,
  account: "100000000000001",
  display: digits(display_phone_number),
  write_to: number,
  // Programs look at the first status of a webhook alone.
  webhook: {
    url: `${simulator}/_sim/webhook`,
    headers: {},
    body: {
      app_secret,
      verify_token,
      phone_number_id: number,
      batch: 1,
      delivered_after: "10ms",
      read_after: "10ms",
      read_probability: 1,
    },
  },
});

/** The only number that a key can see. */
const door = async (name, key, channel) => {
  const base = `${demo.base_url}/${version}`;
  const accounts = (await ask("GET", `${base}/me/whatsapp_business_accounts`, undefined, key)).data;
  assert.equal(accounts.length, 1);
  const numbers = (await ask("GET", `${base}/${accounts[0].id}/phone_numbers`, undefined, key)).data;
  assert.equal(numbers.length, 1);
  const body = { shape: "graph", profile: "meta", channel_ids: [channel.id], secret: app_secret, verify_token };
  await write(name, {
    base_url: demo.base_url,
    simulator: demo.simulator_url,
    key,
    number: numbers[0].id,
    account: accounts[0].id,
    display: digits(numbers[0].display_phone_number),
    write_to: channel.phone_number_id ?? channel.id,
    webhook: {
      url: `${demo.base_url}/api/v1/webhooks`,
      headers: { authorization: `Bearer ${company.api_key}` },
      body,
    },
  });
  return `${base}/${accounts[0].id}`;
};

const sales = company.channels.find(({ name }) => name === "Sales");
await door("business", businessKey, sales);
// Every message is read, and nobody answers by chance. What fails later does so after the door has answered; states that come
// together become one.
await ask("POST", `${demo.simulator_url}/_sim/webhook`, {
  url: `${demo.base_url}/hooks/meta/${sales.id}`,
  app_secret: "demo-app-secret",
  phone_number_id: sales.phone_number_id,
  sent_after: "1s",
  delivered_after: "500ms",
  read_after: "500ms",
  read_probability: 1,
});

const phone = company.channels.find(({ name }) => name === "demo phone");
const account = await door("web", webKey, phone);
const hello = { name: "hello_world", language: "en_US", category: "UTILITY" };
const components = [{ type: "BODY", text: "Hello world." }];
await ask("POST", `${account}/message_templates`, { ...hello, components }, webKey);
