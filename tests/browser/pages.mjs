// The addresses of all pages, with ids of the demonstration's own. The pages are those of the table of routes: a new one is opened by
// all tests of pages without a line here, unless its address names a record.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

import { eventually } from './stage.mjs';

/** Answers that are no pages: streams, and files. */
const NO_PAGE = /\/(live|file|export|rejected|problems\/\{id\}|thumbnail|messages\.csv|results\.csv|\{file\}|\{rest:\.\*\})$/;
/** Pages that a signed-in person does not see, and those of one node, which only services that share a database have. */
const ELSEWHERE = ['/console/sign-in', '/console/link/{token}', '/console/operator/nodes/{id}'];

const CAMPAIGN = 'The new opening hours: every day from eight to eight';
const SCHEDULED = 'Closed on the first of the year';
/** Who writes the same in each demonstration, and gets nothing by chance. */
const WRITER = '999900000777';
/** The words by which the inbox finds only this person. */
export const SEARCH = `search=${WRITER}`;

/** Fills the demonstration: sends of the first company, one that is finished with failed messages, one that runs, and one that waits
 *  for its time; a webhook to nobody, a segment, a field of contacts, imports, a file, a note and a suppression. */
export async function busy(demo) {
    const { channels: [channel], tags: [everyone] } = demo.said.companies[0];
    const post = async (address, body, type = 'application/json') => {
        const raw = type === 'application/json' ? { body } : { raw: body, 'Content-Type': type };
        const answer = await demo.request('POST', address, raw);
        assert.ok([200, 201, 202, 204, 409].includes(answer.status), `${address} was refused with ${answer.status}: ${JSON.stringify(answer.body)}`);
        return answer.body;
    };
    const send = body => post(`/api/v1/chat/${channel.id}/messages`, { type: 'text', ...body });
    await post('/api/v1/webhooks', { url: 'http://127.0.0.1:1/webhooks', types: ['message.failed', 'send.*'] });
    await post('/api/v1/contacts/segments', { name: 'Everyone in one place', filter: { contact_tag_id: [everyone.id] } });
    await post('/api/v1/contacts/fields', { name: 'Birth date', type: 'date' });
    const file = 'Nome;Celular;E-mail\nMaria;+5511988887777;maria@example.com\nSem;12;\n';
    await post('/api/v1/contacts/imports?file_name=clientes.csv&tags=clientes&start=true', file, 'text/csv');
    await post('/api/v1/contacts/imports?file_name=more.csv', file, 'text/csv');
    await post('/api/v1/media?name=opening-hours.txt', 'From eight to eight', 'application/octet-stream');
    const { data: [contact] } = (await demo.request('GET', '/api/v1/contacts?search=contact7@example.com&limit=1')).body;
    await post(`/api/v1/contacts/${contact.id}/notes`, { text: 'Prefers to be called in the afternoon.' });
    await post('/api/v1/quick-replies', { word: 'hours', text: 'Hi {{contact.first_name|friend}}, we are open from eight to eight.' });
    await post('/api/v1/suppressions', { phone_number: '+5511977776666' });
    const messages = [{ text: 'Is the cake still there?' }, { image: { caption: 'This one' } }];
    for (const message of messages) {
        const body = JSON.stringify({ to: channel.phone_number_id, from: WRITER, name: 'Berta Bauer', ...message });
        const answer = await fetch(`${demo.said.simulator_url}/_sim/write`, { method: 'POST', body });
        assert.ok(answer.ok, await answer.text());
    }
    // Texts go to everybody here, although most people never wrote.
    const rule = JSON.stringify({ service_window: false });
    await fetch(`${demo.said.simulator_url}/_sim/script`, { method: 'POST', body: rule });
    const inAMonth = new Date(Date.now() + 30 * 24 * 3_600_000).toISOString();
    await send({ message: SCHEDULED, contact_tag_id: everyone.id, send_at: inAMonth });
    // So many people that some have read it, and some have not.
    const people = Array.from({ length: 30 }, (_, nth) => `+999 900 000 0${10 + nth}`);
    await send({ message: 'Hello, all of you', phone_number: people });
    await eventually(async () => {
        const { body } = await demo.request('GET', '/api/v1/sends?limit=1');
        return body.data[0]?.state === 'finished';
    });
    await send({ message: CAMPAIGN, contact_tag_id: everyone.id });
}

/** The addresses of the last two steps of a new send, which only the session sees in which the first two were filled in. It becomes a
 *  draft, too. */
async function steps(demo, page) {
    const { channels: [channel], tags: [everyone], templates } = demo.said.companies[0];
    const template = templates.find(({ name }) => name === 'order_update');
    const form = { channel: channel.id, tag: everyone.id, type: 'template', template: template.id, body_1: 'you', body_2: 'A-1' };
    await page.goto(`${demo.url}/console/sends/new?${new URLSearchParams(form)}`);
    const places = [];
    for (const step of ['check', 'when']) {
        await page.locator(`button[name=action][value=${step}]`).click();
        await page.waitForURL(new RegExp(`step=${step}`));
        const { pathname, search } = new URL(page.url());
        places.push(pathname + search);
    }
    return places;
}

