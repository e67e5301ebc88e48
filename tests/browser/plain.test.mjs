// Whole pieces of work in a browser that runs no script: a send, a file of contacts, and contacts from the search to a note.

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { assertQuiet, Browser, Demo, eventually } from './stage.mjs';

const SEND = /\/console\/sends\/[0-9a-f-]{36}$/;

let demo, browser, sales;
before(async () => {
    demo = await Demo.start();
    browser = await Browser.start();
    sales = demo.said.companies[0].channels[0].name;
});
after(async () => {
    await browser?.stop();
    await demo?.stop();
});

/** The owner without script, whose window is closed after the work. */
async function plainly(work) {
    const person = await browser.signedIn(demo, 'owner', { script: false });
    await work(person.page);
    assertQuiet(person, demo);
    await person.context.close();
}

const press = (page, name) => page.getByRole('button', { name, exact: true }).click();
const step = (page, name) => page.locator('.way [aria-current=step]', { hasText: name }).waitFor();

/** Reloads the page at this address until it shows this. While a click still leads there, the browser refuses to reload. */
async function reloaded(page, address, place) {
    await page.waitForURL(address);
    await eventually(async () => (await place.count()) || (await page.reload(), 0));
}

test('a key is made', () => plainly(async page => {
    await page.goto(`${demo.url}/console/keys`);
    await page.getByLabel('Name').fill('Without script');
    await press(page, 'Create key');
    const key = (await page.getByLabel('New key').textContent()).trim();
    assert.equal((await demo.request('GET', '/api/v1/sends', { key })).status, 200);
}));

test('a send goes through its four steps, back and on, and is scheduled, moved and canceled', () => plainly(async page => {
    await page.goto(`${demo.url}/console`);
    await page.getByRole('navigation').getByRole('link', { name: 'Sends', exact: true }).first().click();
    await page.getByRole('link', { name: 'New send' }).click();
    await step(page, 'Who');
    await press(page, 'Go on');
    await page.getByText('Choose a channel.').first().waitFor();
    await page.getByLabel('Channel', { exact: true }).selectOption({ label: sales });
    await page.getByRole('group', { name: 'Tags', exact: true }).getByLabel(/everyone/).check();
    await page.getByText('Leave people out').click();
    await page.getByRole('group', { name: 'Without people who have one of these tags' }).getByLabel(/no-phones/).check();
    await press(page, 'Count');
    await page.locator('#reach').getByText('195 people').waitFor();
    await page.getByRole('searchbox', { name: 'Find people' }).fill('contact7@example.com');
    await press(page, 'Find');
    await page.getByRole('group', { name: 'People', exact: true }).getByRole('checkbox').check();
    await press(page, 'Go on');

    await step(page, 'What');
    await press(page, 'Choose order_update en_US');
    await page.getByLabel('Text 1 – shown where {{1}} stands', { exact: true }).fill('{{contact.first_name|friend}}');
    await page.getByLabel('Text 2 – shown where {{2}} stands', { exact: true }).fill('A-1');
    await press(page, 'Check');

    await step(page, 'Check');
    await page.getByText('195 recipients').first().waitFor();
    await page.locator('#preview').getByText('your order A-1').waitFor();
    // Back, the browser's and the page's, keeps what was typed.
    await page.goBack();
    assert.equal(await page.getByLabel('Text 2 – shown where {{2}} stands', { exact: true }).inputValue(), 'A-1');
    await page.goForward();
    await press(page, 'Back');
    await step(page, 'What');
    await press(page, 'Back');
    await step(page, 'Who');
    assert.ok(await page.getByRole('group', { name: 'Tags', exact: true }).getByLabel(/everyone/).isChecked());
    await press(page, 'Go on');
    await press(page, 'Check');
    await page.getByLabel('Your WhatsApp number').fill('+999 900 000 002');
    await press(page, 'Send a test to me');
    await reloaded(page, /[?&]test=/, page.getByText('WhatsApp took the test.'));
    await press(page, 'Go on');

    await step(page, 'When');
    const starts = page.getByLabel('Starts', { exact: true });
    await page.getByLabel('At a time').check();
    await starts.fill('2020-01-01T09:00');
    await page.getByLabel('Name', { exact: true }).fill('Opening of the year');
    await press(page, 'Send');
    await page.getByText('This time has passed. Give a later one, or start now.').waitFor();
    const inDays = days => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 16);
    await starts.fill(inDays(3));
    await press(page, 'Send');
    await page.waitForURL(SEND);
    await page.getByRole('heading', { name: 'Opening of the year' }).waitFor();
    await page.getByText('Scheduled').first().waitFor();

    await page.getByRole('link', { name: 'Move the start' }).click();
    await starts.fill(inDays(5));
    await press(page, 'Move');
    await page.getByText('Moved: nothing of this send goes before its new start.').waitFor();
    await press(page, 'Cancel');
    await press(page, 'Yes: Cancel');
    await page.getByText('Canceled').first().waitFor();
}));

