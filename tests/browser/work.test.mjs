// Work besides sending: files of contacts, phones, tiers, other companies' addresses, without a mouse.

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { assertQuiet, Browser, Demo, eventually, reach } from './stage.mjs';

let demo, browser;
before(async () => {
    demo = await Demo.start();
    browser = await Browser.start();
});
after(async () => {
    await browser?.stop();
    await demo?.stop();
});

/** A file of contacts with this many rows, one of them without anything that identifies a contact. */
async function contacts(rows) {
    const lines = ['Nome,Telefone,E-mail'];
    for (let nth = 0; nth < rows - 1; nth += 1) {
        lines.push(`Pessoa ${nth},+5511${String(910_000_000 + nth)},pessoa${nth}@example.com`);
    }
    lines.push('<script>alert(1)</script> שלום,,');
    const file = path.join(demo.directory, `contacts-${rows}.csv`);
    await writeFile(file, `${lines.join('\n')}\n`);
    return file;
}

test('a file of 10,000 contacts is mapped, imported and followed to its end', async () => {
    const person = await browser.signedIn(demo);
    const { page } = person;
    await page.goto(`${demo.url}/console/contacts/import`);
    await page.getByLabel('File', { exact: true }).setInputFiles(await contacts(10_000));
    await page.getByRole('button', { name: 'Import' }).first().click();
    await page.waitForURL(/\/console\/contacts\/import\/[0-9a-f-]{36}/);
    await page.getByText('What will happen').first().waitFor();
    await page.getByRole('button', { name: 'Import' }).first().click();
    await page.getByText('Finished').first().waitFor();
    const download = page.getByText(/Download the rejected row/);
    await download.waitFor();
    const { body } = await demo.request('GET', '/api/v1/contacts?search=pessoa9998&limit=1');
    assert.equal(body.totalRecords, 1);
    assertQuiet(person, demo);
});

test('a search while a person types finds a contact, and its name is text and nothing else', async () => {
    const person = await browser.signedIn(demo);
    const { page } = person;
    const record = { phone_number: '+5511988887777', first_name: '<img src=x onerror=alert(1)>', last_name: 'שלום 😀' };
    const made = await demo.request('POST', '/api/v1/contacts/batch', { body: { contacts: [record] } });
    assert.equal(made.status, 200, JSON.stringify(made.body));
    await page.goto(`${demo.url}/console/contacts`);
    await page.getByRole('searchbox', { name: 'Search contacts' }).pressSequentially('988887777');
    await eventually(async () => (await page.locator('tbody tr').count()) === 1);
    assert.match(await page.locator('tbody tr').textContent(), /<img src=x onerror=alert\(1\)>/);
    assertQuiet(person, demo);
});

test('selected contacts are counted, and a number is read while a person types it', async () => {
    const person = await browser.signedIn(demo);
    const { page } = person;
    await page.goto(`${demo.url}/console/contacts`);
    await page.locator('tbody input[name=contact]').first().check();
    await page.getByText('Selected: 1', { exact: true }).waitFor();
    await page.getByLabel(/on this page/).check();
    await page.getByText(/^Selected: \d\d+$/).waitFor();
    await page.goto(`${demo.url}/console/contacts/new`);
    await page.getByLabel('Phone number').pressSequentially('+34612345678');
    await page.getByText('Read as +34 612 34 56 78 (Spain)').waitFor();
    assertQuiet(person, demo);
});

test('the played phone is paired in the page, and unlinked', async () => {
    const person = await browser.signedIn(demo);
    const { page } = person;
    const phone = demo.said.companies[0].channels.find(channel => channel.name === 'demo phone');
    await page.goto(`${demo.url}/console/channels/${phone.id}`);
    await page.getByLabel('I accept the risk, and the company can afford to lose this number.').check();
    await page.getByRole('button', { name: 'Pair', exact: true }).click();
    const played = page.getByText('Use the played phone of this demonstration');
    await played.waitFor();
    const [phonePage] = await Promise.all([person.context.waitForEvent('page'), played.click()]);
    await phonePage.getByRole('button', { name: 'Scan', exact: true }).click();
    await eventually(async () => {
        const { body } = await demo.request('GET', `/api/v1/web-chat/${phone.id}/pairing`);
        return body.state === 'linked';
    });
    await page.getByText('linked', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Unlink', exact: true }).click();
    await page.getByRole('button', { name: 'Yes: Unlink' }).click();
    await eventually(async () => {
        const { body } = await demo.request('GET', `/api/v1/web-chat/${phone.id}/pairing`);
        return body.state === 'unlinked';
    });
    assertQuiet(person, demo);
});

test('a tier is changed, after the page shows the new end of running sends', async () => {
    const { channels: [, channel], tags } = demo.said.companies[0];
    const everyone = tags.find(tag => tag.name === 'everyone');
    const body = { type: 'text', message: 'hello', contact_tag_id: everyone.id };
    const person = await browser.signedIn(demo, 'operator');
    const { page } = person;
    const channels = await demo.command('channel', 'show', channel.id);
    const tier = channels.tier ?? channels[0]?.tier;
    // So many messages that the send still runs when a slow machine reads the page: its channel sends 80 a second.
    for (let nth = 0; nth < 25; nth += 1) await demo.request('POST', `/api/v1/chat/${channel.id}/messages`, { body });
    await page.goto(`${demo.url}/console/operator/tiers/${tier}`);
    await page.getByLabel('Messages at most').fill('20');
    await page.getByRole('button', { name: 'Show what changes' }).click();
    await page.getByText('End with the change').first().waitFor();
    await page.getByRole('button', { name: 'Apply' }).click();
    await eventually(async () => {
        const { body: limits } = await demo.request('GET', `/api/v1/chat/${channel.id}/limits`);
        return JSON.stringify(limits).includes('20');
    });
    assertQuiet(person, demo);
});

test("another company's addresses are not found", async () => {
    const person = await browser.signedIn(demo);
    const { page } = person;
    const [, other] = demo.said.companies;
    const answer = await page.goto(`${demo.url}/console/channels/${other.channels[0].id}`);
    assert.equal(answer.status(), 404);
});

test('a key is made with the keyboard alone', async () => {
    const person = await browser.signedIn(demo);
    const { page } = person;
    await page.goto(`${demo.url}/console`);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    // The first stop leads to the content.
    await page.waitForURL(/#main$/);
    await page.goto(`${demo.url}/console/keys`);
    await reach(page, 'Name', word => document.activeElement.labels?.[0]?.textContent.includes(word));
    await page.keyboard.type('By keyboard');
    await reach(page, 'Create key', word => document.activeElement.textContent.trim() === word);
    await page.keyboard.press('Enter');
    await page.getByLabel('New key').waitFor();

    await page.goto(`${demo.url}/console/keys`);
    const row = page.getByRole('row').filter({ hasText: 'By keyboard' });
    await reach(page, 'Revoke', word => document.activeElement.closest('tr')?.textContent.includes('By keyboard')
        && document.activeElement.textContent.trim() === word);
    await page.keyboard.press('Enter');
    await eventually(() => page.evaluate(() => document.activeElement.textContent.trim() === 'Close'));
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await row.getByRole('button', { name: 'Revoke' }).waitFor({ state: 'detached' });
    assertQuiet(person, demo);
});
