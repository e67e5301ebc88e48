// A person sends rows of a file to people with their own names and amounts, and gets the results in the same file.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { crc32 } from 'node:zlib';

import { assertAccessible, assertQuiet, Browser, Demo, failing, untilFinished } from './stage.mjs';

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

/** An archive of these files, which are not compressed. */
function archive(files) {
    const bodies = [];
    const directory = [];
    let at = 0;
    for (const [name, content] of files) {
        const [title, body] = [Buffer.from(name), Buffer.from(content)];
        // Version, flags, method, time and date; then the sum, both lengths, and the length of the name.
        const about = Buffer.alloc(26);
        about.writeUInt16LE(20, 0);
        about.writeUInt16LE(0x21, 8);
        about.writeUInt32LE(crc32(body), 10);
        about.writeUInt32LE(body.length, 14);
        about.writeUInt32LE(body.length, 18);
        about.writeUInt16LE(title.length, 22);
        const place = Buffer.alloc(14);
        place.writeUInt32LE(at, 10);
        bodies.push(Buffer.from('PK\x03\x04'), about, title, body);
        directory.push(Buffer.from('PK\x01\x02\x14\0'), about, place, title);
        at += 30 + title.length + body.length;
    }
    const names = Buffer.concat(directory);
    const end = Buffer.alloc(18);
    end.writeUInt16LE(files.length, 4);
    end.writeUInt16LE(files.length, 6);
    end.writeUInt32LE(names.length, 8);
    end.writeUInt32LE(at, 12);
    return Buffer.concat([...bodies, names, Buffer.from('PK\x05\x06'), end]);
}

/** A workbook with one sheet of these rows: texts, numbers, and what a formula gave. */
function workbook(rows) {
    const cell = (value, place) => {
        const at = `r="${place}"`;
        if (typeof value === 'number') return `<c ${at}><v>${value}</v></c>`;
        if (value.formula) return `<c ${at} t="str"><f>${value.formula}</f><v>${value.gave}</v></c>`;
        return `<c ${at} t="inlineStr"><is><t>${value}</t></is></c>`;
    };
    const row = (cells, nth) =>
        `<row r="${nth + 1}">${cells.map((value, column) => cell(value, 'ABCDEFGH'[column] + (nth + 1))).join('')}</row>`;
    const related = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
    const packed = 'http://schemas.openxmlformats.org/package/2006/relationships';
    const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
    return archive([
        ['_rels/.rels', `<Relationships xmlns="${packed}"><Relationship Id="rId1" Type="${related}/officeDocument" Target="xl/workbook.xml"/></Relationships>`],
        ['xl/workbook.xml', `<workbook xmlns="${main}" xmlns:r="${related}"><sheets><sheet name="Facturas" sheetId="1" r:id="rId1"/></sheets></workbook>`],
        ['xl/_rels/workbook.xml.rels', `<Relationships xmlns="${packed}"><Relationship Id="rId1" Type="${related}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`],
        ['xl/worksheets/sheet1.xml', `<worksheet xmlns="${main}"><sheetData>${rows.map(row).join('')}</sheetData></worksheet>`],
    ]);
}

test('a person with a phone sends the rows of an Excel file, and sees in it who failed and why', async () => {
    await failing(demo, '0023');
    const person = await browser.signedIn(demo, 'owner', { width: 390 });
    const { page } = person;
    const file = workbook([
        ['Teléfono', 'Nombre', 'Importe', 'Código'],
        [999900000021, 'Ana', '10,00', '0042'],
        ['+999 900 000 022', 'Bia', { formula: 'TEXT(10*2,&quot;0,00&quot;)', gave: '20,00' }, '0043'],
        ['+999 900 000 023', 'Caio', '30,00', '0044'],
        ['abc', 'Eva', '40,00', '0045'],
    ]);
    const press = name => page.getByRole('button', { name, exact: true }).first().click();
    const pick = (label, option) => page.getByLabel(label, { exact: true }).selectOption(option);
    const upload = page.getByLabel('File', { exact: true });
    const downloaded = async name => {
        const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name }).click()]);
        return (await readFile(await download.path(), 'utf8')).replace('\u{feff}', '').trim().split(/\r?\n/);
    };
    const assertNarrow = async () => {
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.ok(overflow <= 0, `${page.url()} is ${overflow} px wider than the window`);
        await assertAccessible(page, page.url());
    };
    await page.goto(`${demo.url}/console/sends/new`);
    await pick('Channel', { label: demo.said.companies[0].channels[0].name });
    await press('Upload a file');
    // What is no table is refused with what to do, and the person tries again.
    await upload.setInputFiles({ name: 'bills.xlsx', mimeType: 'application/zip', buffer: file.subarray(0, 200) });
    await press('Upload a file');
    await page.getByText('This Excel file cannot be read').first().waitFor();
    await upload.setInputFiles({ name: 'bills.xlsx', mimeType: 'application/zip', buffer: file });
    await press('Upload a file');
    await page.getByText('bills.xlsx').first().waitFor();
    assert.equal(await page.getByLabel('Column with the numbers', { exact: true }).inputValue(), '0');
    await assertNarrow();
    await press('Go on');
    await press('Choose order_update en_US');
    await pick('Column for: Text 1 – shown where {{1}} stands', { label: 'Nombre' });
    await pick('Column for: Text 2 – shown where {{2}} stands', { label: 'Código' });
    await assertNarrow();
    await press('Check');
    await page.getByText('This is no whole phone number.').first().waitFor();
    await page.locator('#preview').getByText(/0042/).first().waitFor();
    await assertNarrow();
    const problems = await downloaded('Download the rows with problems');
    assert.equal(problems.length, 2, problems.join('\n'));
    assert.match(problems[1], /;abc;Eva;40,00;0045$/);
    await press('Go on');
    await press('Send');
    await page.waitForURL(/\/console\/sends\/[0-9a-f-]{36}$/);
    await untilFinished(page, demo);
    await page.reload();
    const lines = await downloaded('Results in your file');
    const of = name => lines.find(line => line.includes(`;${name};`)) ?? '';
    assert.equal(lines[0], 'Teléfono;Nombre;Importe;Código;State;Error;Time');
    assert.match(of('Ana'), /;Ana;10,00;0042;[^;]+;;\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
    assert.match(of('Bia'), /;Bia;20,00;0043;/);
    assert.match(of('Caio'), /;Caio;30,00;0044;Failed;.*131026/i);
    assert.ok(lines.some(line => /^abc;;;;Skipped;This is no whole phone number\./.test(line)), lines.join('\n'));
    assertQuiet(person, demo);
});