/** The page of a program that is connected to this channel, which people do in the console alone. */
async function program(demo, page, channel) {
    const found = page.locator('main tbody a[href^="/console/programs/"]');
    await page.goto(`${demo.url}/console/programs`);
    if (await found.count() === 0) {
        await page.goto(`${demo.url}/console/programs/typebot`);
        await page.locator('select[name=channel]').selectOption(channel);
        await page.locator('form.panel button[type=submit]').click();
        // This page shows the key, once.
        await page.waitForURL(/programs\/[0-9a-f-]{36}$/);
        await page.goto(`${demo.url}/console/programs`);
    }
    return [await found.first().getAttribute('href')];
}

/** The pages with one record each, by their routes: their addresses. */
function records(demo) {
    const [{ channels }] = demo.said.companies;
    const listed = async address => (await demo.request('GET', address)).body.data;
    const each = (place, address) => async () => (await listed(address)).map(({ id }) => `${place}/${id}`);
    // A running send, a finished one, and one that waits for its time.
    const sends = () => listed('/api/v1/sends?limit=3');
    return {
        '/console/channels/{id}': () => channels.map(({ id }) => `/console/channels/${id}`),
        '/console/channels/{id}/profile': () => [`/console/channels/${channels[0].id}/profile`],
        '/console/inbox/{id}': each('/console/inbox', `/api/v1/conversations?${SEARCH}`),
        '/console/quick-replies/{id}': each('/console/quick-replies', '/api/v1/quick-replies'),
        '/console/programs/{id}': page => program(demo, page, channels[0].id),
        '/console/templates/library/{name}': () => ['/console/templates/library/payment_overdue_1'],
        '/console/templates/{id}': () => [`/console/templates/${demo.said.companies[0].templates[0].id}`],
        '/console/webhooks/{id}': each('/console/webhooks', '/api/v1/webhooks'),
        '/console/sends/{id}': each('/console/sends', '/api/v1/sends?limit=3'),
        '/console/sends/{id}/start': async () => {
            const waiting = (await sends()).filter(({ send_at: start }) => start);
            return waiting.map(({ id }) => `/console/sends/${id}/start`);
        },
        '/console/sends/{id}/again': async () => [`/console/sends/${(await sends())[1].id}/again`],
        '/console/sends/{id}/messages/{ordinal}': async () => (await sends()).slice(0, 2).map(({ id }) => `/console/sends/${id}/messages/0`),
        '/console/contacts/tags/{id}': each('/console/contacts/tags', '/api/v1/contacts/tags?limit=1'),
        '/console/contacts/segments/{id}': each('/console/contacts/segments', '/api/v1/contacts/segments'),
        '/console/contacts/import/{id}': each('/console/contacts/import', '/api/v1/contacts/imports?limit=2'),
        '/console/contacts/fields/{id}': each('/console/contacts/fields', '/api/v1/contacts/fields'),
        '/console/contacts/{id}': each('/console/contacts', '/api/v1/contacts?search=contact7@example.com&limit=1'),
        '/console/operator/companies/{id}': () => [`/console/operator/companies/${demo.said.companies[0].id}`],
        '/console/operator/users/{id}': async () => {
            const users = await demo.command('user', 'list');
            const { id } = users.find(({ email }) => email === demo.said.console.owner.email);
            return [`/console/operator/users/${id}`];
        },
        '/console/operator/channels/{id}': () => [`/console/operator/channels/${channels[0].id}`],
        '/console/operator/tiers/{name}': () => ['/console/operator/tiers/standard'],
    };
}

/** The routes of pages that a person with this role opens. */
async function routes(role) {
    const table = await readFile(path.join(process.env.ROOT, 'src/console/mod.rs'), 'utf8');
    const all = [...table.matchAll(/^ +GET "(\/console[^"]*)" => [^,]+, (\w+);/gm)].map(([, route, access]) => ({ route, access }));
    assert.ok(all.length > 40, 'the table of routes is in another place');
    const pages = all.filter(({ route }) => !NO_PAGE.test(route) && !ELSEWHERE.includes(route));
    return pages.filter(({ access }) => (access === 'Operator') === (role === 'operator')).map(({ route }) => route);
}

/** The pages that a person with this role may open, and only an operator if it is one. The person is signed in in the window. */
export async function addresses(demo, role, page) {
    const [{ channels: [channel] }] = demo.said.companies;
    const known = records(demo);
    const pages = [];
    for (const route of await routes(role)) {
        if (!route.includes('{')) pages.push(route);
        else if (known[route]) pages.push(...await known[route](page));
        else assert.fail(`pages.mjs does not say which record shows ${route}`);
    }
    if (role === 'operator') return pages;
    const { body: { data: segments } } = await demo.request('GET', '/api/v1/contacts/segments');
    const cards = `/console/sends/new?type=template&channel=${channel.id}`;
    return [...pages, cards, ...await steps(demo, page), ...segments.map(({ id }) => `/console/contacts?segment=${id}`)];
}

/** Pages with other parts than those, for the pictures that people look at. */
export async function further(demo, role) {
    if (role === 'operator') return ['/console/companies', '/console/nothing'];
    const { body: { data: [tag] } } = await demo.request('GET', '/api/v1/contacts/tags?limit=1');
    const { channels: [channel], templates } = demo.said.companies[0];
    const template = templates.find(({ name }) => name === 'order_update');
    return [
        `/console/sends/new?type=template&channel=${channel.id}&template=${template.id}`, '/console/contacts?search=nobody+at+all',
        `/console/contacts?tag=${tag.id}`, `/console/contacts?not=${tag.id}`, '/console/sends?state=expired',
        '/console/inbox?view=closed&search=nobody',
    ];
}