test('a file is uploaded, its columns are named, and its contacts are there', () => plainly(async page => {
    const file = path.join(demo.directory, 'feira.csv');
    await writeFile(file, 'Quem;Onde\nRosa Lima;+55 11 93333-0001\nIvo Costa;+55 11 93333-0002\nSem Número;12\n');
    await page.goto(`${demo.url}/console/contacts`);
    await page.getByRole('link', { name: 'Import a file' }).click();
    await page.getByLabel('File', { exact: true }).setInputFiles(file);
    await press(page, 'Import');
    await page.getByLabel('What Quem holds').selectOption({ label: 'Whole name' });
    await page.getByLabel('What Onde holds').selectOption({ label: 'Phone number' });
    await page.getByLabel('Tags for all contacts of the file').fill('feira');
    await press(page, 'Check again');
    await page.getByText('2 new contacts').waitFor();
    await page.getByText('1 row is rejected').waitFor();
    await press(page, 'Import');
    await page.locator('#progress').waitFor();
    await reloaded(page, /import/, page.locator('#progress').getByText('Finished'));
    const [rejected] = await Promise.all([page.waitForEvent('download'), page.getByText('Download the rejected row').click()]);
    assert.match(await readFile(await rejected.path(), 'utf8'), /Sem Número/);
    await page.getByRole('link', { name: 'Show the contacts' }).click();
    await page.getByText('2 contacts', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Rosa Lima' }).waitFor();
}));

test('contacts are searched, filtered, saved as a segment, edited and noted upon', () => plainly(async page => {
    const { channels: [channel], tags } = demo.said.companies[0];
    const vip = tags.find(({ name }) => name === 'vip');
    const body = { type: 'text', message: 'hello', contact_tag_id: vip.id, name: 'To the regulars' };
    assert.equal((await demo.request('POST', `/api/v1/chat/${channel.id}/messages`, { body })).status, 202);
    const { body: { data: [sent] } } = await demo.request('GET', '/api/v1/sends?limit=1');
    await page.goto(`${demo.url}/console/sends/${sent.id}`);
    await reloaded(page, SEND, page.getByText('Finished'));

    await page.goto(`${demo.url}/console/contacts`);
    await page.getByRole('searchbox', { name: 'Search contacts' }).fill('haddad');
    await press(page, 'Search');
    await page.waitForURL(/search=haddad/);
    await page.locator('tbody tr', { hasText: /haddad/i }).first().waitFor();
    assert.equal(await page.locator('tbody tr', { hasNotText: /haddad/i }).count(), 0);
    await page.getByRole('searchbox', { name: 'Search contacts' }).fill('nobody at all');
    await press(page, 'Search');
    await page.getByRole('link', { name: 'Show all contacts' }).click();

    // By tags, in both directions.
    const filter = page.locator('#by-tags');
    await filter.locator('summary').click();
    await filter.getByRole('group', { name: 'With all of these tags' }).getByLabel('everyone').check();
    await filter.getByRole('group', { name: 'With none of these tags' }).getByLabel('vip').check();
    await filter.getByRole('button', { name: 'Show' }).click();
    await page.getByText('Without vip').waitFor();
    assert.equal(await page.locator('tbody tr', { hasText: 'vip' }).count(), 0);
    await page.getByText('Without vip').click();
    await page.getByText('With everyone').click();

    // By a send, and what was found becomes a segment.
    const bySend = page.locator('#by-send');
    await bySend.locator('summary').click();
    const sends = bySend.getByLabel('Send', { exact: true });
    await sends.selectOption(await sends.locator('option', { hasText: 'To the regulars' }).getAttribute('value'));
    await bySend.getByLabel('Outcome').selectOption({ label: 'Received it' });
    await bySend.getByRole('button', { name: 'Show' }).click();
    await reloaded(page, /outcome=/, page.getByText('25 contacts', { exact: true }));
    await page.getByText('Save this list as a segment').click();
    await page.getByLabel('Name of the segment').fill('Reached regulars');
    await press(page, 'Save segment');
    await page.getByText('The segment was saved.').waitFor();
    await page.getByRole('link', { name: 'Reached regulars' }).first().waitFor();

    // One of them is edited, and gets a note.
    await page.locator('tbody tr a').first().click();
    await page.getByLabel('Last name').fill('Haddad-Silva');
    await page.getByLabel('Tags', { exact: true }).fill('everyone; vip; reading circle');
    await press(page, 'Save');
    await page.getByText('The contact was saved.').waitFor();
    await page.getByRole('heading', { name: /Haddad-Silva/ }).waitFor();
    await page.getByLabel('New note').fill('Comes on Fridays.\nLikes tea.');
    await press(page, 'Add note');
    await page.getByText('The note was added.').waitFor();
    await page.getByText('Change the note').click();
    await page.getByLabel('Note', { exact: true }).fill('Comes on Saturdays.');
    await page.locator('details.more[open]').getByRole('button', { name: 'Save' }).click();
    await page.locator('.note').getByText('Comes on Saturdays.').waitFor();
    await press(page, 'Opt out');
    await press(page, 'Yes: Opt out');
    await page.getByRole('button', { name: 'Opt in again', exact: true }).waitFor();
}));
