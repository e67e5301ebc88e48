// Small pictures of pages, and what is compared. A picture has one pixel for four by four of the page, in 32 steps a colour. What
// differs between two machines or two runs is not in it:
//
// - Fonts: all letters are bars of `font.mjs`, so lines end in the same places.
// - Values: each word with a digit, each word of code, each time and each month is drawn like all others. Charts, bars and thumbnails are empty,
//   and so is the number of unread messages, which a page leaves out when counting takes long.
//
// What remains are places, sizes, colours, borders, icons and the lengths of texts. Rounding of edges is left to two tolerances: how
// much a pixel may differ, and the share of pixels that may differ more.

import { font, LETTERS } from './font.mjs';

/** The sizes of the windows, in the order in which the pictures of a page stand side by side, each in light and in dark. */
export const SIZES = [[1280, 800], [390, 844]];
export const THEMES = ['light', 'dark'];
/** Pixels of a page in one of its picture, across and down. */
const SCALE = 4;
/** The step of a colour that is kept, and how much of it may differ, of 255. */
const [STEP, MOST] = [8, 24];
/** The share of a picture's pixels that may differ more. A button of 80 by 40 pixels is 0.3 % of a wide page. */
export const TOLERATED = 0.001;

/** Where each picture of a page is in their sheet. */
export const PLACES = SIZES.flatMap(size => THEMES.map(theme => ({ size, theme }))).map(({ size: [width, height], theme }, nth, all) => ({
    name: `${width}x${height}, ${theme}`, width, height, theme,
    left: all.slice(0, nth).reduce((sum, { size }) => sum + Math.ceil(size[0] / SCALE), 0),
    across: Math.ceil(width / SCALE), down: Math.ceil(height / SCALE),
}));

/** Makes the page look the same everywhere and at any time. Runs in the page. */
function still({ letters, bytes }) {
    const face = new FontFace('Bars', Uint8Array.from(atob(bytes), letter => letter.charCodeAt(0)));
    document.fonts.add(face);
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(`
        *, *::before, *::after {
            font-family: Bars !important; font-synthesis: none !important; text-rendering: geometricPrecision !important;
            caret-color: transparent !important;
            animation: none !important; transition: none !important;
        }
        svg:is(.bar, .spark), .chart svg, img, .side .count { visibility: hidden !important; }
        /* Whether somebody answered is a matter of chance, and so is how many lines these take. */
        ul.shares { display: none !important; }
    `);
    document.adoptedStyleSheets = [sheet];
    const drawn = letter => letters.some(([first, last]) => letter.codePointAt(0) >= first && letter.codePointAt(0) <= last);
    const months = /\b(january|february|march|april|may|june|july|august|september|october|november|december)\b/gi;
    const same = text => [...text.replace(/\S*\d\S*/g, '00000').replace(months, 'Month')]
        .map(letter => (drawn(letter) || /\s/.test(letter) ? letter : 'm')).join('');
    for (const time of document.querySelectorAll('time')) {
        time.removeAttribute('data-relative');
        time.textContent = '00000 00000';
    }
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const { data, parentElement } = texts.currentNode;
        // Keys and ids are of letters alone at times.
        const fixed = parentElement.closest('code') ? data.replace(/\S+/g, '00000') : same(data);
        if (fixed !== data) texts.currentNode.data = fixed;
    }
    for (const field of document.querySelectorAll('input:not([type]), input[type=text], input[type=search], textarea')) {
        field.value = same(field.value);
    }
    return face.status;
}

/** The pictures of the open page, one for each place, as PNG in Base64. */
export async function take(page) {
    const status = await page.evaluate(still, { letters: LETTERS, bytes: font().toString('base64') });
    if (status !== 'loaded') throw new Error(`the font of the pictures is ${status}`);
    const pictures = [];
    for (const { width, height, theme } of PLACES) {
        await page.setViewportSize({ width, height });
        await page.emulateMedia({ colorScheme: theme });
        pictures.push((await page.screenshot()).toString('base64'));
    }
    return pictures;
}

/** What works with pictures: a blank page, because a browser reads and writes all their formats. */
export class Desk {
    static async open(browser) {
        const { page } = await browser.person();
        return new Desk(page);
    }

    constructor(page) {
        this.page = page;
    }

