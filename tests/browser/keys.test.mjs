// API keys: made in the page, used by a real HTTP client, refused without the scope, revoked.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';

import { assertQuiet, Browser, Demo, eventually } from './stage.mjs';

let demo, browser;
before(async () => {
    demo = await Demo.start();
    browser = await Browser.start();
});
after(async () => {
    await browser?.stop();
    await demo?.stop();
});

test('a key made in the page opens what its scopes say, and its curl works as pasted', async () => {
    const person = await browser.signedIn(demo);
    const { page } = person;
    await page.goto(`${demo.url}/console/keys`);
    await page.getByLabel('Name').fill('Shop');
    await page.getByRole('button', { name: 'Create key' }).click();
    const key = (await page.getByLabel('New key').textContent()).trim();
    assert.equal((await demo.request('GET', '/api/v1/contacts', { key })).status, 200);

    const curl = await page.locator('pre', { hasText: 'curl' }).first().textContent();
    const { stdout } = await promisify(execFile)('bash', ['-c', `${curl} -s -o /dev/null -w '%{http_code}'`]);
    assert.match(stdout, /^20[02]$/);

    await page.reload();
    assert.equal(await page.getByText(key).count(), 0, 'a key is shown once');
    assertQuiet(person, demo);
});

test('without the scope a key is refused, and a revoked key opens nothing', async () => {
    const person = await browser.signedIn(demo);
    const { page } = person;
    await page.goto(`${demo.url}/console/keys`);
    await page.getByLabel('Name').fill('Reader');
    for (const scope of ['send', 'contacts', 'control']) await page.locator(`input[value="${scope}"]`).uncheck();
    await page.getByRole('button', { name: 'Create key' }).click();
    const key = (await page.getByLabel('New key').textContent()).trim();
    assert.equal((await demo.request('GET', '/api/v1/sends', { key })).status, 200);
    const [channel] = demo.said.companies[0].channels;
    const body = { phone_number: '+999 900 000 001', type: 'text', message: 'hi' };
    const refused = await demo.request('POST', `/api/v1/chat/${channel.id}/messages`, { key, body });
    assert.deepEqual([refused.status, refused.body.code], [403, 'insufficient_scope']);

    await page.goto(`${demo.url}/console/keys`);
    const row = page.getByRole('row', { name: /Reader/ });
    await row.getByRole('button', { name: 'Revoke', exact: true }).click();
    await row.getByRole('button', { name: 'Yes: Revoke' }).click();
    await eventually(async () => (await demo.request('GET', '/api/v1/sends', { key })).status === 401);
    assertQuiet(person, demo);
});
