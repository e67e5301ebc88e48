//! A company's logo: a picture that is recognised by its content, and written again as a small PNG file, so that nothing of
//! the uploaded bytes is served.

use std::io::Cursor;

use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder as _, ImageError, ImageFormat, ImageReader, Limits};
use sha2::{Digest as _, Sha256};

/// The largest file, in bytes.
pub(crate) const MOST_BYTES: usize = 1024 * 1024;
/// The most pixels of a side.
pub(crate) const MOST_SIDE: u32 = 2_048;
/// The most memory for a decoded picture: sixteen bytes for each pixel.
const MOST_MEMORY: u64 = 16 * (MOST_SIDE as u64) * (MOST_SIDE as u64);
/// The longer side of the logo that is served, in pixels: twice as many as it has on a page, for fine screens.
const SIDE: u32 = 256;

/// A logo to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Logo {
    /// The SHA-256 of the file in hexadecimal digits.
    pub(crate) hash: String,
    /// The file.
    pub(crate) png: Vec<u8>,
}

/// Why a file is no logo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogoFault {
    /// It is no PNG, JPEG or WebP picture, or a damaged one.
    NoPicture,
    /// A side has more than [`MOST_SIDE`] pixels.
    TooManyPixels,
}

impl From<ImageError> for LogoFault {
    fn from(error: ImageError) -> Self {
        if matches!(error, ImageError::Limits(_)) { Self::TooManyPixels } else { Self::NoPicture }
    }
}

impl Logo {
    /// Reads a PNG, JPEG or WebP file.
    ///
    /// # Errors
    ///
    /// [`LogoFault`].
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, LogoFault> {
        let reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format();
        let mut reader = reader.map_err(|_| LogoFault::NoPicture)?;
        if !matches!(reader.format(), Some(ImageFormat::Png | ImageFormat::Jpeg | ImageFormat::WebP)) {
            return Err(LogoFault::NoPicture);
        }
        let mut limits = Limits::default();
        limits.max_image_width = Some(MOST_SIDE);
        limits.max_image_height = Some(MOST_SIDE);
        limits.max_alloc = Some(MOST_MEMORY);
        reader.limits(limits);
        let mut decoder = reader.into_decoder()?;
        let (width, height) = decoder.dimensions();
        if width > MOST_SIDE || height > MOST_SIDE {
            return Err(LogoFault::TooManyPixels);
        }
        let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
        let mut picture = DynamicImage::from_decoder(decoder)?;
        picture.apply_orientation(orientation);
        // A small picture is not enlarged.
        if picture.width().max(picture.height()) > SIDE {
            picture = picture.thumbnail(SIDE, SIDE);
        }
        let mut png = Cursor::new(Vec::new());
        picture.into_rgba8().write_to(&mut png, ImageFormat::Png)?;
        let png = png.into_inner();
        Ok(Self { hash: hex::encode(Sha256::digest(&png)), png })
    }
}

#[cfg(test)]
mod tests {
    use image::{Rgb, RgbImage};

    use super::*;

    fn picture(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        RgbImage::from_pixel(width, height, Rgb([200, 30, 30])).write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    }

    #[test]
    fn a_picture_becomes_a_small_png_whatever_its_format() {
        for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP] {
            let logo = Logo::read(&picture(600, 300, format)).unwrap();
            let small = image::load_from_memory_with_format(&logo.png, ImageFormat::Png).unwrap();
            assert_eq!((small.width(), small.height(), logo.hash.len()), (256, 128, 64), "{format:?}");
        }
        let tiny = Logo::read(&picture(20, 10, ImageFormat::Png)).unwrap();
        let tiny = image::load_from_memory(&tiny.png).unwrap();
        assert_eq!((tiny.width(), tiny.height()), (20, 10), "it is not enlarged");
    }

    #[test]
    fn other_files_and_large_pictures_are_refused() {
        let svg = b"<svg xmlns=\"http://www.w3.org/2000/svg\"><script/></svg>";
        let good = picture(64, 64, ImageFormat::Png);
        for wrong in [&b""[..], &svg[..], b"GIF89a\x01\0\x01\0", &good[..good.len() / 2]] {
            assert_eq!(Logo::read(wrong), Err(LogoFault::NoPicture), "{wrong:?}");
        }
        let wide = picture(MOST_SIDE + 1, 1, ImageFormat::Png);
        assert_eq!(Logo::read(&wide), Err(LogoFault::TooManyPixels));
    }
}
