// A font of our own for the pictures: every letter is the same bar, half as wide as the font is high. So the pictures are alike on
// machines with different fonts, down to the ends of lines.

/** Units of the font in its height. */
const EM = 1_000;
/** The bar of a letter: its sides. */
const [LEFT, RIGHT, LOW, HIGH] = [40, 460, 240, 760];
/** What a letter takes of a line. Nothing is below the line, so that no rounding moves it: a size is as many pixels above the line. */
const [WIDE, ABOVE, BELOW] = [500, EM, 0];
/** The letters that it has: Latin ones, punctuation, currencies, arrows and mathematical signs. The pictures use no others. */
export const LETTERS = [[0x20, 0x24f], [0x2000, 0x22ff]];

const SPACES = new Set([0x20, 0xa0, 0x202f, ...Array.from({ length: 16 }, (_, nth) => 0x2000 + nth)]);

const u8 = value => [value & 0xff];
const u16 = value => [(value >> 8) & 0xff, value & 0xff];
const u32 = value => [...u16(value >>> 16), ...u16(value & 0xffff)];
const words = values => values.flatMap(u16);
const tagged = name => [...name].map(letter => letter.charCodeAt(0));

/** The glyph of the bar: a rectangle in TrueType's form, with coordinates that are differences. */
function bar() {
    const onCurve = 1;
    const steps = [[LEFT, LOW], [0, HIGH - LOW], [RIGHT - LEFT, 0], [0, LOW - HIGH]];
    return [
        ...words([1, LEFT, LOW, RIGHT, HIGH, 3, 0]), ...Array(4).fill(onCurve),
        ...words(steps.map(([across]) => across)), ...words(steps.map(([, up]) => up)), 0, 0,
    ];
}

/** Which glyph each letter has: 1 is the bar, 2 is empty. */
function letters() {
    const groups = LETTERS.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, nth) => {
        const letter = first + nth;
        return [...u32(letter), ...u32(letter), ...u32(SPACES.has(letter) ? 2 : 1)];
    }));
    const table = [...words([12, 0]), ...u32(16 + 12 * groups.length), ...u32(0), ...u32(groups.length), ...groups.flat()];
    return [...words([0, 1, 3, 10]), ...u32(12), ...table];
}

function names() {
    const name = words([...'Bars'].map(letter => letter.charCodeAt(0)));
    const records = [1, 2, 4, 6].flatMap(id => words([3, 1, 0x409, id, name.length, 0]));
    return [...words([0, 4, 6 + records.length]), ...records, ...name];
}

function tables() {
    const glyph = bar();
    return {
        'OS/2': [
            ...words([4, WIDE, 400, 5, 0, 650, 600, 0, 75, 650, 600, 0, 350, 50, 300, 0]), ...Array(10).fill(0), ...Array(16).fill(0),
            ...tagged('none'), ...words([0x40, 0x20, 0x22ff, ABOVE, -BELOW, 0, ABOVE, BELOW]), ...u32(1), ...u32(0),
            ...words([HIGH, 700, 0, 0x20, 0]),
        ],
        cmap: letters(),
        glyf: [...glyph, ...glyph],
        head: [
            ...words([1, 0]), ...u32(0x10000), ...u32(0), ...u32(0x5f0f3cf5), ...words([0b1011, EM]), ...Array(16).fill(0),
            ...words([LEFT, LOW, RIGHT, HIGH, 0, 8, 2, 1, 0]),
        ],
        hhea: words([1, 0, ABOVE, -BELOW, 0, WIDE, LEFT, WIDE - RIGHT, RIGHT, 1, 0, 0, 0, 0, 0, 0, 0, 1]),
        hmtx: words([WIDE, LEFT, LEFT, 0]),
        // Two bars, the first of which stands for unknown letters, and nothing for spaces.
        loca: [0, glyph.length, 2 * glyph.length, 2 * glyph.length].flatMap(u32),
        maxp: words([1, 0, 3, 4, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]),
        name: names(),
        post: [...words([3, 0, 0, 0, -100, 50]), ...u32(1), ...Array(16).fill(0)],
    };
}

const padded = bytes => [...bytes, ...Array((4 - (bytes.length % 4)) % 4).fill(0)];

function checksum(bytes) {
    let sum = 0;
    for (let at = 0; at < bytes.length; at += 4) {
        sum = (sum + ((bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3])) >>> 0;
    }
    return sum;
}

/** The font as a TrueType file. */
export function font() {
    const all = Object.entries(tables());
    let at = 12 + 16 * all.length;
    const directory = [...u32(0x10000), ...words([all.length, 128, 3, 16 * all.length - 128])];
    const bodies = [];
    for (const [name, bytes] of all) {
        const body = padded(bytes);
        directory.push(...tagged(name), ...u32(checksum(body)), ...u32(at), ...u32(bytes.length));
        bodies.push(body);
        at += body.length;
    }
    const file = [...directory, ...bodies.flat()];
    const head = 12 + 16 * all.length + bodies.slice(0, all.findIndex(([name]) => name === 'head')).flat().length;
    file.splice(head + 8, 4, ...u32((0xb1b0afba - checksum(file)) >>> 0));
    return Buffer.from(file);
}