    /** The small sheet of these pictures, as WebP without losses. */
    async sheet(pictures) {
        return Buffer.from(await this.page.evaluate(shrink, { pictures, PLACES, SCALE, STEP }), 'base64');
    }

    /** For each place the share of pixels in which two sheets differ, and three enlarged PNG: of both, and of their difference. */
    async compare(one, other) {
        const [now, approved] = [one, other].map(sheet => sheet.toString('base64'));
        return this.page.evaluate(compare, { now, approved, PLACES, SCALE, MOST });
    }
}

/** Puts the means of squares of pixels side by side. Runs in the page. */
async function shrink({ pictures, PLACES, SCALE, STEP }) {
    const { left, across } = PLACES.at(-1);
    const sheet = new OffscreenCanvas(left + across, Math.max(...PLACES.map(({ down }) => down)));
    const target = sheet.getContext('2d');
    target.fillRect(0, 0, sheet.width, sheet.height);
    for (const [nth, { left, across, down }] of PLACES.entries()) {
        const image = new Image();
        image.src = `data:image/png;base64,${pictures[nth]}`;
        await image.decode();
        const source = new OffscreenCanvas(image.width, image.height).getContext('2d');
        source.drawImage(image, 0, 0);
        const { data } = source.getImageData(0, 0, image.width, image.height);
        const small = target.createImageData(across, down);
        for (let y = 0; y < down; y += 1) {
            for (let x = 0; x < across; x += 1) {
                const sums = [0, 0, 0];
                let count = 0;
                for (let v = y * SCALE; v < Math.min((y + 1) * SCALE, image.height); v += 1) {
                    for (let u = x * SCALE; u < Math.min((x + 1) * SCALE, image.width); u += 1) {
                        const at = 4 * (v * image.width + u);
                        for (const colour of [0, 1, 2]) sums[colour] += data[at + colour];
                        count += 1;
                    }
                }
                const kept = sums.map(sum => Math.min(255, Math.round(sum / count / STEP) * STEP));
                small.data.set([...kept, 255], 4 * (y * across + x));
            }
        }
        target.putImageData(small, left, 0);
    }
    const blob = await sheet.convertToBlob({ type: 'image/webp', quality: 1 });
    const bytes = new Uint8Array(await blob.arrayBuffer());
    return btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join(''));
}

/** Compares two sheets. Runs in the page. */
async function compare({ now, approved, PLACES, SCALE, MOST }) {
    const read = async bytes => {
        const image = new Image();
        image.src = `data:image/webp;base64,${bytes}`;
        await image.decode();
        const canvas = new OffscreenCanvas(image.width, image.height);
        canvas.getContext('2d').drawImage(image, 0, 0);
        return canvas;
    };
    const enlarged = (canvas, { left, across, down }) => {
        const large = Object.assign(document.createElement('canvas'), { width: across * SCALE, height: down * SCALE });
        const context = large.getContext('2d');
        context.imageSmoothingEnabled = false;
        context.drawImage(canvas, left, 0, across, down, 0, 0, large.width, large.height);
        return large.toDataURL('image/png').split(',')[1];
    };
    const sheets = [await read(now), await read(approved)];
    if (sheets[0].width !== sheets[1].width || sheets[0].height !== sheets[1].height) return null;
    return PLACES.map(place => {
        const { left, across, down } = place;
        const [one, other] = sheets.map(sheet => sheet.getContext('2d').getImageData(left, 0, across, down).data);
        const marked = new OffscreenCanvas(sheets[0].width, sheets[0].height);
        marked.getContext('2d').drawImage(sheets[0], 0, 0);
        const marks = marked.getContext('2d').getImageData(left, 0, across, down);
        let differing = 0;
        for (let at = 0; at < one.length; at += 4) {
            const differs = [0, 1, 2].some(colour => Math.abs(one[at + colour] - other[at + colour]) > MOST);
            if (differs) differing += 1;
            // Red where they differ, and pale where they do not.
            const shown = differs ? [255, 0, 0] : [0, 1, 2].map(colour => 192 + one[at + colour] / 4);
            marks.data.set([...shown, 255], at);
        }
        marked.getContext('2d').putImageData(marks, left, 0);
        const share = differing / (across * down);
        const images = { now: sheets[0], approved: sheets[1], difference: marked };
        return { share, images: Object.fromEntries(Object.entries(images).map(([name, canvas]) => [name, enlarged(canvas, place)])) };
    });
}
