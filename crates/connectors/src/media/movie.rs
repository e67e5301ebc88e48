//! Reads the metadata of MP4 and related formats (3GP, M4A): length, size, and whether there is a picture or
//! only sound.
//!
//! Such a file consists of nested boxes, each with its length before it. Nothing is decoded; every length is
//! untrusted and is checked against the available bytes.

use std::time::Duration;

use super::Dimensions;

/// The metadata of a film, or of a sound in the same container.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Movie {
    pub(super) duration: Option<Duration>,
    /// The size as it is shown: of the first picture track, with its rotation.
    pub(super) dimensions: Option<Dimensions>,
    pub(super) has_video: bool,
    pub(super) has_audio: bool,
}

/// The brand that the file names first; `None` for files of other kinds.
pub(super) fn brand(bytes: &[u8]) -> Option<&[u8]> {
    let (kind, body) = Boxes(bytes).next().or_else(|| {
        // A file that ends within its first box still shows its type.
        Some((bytes.get(4..8)?, bytes.get(8..)?))
    })?;
    if kind == b"ftyp" { body.get(..4) } else { None }
}

/// Reads a whole file; `None` when there is no movie in it.
pub(super) fn read(bytes: &[u8]) -> Option<Movie> {
    let moov = find(bytes, b"moov")?;
    let mut movie = Movie { duration: find(moov, b"mvhd").and_then(duration), ..Movie::default() };
    for (_, track) in Boxes(moov).filter(|(kind, _)| *kind == b"trak") {
        let handler =
            find(track, b"mdia").and_then(|mdia| find(mdia, b"hdlr")).and_then(|hdlr| hdlr.get(8..12));
        match handler {
            Some(b"vide") => {
                movie.has_video = true;
                movie.dimensions = movie.dimensions.or_else(|| find(track, b"tkhd").and_then(dimensions));
            }
            Some(b"soun") => movie.has_audio = true,
            _ => {}
        }
    }
    Some(movie)
}

/// The boxes in these bytes, one after the other; ends at the first box that does not fit.
struct Boxes<'a>(&'a [u8]);

impl<'a> Iterator for Boxes<'a> {
    /// A box's kind and its content.
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.0;
        let kind = bytes.get(4..8)?;
        let (header, length) = match u32_at(bytes, 0)? {
            // The box extends to the end.
            0 => (8, bytes.len()),
            1 => (16, usize::try_from(u64_at(bytes, 8)?).ok()?),
            length => (8, usize::try_from(length).ok()?),
        };
        let body = bytes.get(header..length)?;
        self.0 = bytes.get(length..)?;
        Some((kind, body))
    }
}

fn find<'a>(bytes: &'a [u8], kind: &[u8]) -> Option<&'a [u8]> {
    Boxes(bytes).find(|(found, _)| *found == kind).map(|(_, body)| body)
}

/// From `mvhd`: the length in units of its own.
fn duration(mvhd: &[u8]) -> Option<Duration> {
    let (scale, units) = match mvhd.first()? {
        0 => (u32_at(mvhd, 12)?, u64::from(u32_at(mvhd, 16).filter(|units| *units != u32::MAX)?)),
        1 => (u32_at(mvhd, 20)?, u64_at(mvhd, 24).filter(|units| *units != u64::MAX)?),
        _ => return None,
    };
    let milliseconds = u128::from(units) * 1000 / u128::from(Some(scale).filter(|scale| *scale > 0)?);
    // Zero means "unknown": a film in fragments does not have its length here.
    let milliseconds = u64::try_from(milliseconds).ok().filter(|milliseconds| *milliseconds > 0)?;
    Some(Duration::from_millis(milliseconds))
}

