//! Determines the length of a sound.
//!
//! Nothing is decoded: the length is in the container, or the frames are counted, which is exact for variable
//! bit rates too. Each reader passes through the bytes once and treats every length in them as untrusted.

use std::time::Duration;

use super::format;

/// The first bytes of an AMR file.
const AMR_MAGIC: &[u8] = b"#!AMR\n";
/// Bytes of an AMR frame after its first byte, by the frame's mode.
const AMR_FRAME_BYTES: [usize; 16] = [12, 13, 15, 17, 19, 20, 26, 31, 5, 0, 0, 0, 0, 0, 0, 0];
/// The length of every AMR frame.
const AMR_FRAME: Duration = Duration::from_millis(20);
/// The bit rates of MP3 frames in kbit/s, by index: of version 1, and of versions 2 and 2.5.
const MP3_BIT_RATES: [[usize; 15]; 2] = [
    [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
    [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
];
/// The sample rates of MP3 frames of version 1, by index; version 2 has half, version 2.5 a quarter of them.
const MP3_SAMPLE_RATES: [usize; 3] = [44_100, 48_000, 32_000];
/// The sample rates of AAC frames, by index.
const AAC_SAMPLE_RATES: [usize; 13] =
    [96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350];
/// The sample rate of Opus, whatever the source was.
const OPUS_SAMPLES_PER_MILLISECOND: u64 = 48;

/// The length of a sound of this type; `None` when it is unknown.
pub(super) fn duration(bytes: &[u8], mime_type: &str) -> Option<Duration> {
    let duration = match mime_type {
        format::OPUS => opus(bytes)?,
        format::WAV => wav(bytes)?,
        format::MP3 => frames(after_id3(bytes), mp3_frame),
        format::AAC => frames(after_id3(bytes), aac_frame),
        format::AMR => frames(bytes.strip_prefix(AMR_MAGIC)?, amr_frame),
        _ => return None,
    };
    Some(duration).filter(|duration| !duration.is_zero())
}

/// One frame: its length in bytes, and its duration.
struct Frame {
    length: usize,
    sounds: Duration,
}

impl Frame {
    fn of(length: usize, samples: usize, rate: usize) -> Option<Self> {
        let nanoseconds = (samples as u64 * 1_000_000_000).checked_div(rate as u64)?;
        Some(Self { length, sounds: Duration::from_nanos(nanoseconds) })
    }
}

/// The length of all complete frames; bytes between them are skipped.
fn frames(bytes: &[u8], head: fn(&[u8]) -> Option<Frame>) -> Duration {
    let mut rest = bytes;
    let mut sounds = Duration::ZERO;
    while !rest.is_empty() {
        let step = match head(rest) {
            Some(frame) if frame.length <= rest.len() => {
                sounds += frame.sounds;
                frame.length.max(1)
            }
            _ => 1,
        };
        rest = rest.get(step..).unwrap_or_default();
    }
    sounds
}

fn amr_frame(bytes: &[u8]) -> Option<Frame> {
    let mode = bytes.first()? >> 3 & 0x0f;
    Some(Frame { length: 1 + AMR_FRAME_BYTES[usize::from(mode)], sounds: AMR_FRAME })
}

fn mp3_frame(bytes: &[u8]) -> Option<Frame> {
    let [0xff, second, third, ..] = *bytes else { return None };
    let (version, layer) = (second >> 3 & 3, second >> 1 & 3);
    if second & 0xe0 != 0xe0 || version == 1 || layer != 1 {
        return None;
    }
    let is_first = version == 3;
    let rates = MP3_BIT_RATES[usize::from(!is_first)];
    let bit_rate = *rates.get(usize::from(third >> 4)).filter(|rate| **rate > 0)? * 1000;
    let divisor = [4, 1, 2, 1][usize::from(version)];
    let sample_rate = MP3_SAMPLE_RATES.get(usize::from(third >> 2 & 3))? / divisor;
    let samples = if is_first { 1152 } else { 576 };
    let padding = usize::from(third >> 1 & 1);
    Frame::of(samples / 8 * bit_rate / sample_rate + padding, samples, sample_rate)
}

fn aac_frame(bytes: &[u8]) -> Option<Frame> {
    let [0xff, second, third, fourth, fifth, sixth, seventh, ..] = *bytes else { return None };
    if second & 0xf6 != 0xf0 {
        return None;
    }
    let sample_rate = *AAC_SAMPLE_RATES.get(usize::from(third >> 2 & 0x0f))?;
    let length = usize::from(fourth & 3) << 11 | usize::from(fifth) << 3 | usize::from(sixth >> 5);
    Frame::of(length, 1024 * (usize::from(seventh & 3) + 1), sample_rate)
}

/// The bytes after an ID3v2 tag, if there is one.
fn after_id3(bytes: &[u8]) -> &[u8] {
    let [b'I', b'D', b'3', _, _, flags, a, b, c, d, ..] = *bytes else { return bytes };
    let length = [a, b, c, d].iter().fold(0, |length, byte| length << 7 | usize::from(byte & 0x7f));
    let footer = if flags & 0x10 == 0 { 0 } else { 10 };
    bytes.get(10 + length + footer..).unwrap_or_default()
}

/// The length from the last page that counts samples, without the pre-skip samples.
fn opus(bytes: &[u8]) -> Option<Duration> {
    let head = bytes.windows(8).position(|window| window == b"OpusHead")?;
    let warm_up = u16::from_le_bytes(*bytes.get(head + 10..)?.first_chunk()?);
    let mut rest = bytes;
    while let Some(page) = rest.windows(4).rposition(|window| window == b"OggS") {
        let samples =
            rest.get(page + 6..).and_then(|rest| rest.first_chunk()).map(|bytes| u64::from_le_bytes(*bytes));
        if let Some(samples) = samples.filter(|samples| *samples != u64::MAX) {
            let samples = samples.saturating_sub(u64::from(warm_up));
            return Some(Duration::from_millis(samples / OPUS_SAMPLES_PER_MILLISECOND));
        }
        rest = &rest[..page];
    }
    None
}

/// The bytes of the sound divided by the bytes per second.
fn wav(bytes: &[u8]) -> Option<Duration> {
    let mut rest = bytes.get(12..)?;
    let mut bytes_per_second = 0;
    loop {
        let kind = rest.get(..4)?;
        let length = u32::from_le_bytes(*rest.get(4..)?.first_chunk()?) as usize;
        let body = &rest[8..];
        match kind {
            b"fmt " => bytes_per_second = u32::from_le_bytes(*body.get(8..)?.first_chunk()?),
            b"data" => {
                // A recorder that was interrupted leaves a wrong length in the header.
                let milliseconds = length.min(body.len()) as u64 * 1000;
                return milliseconds.checked_div(u64::from(bytes_per_second)).map(Duration::from_millis);
            }
            _ => {}
        }
        rest = body.get(length + length % 2..)?;
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ogg_page(kind: u8, granule: u64, sequence: u32, packet: &[u8]) -> Vec<u8> {
        let mut page = [
            b"OggS\0".as_slice(),
            &[kind],
            &granule.to_le_bytes(),
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

    /// A silent voice message of this many milliseconds.
    pub(in super::super) fn opus(milliseconds: u64) -> Vec<u8> {
        let pre_skip = 312_u16;
        let head =
            [b"OpusHead\x01\x01".as_slice(), &pre_skip.to_le_bytes(), &48_000_u32.to_le_bytes(), &[0; 3]];
        let tags = [b"OpusTags".as_slice(), &4_u32.to_le_bytes(), b"test", &0_u32.to_le_bytes()];
        let granule = milliseconds * 48 + u64::from(pre_skip);
        [
            ogg_page(2, 0, 0, &head.concat()),
            ogg_page(0, 0, 1, &tags.concat()),
            ogg_page(4, granule, 2, &[0xf8, 0xff, 0xfe]),
        ]
        .concat()
    }

    /// Silence of this many milliseconds at 8,000 bytes a second.
    pub(in super::super) fn wav(milliseconds: u32) -> Vec<u8> {
        let length = milliseconds * 8;
        [
            b"RIFF".as_slice(),
            &(length + 36).to_le_bytes(),
            b"WAVEfmt \x10\0\0\0\x01\0\x01\0",
            &8_000_u32.to_le_bytes(),
            &8_000_u32.to_le_bytes(),
            b"\x01\0\x08\0data",
            &length.to_le_bytes(),
            &vec![0x80; length as usize],
        ]
        .concat()
    }

    /// Frames of 417 bytes: 128 kbit/s at 44,100 Hz, 1,152 samples each.
    pub(in super::super) fn mp3(frames: usize) -> Vec<u8> {
        let frame = [[0xff, 0xfb, 0x90, 0x00].as_slice(), &[0; 413]].concat();
        frame.repeat(frames)
    }

    #[test]
    fn each_kind_of_sound_tells_its_length() {
        let told = |bytes: &[u8], mime_type| duration(bytes, mime_type).map(|duration| duration.as_millis());
        assert_eq!(told(&opus(2_500), format::OPUS), Some(2_500));
        assert_eq!(told(&wav(1_500), format::WAV), Some(1_500));
        // 1,152 samples each at 44,100 a second, behind a tag and before another.
        let tagged = [b"ID3\x04\0\0\0\0\x01\0".as_slice(), &[0xff; 128], &mp3(100), b"TAG"].concat();
        assert_eq!(told(&tagged, format::MP3), Some(2_612));
        // 1,024 samples at 44,100 a second.
        let aac = [[0xff, 0xf1, 0x50, 0x80, 0x01, 0x3f, 0xfc].as_slice(), &[0; 2]].concat().repeat(100);
        assert_eq!(told(&aac, format::AAC), Some(2_321));
        // A frame of mode 7, and one of silence; the last is not whole.
        let amr = [AMR_MAGIC, &[0x3c], &[0; 31], &[0x7c], &[0x3c, 0]].concat();
        assert_eq!(told(&amr, format::AMR), Some(40));
    }

    #[test]
    fn a_file_without_a_length_has_no_duration() {
        for mime_type in [format::OPUS, format::MP3, format::AAC, format::WAV, format::AMR, "audio/x"] {
            for bytes in [b"".as_slice(), b"OggS", b"RIFF\0\0\0\0WAVE", b"#!AMR\n", b"ID3", b"\xff\xf1"] {
                assert_eq!(duration(bytes, mime_type), None, "{mime_type} {bytes:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_harm(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        ) {
            let types = [format::OPUS, format::MP3, format::AAC, format::WAV, format::AMR];
            for mut sound in [bytes, opus(100), mp3(3), wav(50)] {
                for (at, byte) in &damage {
                    if !sound.is_empty() {
                        let at = at.index(sound.len());
                        sound[at] = *byte;
                    }
                }
                for mime_type in types {
                    let _ = duration(&sound, mime_type);
                }
            }
        }
    }
}
