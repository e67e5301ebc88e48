// Webhooks: added in the page, tested with a receiver on this machine, disabled, enabled and deleted.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';

import { assertQuiet, Browser, Demo } from './stage.mjs';

let demo, browser, receiver;
/** The tests that the receiver got. Events of the demonstration come, too. */
const tests = [];
before(async () => {
    receiver = createServer(async (request, response) => {
        let body = '';
        for await (const piece of request) body += piece;
        const isTest = JSON.parse(body).id.startsWith('example.');
        if (isTest) tests.push({ headers: request.headers, body });
        response.writeHead(isTest && tests.length > 1 ? 503 : 200).end('thank you');
    });
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    demo = await Demo.start();
    browser = await Browser.start();
});
after(async () => {
    await browser?.stop();
    await demo?.stop();
    receiver?.close();
    receiver?.closeAllConnections();
});

/** The signature of a request, as the Standard Webhooks specification says. */
function signature(secret, { headers, body }) {
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
    return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
}

test('a webhook is added, tested, disabled, enabled and deleted in the page', async () => {
    const person = await browser.signedIn(demo);
    const { page } = person;
    // The company has the endpoint of the demonstration's receiver.
    const endpoints = async () => (await demo.request('GET', '/api/v1/webhooks')).body.data.map(({ id }) => id);
    const present = await endpoints();
    await page.goto(`${demo.url}/console/webhooks`);
    await page.getByRole('link', { name: 'Add webhook' }).click();
    assert.ok(await page.getByRole('checkbox', { name: /^Somebody wrote to you/ }).isChecked());
    assert.ok(!await page.getByRole('checkbox', { name: /^A message was read/ }).isChecked());
    // The people of the demonstration write meanwhile: their events would push the tests from the list of deliveries.
    const types = page.locator('input[name="type"]');
    for (const box of await types.all()) await box.setChecked(false);
    await page.getByRole('checkbox', { name: /^A message failed/ }).check();
    await page.getByLabel('Address', { exact: true }).fill(`http://127.0.0.1:${receiver.address().port}/webhooks`);
    await page.getByRole('button', { name: 'Add webhook' }).click();
    const secret = (await page.getByLabel('Secret', { exact: true }).textContent()).trim();

    await page.getByLabel('Event', { exact: true }).selectOption({ label: 'A message failed' });
    await page.getByRole('button', { name: 'Send test' }).click();
    const answer = page.getByRole('region', { name: 'Answer', exact: true });
    await answer.filter({ hasText: 'thank you' }).waitFor();
    assert.equal(JSON.parse(tests[0].body).type, 'message.failed');
    assert.equal(tests[0].headers['webhook-signature'], signature(secret, tests[0]));
    assert.equal(tests[0].headers['x-pombo-test'], 'true');
    await page.getByText('Body of the request', { exact: true }).click();
    const sent = page.getByRole('region', { name: 'Body of the request', exact: true });
    assert.equal(await sent.textContent(), tests[0].body);
    assert.equal(await page.getByText(secret).count(), 0, 'a secret is shown once');

    await page.getByRole('button', { name: 'Send test' }).click();
    await page.getByText('Look for the error in its log.').first().waitFor();
    // The list of deliveries is live.
    const refused = page.locator('tbody tr', { hasText: 'refused (503)' }).first();
    await refused.waitFor();
    const event = await refused.locator('td[data-name="Event"]').boundingBox();
    assert.ok(event.width >= 150, `the event has ${event.width} px beside a sentence, one word a line`);

    await page.getByRole('button', { name: 'Disable', exact: true }).click();
    await page.getByRole('button', { name: 'Yes: Disable' }).click();
    await page.getByText('disabled by a person').first().waitFor();
    await page.getByLabel(/^From now on/).check();
    await page.getByRole('button', { name: 'Enable', exact: true }).click();
    await page.getByText('working', { exact: true }).first().waitFor();

    await page.getByRole('button', { name: 'Delete webhook', exact: true }).click();
    await page.getByRole('button', { name: 'Yes: Delete webhook' }).click();
    await page.getByText('The webhook is deleted.').waitFor();
    assert.deepEqual(await endpoints(), present);
    assertQuiet(person, demo);
});
