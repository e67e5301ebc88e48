// A send in the browser: checked, sent, watched, paused, and its failed messages sent again.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { assertAccessible, assertQuiet, Browser, Demo, eventually, failing, untilFinished } from './stage.mjs';

let demo, browser, sales;
before(async () => {
    demo = await Demo.start({ contacts: 1_500 });
    browser = await Browser.start();
    sales = demo.said.companies[0].channels[0].name;
});
after(async () => {
    await browser?.stop();
    await demo?.stop();
});

/** Fills the form in, checks it, and sends. */
async function compose(page, fill, { confirm = true } = {}) {
    await page.goto(`${demo.url}/console/sends/new`);
    await page.getByLabel('Channel', { exact: true }).selectOption({ label: sales });
    await fill(page);
    const further = page.getByRole('button', { name: 'Go on' });
    await further.click();
    await page.getByLabel('Type', { exact: true }).selectOption({ label: 'Text' });
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.getByLabel('Message', { exact: true }).fill('Olá! السلام عليكم 👋 <b>not bold</b>');
    const send = page.getByRole('button', { name: 'Send', exact: true });
    assert.ok(!(await send.count()) || (await send.isDisabled()), 'a send is checked before it is sent');
    await page.getByRole('button', { name: 'Check' }).click();
    if (!confirm) return;
    await further.click();
    await send.click();
    await page.waitForURL(/\/console\/sends\/[0-9a-f-]{36}$/);
}

test('a send to a tag is watched to its end', async () => {
    const person = await browser.signedIn(demo);
    const { page } = person;
    await compose(page, async () => {
        await page.getByRole('group', { name: 'Tags' }).getByLabel(/vip/).check();
        await page.locator('#reach').getByText(/people/).waitFor();
    });
    await untilFinished(page, demo);
    await eventually(() => page.getByText(/ of .* messages sent/).count());
    assertQuiet(person, demo);
});

test('the current pace shows a send at once and falls to zero when it ends', async () => {
    const person = await browser.signedIn(demo);
    const { page } = person;
    const { channels: [channel], tags } = demo.said.companies[0];
    const pace = async () => Number.parseFloat(await page.locator('#figures .tile').first().locator('dd').textContent());
    await page.goto(`${demo.url}/console`);
    await eventually(async () => (await pace()) === 0);
    const body = { type: 'text', message: 'hello', contact_tag_id: tags.find(tag => tag.name === 'vip').id };
    assert.equal((await demo.request('POST', `/api/v1/chat/${channel.id}/messages`, { body })).status, 202);
    await eventually(async () => (await pace()) > 0);
    await eventually(async () => (await pace()) === 0, 25_000);
    assertQuiet(person, demo);
});

test('a running send is paused, goes on, and is canceled', async () => {
    const person = await browser.signedIn(demo);
    const { page } = person;
    const { channels: [, channel], tags } = demo.said.companies[0];
    const everyone = tags.find(tag => tag.name === 'everyone');
    const body = { type: 'text', message: 'hello', contact_tag_id: everyone.id };
    // At 80 messages a second several sends keep their channel busy for a minute.
    for (let nth = 0; nth < 4; nth += 1) {
        assert.equal((await demo.request('POST', `/api/v1/chat/${channel.id}/messages`, { body })).status, 202);
    }
    const { body: { data: [last] } } = await demo.request('GET', '/api/v1/sends?limit=1');
    await page.goto(`${demo.url}/console/sends/${last.id}`);
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    const paused = await demo.request('GET', `/api/v1/sends/${last.id}`);
    assert.equal(paused.body.state, 'paused', JSON.stringify(paused.body));
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await page.getByRole('button', { name: 'Cancel', exact: true }).first().click();
    await page.getByRole('button', { name: 'Yes: Cancel' }).click();
    await page.getByText('Canceled').first().waitFor();
    assertQuiet(person, demo);
});

test('failed messages are sent again, after they were shown', async () => {
    await failing(demo, '0002');
    const person = await browser.signedIn(demo);
    const { page } = person;
    await compose(page, () => page.getByLabel('Numbers').fill('+999 900 000 001\n+999 900 000 002, +999 900 000 003'));
    await untilFinished(page, demo);
    await page.reload();
    const first = page.url();
    await page.getByText('Send again to those that failed').first().click();
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByText('1 recipient').first().waitFor();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.waitForURL(url => /\/console\/sends\/[0-9a-f-]{36}$/.test(url.pathname) && String(url) !== first);
    await untilFinished(page, demo);
    assertQuiet(person, demo);
});

test('one message goes through a linked phone, and its page follows it', async () => {
    const phone = demo.said.companies[0].channels.find(channel => channel.name === 'demo phone');
    const pairing = `/api/v1/web-chat/${phone.id}/pairing`;
    const person = await browser.signedIn(demo);
    const { page } = person;
    await page.goto(`${demo.url}/console/channels/${phone.id}`);
    await page.getByLabel('I accept the risk, and the company can afford to lose this number.').check();
    await page.getByRole('button', { name: 'Pair', exact: true }).click();
    const played = page.getByText('Use the played phone of this demonstration');
    await played.waitFor();
    const [phonePage] = await Promise.all([person.context.waitForEvent('page'), played.click()]);
    await phonePage.getByRole('button', { name: 'Scan', exact: true }).click();
    await eventually(async () => (await demo.request('GET', pairing)).body.status === 'connected');
    await phonePage.close();

    await page.goto(`${demo.url}/console/sends/new?channel=${phone.id}`);
    await page.getByLabel('Number', { exact: true }).fill('+999 900 000 001');
    await assertAccessible(page, page.url());
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByLabel('Message', { exact: true }).fill('Olá <b>Maria</b> 👋');
    const send = page.getByRole('button', { name: 'Send', exact: true });
    assert.equal(await send.count(), 0, 'a message is checked before it is sent');
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByText('Goes to').waitFor();
    await page.getByRole('button', { name: 'Go on' }).click();
    await send.click();
    await page.waitForURL(/\/console\/sends\/[0-9a-f-]{36}$/);
    await untilFinished(page, demo);
    await demo.request('DELETE', pairing);
    assertQuiet(person, demo);
});

test('results are downloaded as CSV', async () => {
    const person = await browser.signedIn(demo);
    const { page } = person;
    const { body: { data: [last] } } = await demo.request('GET', '/api/v1/sends?limit=1');
    await page.goto(`${demo.url}/console/sends/${last.id}`);
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByText('Results as CSV').click()]);
    assert.match(download.suggestedFilename(), /\.csv$/);
});
