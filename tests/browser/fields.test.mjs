// A template with values of each recipient: offered, previewed while a person types, checked, and sent with each recipient's values.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { assertAccessible, assertQuiet, Browser, Demo, eventually } from './stage.mjs';

let demo, browser, channel, template;
before(async () => {
    demo = await Demo.start({ contacts: 40 });
    browser = await Browser.start();
    const [company] = demo.said.companies;
    [channel] = company.channels;
    template = company.templates.find(({ name }) => name === 'order_update');
});
after(async () => {
    await browser?.stop();
    await demo?.stop();
});

test('values of each recipient are previewed and reach each recipient', async () => {
    const person = await browser.signedIn(demo);
    const { page } = person;
    await page.goto(`${demo.url}/console/sends/new?type=template&channel=${channel.id}&template=${template.id}`);
    await page.getByText('A value of each recipient', { exact: true }).click();
    await page.getByRole('button', { name: 'Copy First name' }).click();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.equal(copied, '{{contact.first_name}}');
    const preview = page.locator('#preview');
    await page.getByLabel('Text 1 – shown where {{1}} stands', { exact: true }).fill('{{contact.first_name|friend}}');
    await page.getByLabel('Text 2 – shown where {{2}} stands', { exact: true }).fill('A-1');
    await preview.getByText('example values').waitFor();
    await preview.getByText('Hi Ana, your order A-1').waitFor();
    await assertAccessible(page, page.url());
    // The values stay while the recipients change.
    const further = page.getByRole('button', { name: 'Go on' });
    const back = page.getByRole('button', { name: 'Back', exact: true });
    await back.click();
    await page.getByLabel('Numbers', { exact: true }).fill('+5511988887777');
    await further.click();
    await preview.getByText('who is not a contact').waitFor();
    await preview.getByText('Hi friend, your order A-1').waitFor();
    await back.click();
    await page.getByLabel('Numbers', { exact: true }).fill('');
    await page.getByRole('group', { name: 'Tags' }).getByRole('checkbox').first().check();
    await assertAccessible(page, page.url());
    await further.click();
    await preview.getByText('As the first recipient gets it:').waitFor();
    await page.getByRole('button', { name: 'Check' }).click();
    await further.click();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.waitForURL(/\/console\/sends\/[0-9a-f-]{36}$/);
    await eventually(async () => {
        const { body: { data: [send] } } = await demo.request('GET', '/api/v1/sends?limit=1');
        return send.state === 'finished';
    });
    const taken = await fetch(`${demo.said.simulator_url}/_sim/messages?limit=1000`).then(answer => answer.json());
    const { body: { data: contacts } } = await demo.request('GET', '/api/v1/contacts?limit=100');
    const names = new Map(contacts.map(known => [known.phone_number.replaceAll(/\D/g, ''), known.first_name]));
    const values = taken.data.map(({ to, body }) => [to, body.template.components[0].parameters[0].text]);
    assert.ok(values.length > 1);
    for (const [to, value] of values) assert.equal(value, names.get(to) || 'friend');
    assert.ok(new Set(values.map(([, value]) => value)).size > 1, 'everybody has the same name');
    assertQuiet(person, demo);
});

test('a text that only looks like a value of a recipient is refused beside its field', async () => {
    const person = await browser.signedIn(demo);
    const { page } = person;
    await page.goto(`${demo.url}/console/sends/new?type=template&channel=${channel.id}&template=${template.id}`);
    await page.getByLabel('Text 1 – shown where {{1}} stands', { exact: true }).fill('{{first_name}}');
    await page.getByLabel('Text 2 – shown where {{2}} stands', { exact: true }).fill('A-1');
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByText('Two braces begin a value of each recipient').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Send', exact: true }).count(), 0);
    assertQuiet(person, demo);
});
