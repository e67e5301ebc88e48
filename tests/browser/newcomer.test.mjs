// A newcomer's steps, from the address that the demonstration prints to the end of a send, in the browser alone.

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';

import { assertQuiet, Browser, eventually } from './stage.mjs';

const ROWS = 3_000;

let directory, child, said = '', browser;
before(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'pombo-newcomer-'));
    const line = ['demo', '--port', '0', '--contacts', '50', '--data', path.join(directory, 'demo'), '--end-with-input'];
    child = spawn(process.env.POMBO, line, { stdio: ['pipe', 'pipe', 'inherit'] });
    child.stdout.on('data', text => {
        said += text;
    });
    browser = await Browser.start();
});
after(async () => {
    await browser?.stop();
    const ended = new Promise(resolve => child.once('exit', resolve));
    child.stdin.end();
    await ended;
    await rm(directory, { recursive: true, force: true });
});

test('a newcomer gets from the printed address to the end of a send', async () => {
    await eventually(() => said.includes('Ctrl-C'));
    const person = await browser.person();
    const { page } = person;
    await page.goto(said.match(/as owner of \S+\s+(http\S+)/)[1], { waitUntil: 'commit' });
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const { origin } = new URL(page.url());
    const choose = name => page.getByRole('navigation').getByRole('link', { name, exact: true }).first().click();

    // A key, and the command that is shown with it, as it is pasted.
    await choose('API keys');
    await page.getByLabel('Name').fill('first steps');
    await page.getByRole('button', { name: 'Create key' }).click();
    const command = await page.getByLabel('Command that sends a message').textContent();
    const { stdout } = await promisify(execFile)('bash', ['-c', command]);
    const { send_id: sendId } = JSON.parse(stdout);

    // Its message arrives while the page is open, and the page offers only actions that have an effect.
    await choose('Sends');
    await page.locator(`tbody a[href$="${sendId}"]`).first().click();
    await page.locator('#progress').getByText('1 of 1').waitFor();
    await page.locator('#rows').getByText(/^(Delivered|Read)$/).first().waitFor();
    assert.equal(await page.getByText(/Send again|did not reach/).count(), 0);

    await choose('Channels');
    await page.getByRole('link', { name: 'demo phone' }).click();
    assert.equal(await page.getByRole('button', { name: 'Unlink', exact: true }).count(), 0);
    await page.getByLabel('I accept the risk, and the company can afford to lose this number.').check();
    await page.getByRole('button', { name: 'Pair', exact: true }).click();
    const played = page.getByText('Use the played phone of this demonstration');
    const [phone] = await Promise.all([person.context.waitForEvent('page'), played.click()]);
    await phone.getByRole('button', { name: 'Scan', exact: true }).click();
    await page.getByRole('button', { name: 'Unlink', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Pair', exact: true }).waitFor({ state: 'detached' });
    await phone.close();

    // A file from a spreadsheet in Brazil, whose columns are recognised.
    const lines = Array.from({ length: ROWS }, (_, nth) => `Pessoa;${nth};+55 11 9${String(10_000_000 + nth)}`);
    const file = path.join(directory, 'clientes.csv');
    await writeFile(file, ['Nome;Sobrenome;Celular', ...lines, 'Sem;Número;12', ''].join('\n'));
    await choose('Contacts');
    await page.getByRole('link', { name: 'Import a file' }).click();
    await page.getByLabel('File', { exact: true }).setInputFiles(file);
    await page.getByLabel('Tags for all contacts of the file').fill('clientes');
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByText('What will happen').waitFor();
    assert.equal(await page.getByLabel('What Celular holds').inputValue(), 'phone_number');
    assert.equal(await page.getByLabel('What Nome holds').inputValue(), 'first_name');
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.locator('#progress').getByText('Finished').waitFor();
    await page.getByText('Download the rejected row').waitFor();
    await page.getByRole('button', { name: 'Stop the import' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Show the contacts' }).click();
    await page.getByText(`${ROWS.toLocaleString('en')} contacts`).first().waitFor();

    await choose('Sends');
    await page.getByRole('link', { name: 'New send' }).click();
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByText('Choose a channel.').first().waitFor();
    await page.getByLabel('Channel', { exact: true }).selectOption({ label: 'Sales' });
    await page.getByRole('group', { name: 'Tags', exact: true }).getByLabel(/clientes/).check();
    await page.locator('#reach').getByText(`${ROWS.toLocaleString('en')} people`).waitFor();
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByLabel('Type', { exact: true }).selectOption({ label: 'Text' });
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.getByLabel('Message', { exact: true }).fill('The shop opens at eight 🎉');
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByText(`${ROWS.toLocaleString('en')} recipients`).first().waitFor();
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.waitForURL(/\/console\/sends\/[0-9a-f-]{36}$/);
    await page.locator('#progress').getByText('Finished').waitFor();
    // Nobody of the file has written: the provider takes only templates, and the page says so.
    await page.getByText(/more than 24 hours old/).first().waitFor();
    assertQuiet(person, { url: origin });
});
