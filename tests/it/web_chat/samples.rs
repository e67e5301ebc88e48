//! Small files of each kind that phones know.

use std::io::Cursor;

use image::{ImageFormat, RgbImage};

/// 300 by 150 pixels of red.
pub(super) fn picture(format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    RgbImage::from_pixel(300, 150, image::Rgb([200, 30, 30])).write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// A red square with sides of this many pixels.
pub(super) fn square(side: u32, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    RgbImage::from_pixel(side, side, image::Rgb([200, 30, 30])).write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// A film of a little more than 12 seconds, with sound and picture.
pub(super) fn film() -> Vec<u8> {
    let tracks = [track(b"soun"), track(b"vide")].concat();
    let head = boxed(
        b"mvhd",
        &[[0; 12].as_slice(), &1000_u32.to_be_bytes(), &12_345_u32.to_be_bytes(), &[0; 80]].concat(),
    );
    [
        boxed(b"ftyp", b"isom\0\0\x02\0isom"),
        boxed(b"mdat", &[7; 5000]),
        boxed(b"moov", &[head, tracks].concat()),
    ]
    .concat()
}

fn boxed(kind: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 8).unwrap();
    [length.to_be_bytes().as_slice(), kind, body].concat()
}

fn track(handler: &[u8; 4]) -> Vec<u8> {
    let handler = boxed(b"hdlr", &[[0; 8].as_slice(), handler, &[0; 12]].concat());
    boxed(b"trak", &[boxed(b"tkhd", &[0; 84]), boxed(b"mdia", &handler)].concat())
}

/// A silent voice note of this many milliseconds.
pub(super) fn voice(milliseconds: u64) -> Vec<u8> {
    let head = b"OpusHead\x01\x01\x38\x01\x80\xbb\0\0\0\0\0";
    let tags = b"OpusTags\x04\0\0\0test\0\0\0\0";
    // The samples that a player skips at the beginning count too.
    let end = milliseconds * 48 + 0x138;
    [page(2, 0, 0, head), page(0, 0, 1, tags), page(4, end, 2, &[0xf8, 0xff, 0xfe])].concat()
}

/// One page of an Ogg file with one packet.
fn page(kind: u8, position: u64, sequence: u32, packet: &[u8]) -> Vec<u8> {
    let mut page = [
        b"OggS\0".as_slice(),
        &[kind],
        &position.to_le_bytes(),
        &7_u32.to_le_bytes(),
        &sequence.to_le_bytes(),
        &[0; 4],
        &[1, u8::try_from(packet.len()).unwrap()],
        packet,
    ]
    .concat();
    let checksum = page.iter().fold(0_u32, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte) << 24, |sum, _| {
            if sum >> 31 == 1 { sum << 1 ^ 0x04c1_1db7 } else { sum << 1 }
        })
    });
    page[22..26].copy_from_slice(&checksum.to_le_bytes());
    page
}

/// A little more than three seconds of an MP3: frames of 1,152 samples at 44,100 a second.
pub(super) fn song() -> Vec<u8> {
    [[0xff, 0xfb, 0x90, 0x00].as_slice(), &[0; 413]].concat().repeat(125)
}
