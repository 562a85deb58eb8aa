//! Which codec bytes are in, told by the bytes themselves: names of logs lie after a rename.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::gzip::Gzip;
use crate::input::Input;
use crate::layer::{Border, Got, Layer, Metered, Stored};
use crate::limits::CODEC_DEPTH_MAX;
use crate::lz4::Lz4Block;
use crate::lzf::Lzf;
use crate::pieces::Pieces;
use crate::snappy::Snappy;
use crate::zstd::Zstd;
use crate::{Error, Limits, Part};

/// The codecs Spark writes event logs in, and gzip, in which people keep them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Codec {
    Plain,
    Zstd,
    /// Spark's `lz4`: `LZ4Block` framing of lz4-java.
    Lz4Block,
    /// Spark's `snappy`: framing of snappy-java.
    SnappyJava,
    /// Spark's `lzf`: chunks of compress-lzf.
    Lzf,
    Gzip,
}

/// So many bytes tell the codec.
pub const HEAD_BYTES: usize = 16;

impl Codec {
    /// Whatever is none of the others is plain.
    pub fn detect(head: &[u8]) -> Codec {
        match head {
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Codec::Zstd,
            [b'L', b'Z', b'4', b'B', b'l', b'o', b'c', b'k', ..] => Codec::Lz4Block,
            [0x82, b'S', b'N', b'A', b'P', b'P', b'Y', 0, ..] => Codec::SnappyJava,
            [b'Z', b'V', 0 | 1, ..] => Codec::Lzf,
            [0x1f, 0x8b, 8, ..] => Codec::Gzip,
            _ => Codec::Plain,
        }
    }
}

/// The text of a part as a chain of layers.
pub(crate) struct Text {
    pub(crate) layer: Plain,
    pub(crate) restart: Restart,
}

/// Where decoding of a part can begin again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Restart {
    Anywhere,
    AtBorders,
    /// A codec inside a codec: only at the beginning.
    Never,
}

/// `stored_offset` other than 0 must be a border of the outermost codec, with `decoded` bytes
/// of text before it.
pub(crate) fn open_text(
    part: &dyn Part,
    stored_offset: u64,
    decoded: u64,
    limits: Limits,
    progress: &Arc<AtomicU64>,
) -> Result<Text, Error> {
    if stored_offset > 0 {
        let codec = codec_of(part)?;
        let stored = Stored::open(part, stored_offset, limits, Arc::clone(progress))?;
        let taken = stored.taken();
        let input = Input::of_stored(stored);
        if codec == Codec::Plain {
            return Ok(Text { layer: Plain(input), restart: Restart::Anywhere });
        }
        let layer = Metered::new(decoder(codec, input)?, taken, limits, decoded);
        let layer = Plain(Input::new(Box::new(layer), false));
        return Ok(Text { layer, restart: Restart::AtBorders });
    }
    let stored = Stored::open(part, 0, limits, Arc::clone(progress))?;
    let taken = stored.taken();
    let mut input = Input::of_stored(stored);
    let mut restart = Restart::Anywhere;
    for _ in 0..CODEC_DEPTH_MAX {
        let codec = Codec::detect(input.need(HEAD_BYTES)?);
        if codec == Codec::Plain {
            break;
        }
        let layer = Metered::new(decoder(codec, input)?, Arc::clone(&taken), limits, 0);
        input = Input::new(Box::new(layer), false);
        restart = if restart == Restart::Anywhere { Restart::AtBorders } else { Restart::Never };
    }
    Ok(Text { layer: Plain(input), restart })
}

fn codec_of(part: &dyn Part) -> Result<Codec, Error> {
    let unlimited = Limits { expansion_ratio_max: u64::MAX, ..Limits::default() };
    let stored = Stored::open(part, 0, unlimited, Arc::default())?;
    let mut input = Input::of_stored(stored);
    Ok(Codec::detect(input.need(HEAD_BYTES)?))
}

fn decoder(codec: Codec, input: Input) -> Result<Box<dyn Layer>, Error> {
    Ok(match codec {
        Codec::Zstd => Box::new(Zstd::new(input)?),
        Codec::Lz4Block => Box::new(Pieces::new(input, Lz4Block)),
        Codec::SnappyJava => Box::new(Pieces::new(input, Snappy::default())),
        Codec::Lzf => Box::new(Pieces::new(input, Lzf)),
        Codec::Gzip => Box::new(Gzip::new(input)),
        Codec::Plain => Box::new(Plain(input)),
    })
}

/// The top of every chain: passes on what is below.
pub(crate) struct Plain(pub(crate) Input);

impl Layer for Plain {
    fn read(&mut self, to: &mut [u8]) -> Result<Got, Error> {
        self.0.read(to)
    }

    fn stored_offset(&self) -> u64 {
        self.0.stored_offset()
    }

    fn border(&self) -> Border {
        self.0.border_below()
    }
}
