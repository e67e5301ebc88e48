// A person sends rows of a file to people with their own names and amounts, and gets the results in the same file.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';

import { assertAccessible, assertQuiet, Browser, Demo, untilFinished } from './stage.mjs';

let demo, browser;
before(async () => {
    demo = await Demo.start();
    browser = await Browser.start();
});
after(async () => {
    await browser?.stop();
    await demo?.stop();
});

const FILE = `Telefone;Nome;Valor;Nota
+999 900 000 001;Ana;10,00;first
+999 900 000 002;Bia;20,00;second
+999 900 000 003;Eva;;third
`;

test('rows with names and amounts are uploaded, previewed, sent and downloaded in at most sixteen clicks', async () => {
    const person = await browser.signedIn(demo);
    const { page } = person;
    let clicks = 0;
    const press = async (role, name) => {
        clicks += 1;
        await page.getByRole(role, { name, exact: true }).first().click();
    };
    const pick = async (label, option) => {
        clicks += 2;
        await page.getByLabel(label, { exact: true }).selectOption(option);
    };
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await press('link', 'New send');
    await pick('Channel', { label: demo.said.companies[0].channels[0].name });
    await press('button', 'Upload a file');
    await assertAccessible(page, 'the upload of recipients');
    clicks += 1;
    await page.getByLabel('File', { exact: true }).setInputFiles({ name: 'bills.csv', mimeType: 'text/csv', buffer: Buffer.from(FILE) });
    await press('button', 'Upload a file');
    await page.getByText('bills.csv').first().waitFor();
    await press('button', 'Go on');
    await press('button', 'Choose order_update en_US');
    await pick('Column for: Text 1 – shown where {{1}} stands', { label: 'Nome' });
    await pick('Column for: Text 2 – shown where {{2}} stands', { label: 'Valor' });
    await press('button', 'Check');
    await page.getByText('Nothing in the column Valor').first().waitFor();
    const preview = page.locator('#preview');
    for (const own of [/Ana/, /10,00/, /Bia/, /20,00/]) await preview.getByText(own).first().waitFor();
    assert.equal(await page.getByText('{{1}}').count(), 0, 'no braces');
    await assertAccessible(page, 'the check of a file of recipients');
    await press('button', 'Go on');
    await press('button', 'Send');
    await page.waitForURL(/\/console\/sends\/[0-9a-f-]{36}$/);
    assert.ok(clicks <= 16, `${clicks} clicks`);
    await untilFinished(page, demo);
    await page.reload();
    const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: 'Results in your file' }).click(),
    ]);
    const lines = (await readFile(await download.path(), 'utf8')).replace('\u{feff}', '').split(/\r?\n/);
    assert.equal(lines[0], 'Telefone;Nome;Valor;Nota;State;Error;Time');
    assert.match(lines[1], /;Ana;10,00;first;/);
    assert.ok(lines.some(line => /000003;;;;Skipped;|000 003;;;;Skipped;/.test(line)), lines.join('\n'));
    assertQuiet(person, demo);
});
