// Takes a picture of every page: node screenshots.mjs DIRECTORY [light|dark] [WIDTH] [whole]. Run by `tests/browser/screenshots`.
// With `whole`, the pictures show each page to its end, and include pages of single records.

import path from 'node:path';

import { addresses, busy, further } from './pages.mjs';
import { Browser, Demo } from './stage.mjs';

const [directory, theme = 'light', width = '1280', extent = ''] = process.argv.slice(2);
const fullPage = extent === 'whole';
const demo = await Demo.start({ contacts: 10_000 });
const browser = await Browser.start();
const name = address => address.replace('/console', 'console').replace(/&seen=[^&]*/, '').replaceAll(/[0-9a-f-]{36}/g, 'id').replaceAll(/[/?=+]/g, '-');
try {
    await busy(demo);
    for (const role of ['owner', 'operator']) {
        const { page } = await browser.signedIn(demo, role, { theme, width: Number(width) });
        // Some seconds of work, so that the pages show it.
        await page.waitForTimeout(4_000);
        const all = [...await addresses(demo, role, page), ...fullPage ? await further(demo, role) : []];
        const taken = new Set();
        for (const address of all) {
            await page.goto(demo.url + address);
            // Pages of the same kind have the same name: only the first picture has it without a number.
            let file = name(address);
            for (let nth = 2; fullPage && taken.has(file); nth += 1) file = `${name(address)}-${nth}`;
            taken.add(file);
            await page.screenshot({ path: path.join(directory, `${file}.png`), fullPage });
        }
    }
} finally {
    await browser.stop();
    await demo.stop();
}