/// From `tkhd`: width and height, swapped when the matrix turns the picture on its side.
fn dimensions(tkhd: &[u8]) -> Option<Dimensions> {
    let matrix = match tkhd.first()? {
        0 => 40,
        1 => 52,
        _ => return None,
    };
    let is_turned = u32_at(tkhd, matrix)? == 0 && u32_at(tkhd, matrix + 4)? != 0;
    // Sixteen bits before the point and sixteen behind it.
    let (width, height) = (u32_at(tkhd, matrix + 36)? >> 16, u32_at(tkhd, matrix + 40)? >> 16);
    let shown = if is_turned { (height, width) } else { (width, height) };
    (width > 0 && height > 0).then_some(Dimensions { width: shown.0, height: shown.1 })
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..)?.first_chunk().copied()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_be_bytes(bytes.get(at..)?.first_chunk().copied()?))
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    fn boxed(kind: &[u8; 4], body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 8).unwrap();
        [length.to_be_bytes().as_slice(), kind, body].concat()
    }

    fn mvhd(scale: u32, units: u32) -> Vec<u8> {
        boxed(b"mvhd", &[[0; 12].as_slice(), &scale.to_be_bytes(), &units.to_be_bytes(), &[0; 80]].concat())
    }

    fn track(handler: &[u8; 4], size: (u32, u32), is_turned: bool) -> Vec<u8> {
        let matrix = if is_turned { [0_u32, 0x0001_0000] } else { [0x0001_0000, 0] };
        let mut tkhd = vec![0; 84];
        tkhd[40..44].copy_from_slice(&matrix[0].to_be_bytes());
        tkhd[44..48].copy_from_slice(&matrix[1].to_be_bytes());
        tkhd[76..80].copy_from_slice(&(size.0 << 16).to_be_bytes());
        tkhd[80..84].copy_from_slice(&(size.1 << 16).to_be_bytes());
        let hdlr = boxed(b"hdlr", &[[0; 8].as_slice(), handler, &[0; 12]].concat());
        boxed(b"trak", &[boxed(b"tkhd", &tkhd), boxed(b"mdia", &hdlr)].concat())
    }

    /// A file of this brand with tracks of these kinds, its content before its description.
    pub(in super::super) fn file(brand: &[u8; 4], handlers: &[&[u8; 4]]) -> Vec<u8> {
        let tracks: Vec<u8> = handlers.iter().flat_map(|handler| track(handler, (640, 360), false)).collect();
        [
            boxed(b"ftyp", &[brand.as_slice(), &[0, 0, 2, 0], brand].concat()),
            boxed(b"mdat", &[7; 100]),
            boxed(b"moov", &[mvhd(1000, 12_345), tracks].concat()),
        ]
        .concat()
    }

    #[test]
    fn a_film_tells_its_length_and_its_size() {
        let film = file(b"isom", &[b"soun", b"vide"]);
        let movie = read(&film).unwrap();
        assert_eq!(brand(&film), Some(b"isom".as_slice()));
        assert_eq!(movie.duration, Some(Duration::from_millis(12_345)));
        assert_eq!(movie.dimensions, Some(Dimensions { width: 640, height: 360 }));
        assert!(movie.has_video && movie.has_audio);

        let sound = read(&file(b"M4A ", &[b"soun"])).unwrap();
        assert!(!sound.has_video && sound.has_audio && sound.dimensions.is_none());
    }

    #[test]
    fn a_film_on_its_side_is_as_high_as_it_is_shown() {
        let moov = boxed(b"moov", &track(b"vide", (1920, 1080), true));
        let movie = read(&moov).unwrap();
        assert_eq!(movie.dimensions, Some(Dimensions { width: 1080, height: 1920 }));
        assert_eq!(movie.duration, None);
    }

    #[test]
    fn a_length_that_is_not_known_is_none() {
        for (scale, units) in [(0, 7), (1000, 0), (1000, u32::MAX)] {
            let moov = boxed(b"moov", &mvhd(scale, units));
            assert_eq!(read(&moov), Some(Movie::default()), "{units}/{scale}");
        }
        let long = [[1, 0, 0, 0].as_slice(), &[0; 16], &[0, 0, 0, 2], &7_u64.to_be_bytes()].concat();
        let moov = boxed(b"moov", &boxed(b"mvhd", &long));
        assert_eq!(read(&moov).unwrap().duration, Some(Duration::from_millis(3500)));
    }

    #[test]
    fn boxes_of_impossible_lengths_end_the_reading() {
        let huge = [[0, 0, 0, 1].as_slice(), b"moov", &[0xff; 8], &[0; 8]].concat();
        for bytes in [b"".as_slice(), b"\0\0\0\x04moov", b"\0\0\0\x07moov", b"\xff\xff\xff\xffmoov", &huge] {
            assert_eq!(read(bytes), None, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_harm(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        ) {
            let (_, _) = (read(&bytes), brand(&bytes));
            let mut film = file(b"isom", &[b"vide"]);
            for (at, byte) in damage {
                let at = at.index(film.len());
                film[at] = byte;
            }
            let (_, _) = (read(&film), brand(&film));
        }
    }
}
