// Takes a picture of every page: node screenshots.mjs DIRECTORY [light|dark] [WIDTH]. Run by `tests/browser/screenshots`.

import path from 'node:path';

import { addresses, busy } from './pages.mjs';
import { Browser, Demo } from './stage.mjs';

const [directory, theme = 'light', width = '1280'] = process.argv.slice(2);
const demo = await Demo.start({ contacts: 10_000 });
const browser = await Browser.start();
try {
    await busy(demo);
    for (const role of ['owner', 'operator']) {
        const { page } = await browser.signedIn(demo, role, { theme, width: Number(width) });
        // Some seconds of work to be seen.
        await page.waitForTimeout(4_000);
        for (const address of await addresses(demo, role)) {
            await page.goto(demo.url + address);
            const name = address.replace('/console', 'console').replaceAll(/[0-9a-f-]{36}/g, 'id').replaceAll('/', '-');
            await page.screenshot({ path: path.join(directory, `${name}.png`) });
        }
    }
} finally {
    await browser.stop();
    await demo.stop();
}
