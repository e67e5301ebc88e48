// A template is written with a preview that follows, waits until it is reviewed, and goes to a person with their own words.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { assertAccessible, assertQuiet, Browser, Demo, eventually, untilFinished } from './stage.mjs';

let demo, browser;
before(async () => {
    demo = await Demo.start({ contacts: 40 });
    browser = await Browser.start();
});
after(async () => {
    await browser?.stop();
    await demo?.stop();
});

const NAME = 'order_at_the_desk';

test('a template is made with a preview, and sent once it is approved', async () => {
    const person = await browser.signedIn(demo);
    const { page } = person;
    const field = label => page.getByLabel(label, { exact: true });
    const press = name => page.getByRole('button', { name, exact: true }).first().click();
    await page.goto(`${demo.url}/console/templates`);
    await page.getByRole('link', { name: 'New template', exact: true }).click();
    await page.getByText('Examples to begin with', { exact: true }).click();
    await page.getByRole('link', { name: 'An order is ready', exact: true }).click();
    await page.waitForURL(/from=order_ready/);
    const account = field('Business account');
    const waba = await account.inputValue();
    const shown = await account.locator('option:checked').textContent();
    const channel = demo.said.companies[0].channels.find(({ name }) => shown.startsWith(`${name} (`));
    const preview = page.locator('#preview');
    await preview.getByText(/your order/).waitFor();
    await field('Footer').fill('See you at the desk');
    await preview.getByText('See you at the desk').waitFor();
    await assertAccessible(page, page.url());

    // What is wrong is said at its field, and what was typed stays.
    await field('Name').fill('Order ready');
    await press('Create');
    await page.getByText('Write 1 to 512 small letters').first().waitFor();
    assert.equal(await field('Footer').inputValue(), 'See you at the desk');
    await field('Name').fill(NAME);
    await press('Create');
    await page.getByText('Meta has the template and reviews it.').waitFor();
    await page.getByText('in review', { exact: true }).first().waitFor();
    await assertAccessible(page, page.url());
    const place = page.url();

    // It cannot be chosen before it is approved.
    const send = `${demo.url}/console/sends/new?channel=${channel.id}&type=template`;
    const choose = page.getByRole('button', { name: `Choose ${NAME} en`, exact: true });
    await page.goto(send);
    await field('Type').waitFor();
    assert.equal(await choose.count(), 0, 'it is not approved yet');
    const judged = { waba_id: waba, name: NAME, language: 'en', status: 'APPROVED' };
    const script = await fetch(`${demo.said.simulator_url}/_sim/script`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ template: judged }),
    });
    assert.ok(script.ok, await script.text());
    await page.goto(`${demo.url}/console/templates`);
    await press('Sync');
    await page.goto(place);
    await eventually(async () => (await page.getByText('approved', { exact: true }).count()) || (await page.reload(), 0));
    await assertAccessible(page, place);

    await page.goto(send);
    await choose.click();
    await field('Text 1 – shown where {{1}} stands').fill('Ana');
    await field('Text 2 – shown where {{2}} stands').fill('A-1042');
    await field('Text 3 – shown where {{3}} stands').fill('the desk');
    await preview.getByText('your order A-1042 is ready', { exact: false }).waitFor();
    await page.getByRole('button', { name: 'Back', exact: true }).click();
    await field('Numbers').fill('+999 900 000 001');
    await press('Go on');
    await press('Check');
    await page.getByText('1 recipient').first().waitFor();
    await press('Go on');
    await press('Send');
    await page.waitForURL(/\/console\/sends\/[0-9a-f-]{36}$/);
    await untilFinished(page, demo);
    const taken = await fetch(`${demo.said.simulator_url}/_sim/messages?limit=1000`).then(answer => answer.json());
    const sent = taken.data.filter(({ body }) => body.template?.name === NAME);
    const words = sent.map(({ body }) => body.template.components[0].parameters.map(({ text }) => text));
    assert.deepEqual(words, [['Ana', 'A-1042', 'the desk']]);

    // An archived template is not offered any more.
    await page.goto(place);
    await press('Archive');
    await page.getByText('The template is archived.').waitFor();
    await page.goto(send);
    await field('Type').waitFor();
    assert.equal(await choose.count(), 0, 'it is archived');
    assertQuiet(person, demo);
});
