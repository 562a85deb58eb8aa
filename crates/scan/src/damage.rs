//! Places where a log's bytes could not be delivered.

/// Something is missing at `offset`; what precedes it was delivered to the last byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    pub kind: DamageKind,
    /// Decoded offset in the part.
    pub offset: u64,
    /// About where in the part as stored.
    pub stored_offset: u64,
    /// How much is lost, where that can be known: decoded bytes for `LineTooLong`,
    /// stored bytes for all others.
    pub bytes: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DamageKind {
    /// The line is over [`crate::Limits::line_bytes_max`] and was dropped.
    LineTooLong,
    /// The bytes end inside a frame: a running application, or a copy that stopped.
    CutShort,
    /// The bytes are not what the codec or its checksum says they are.
    Corrupt,
    /// More came out than [`crate::Limits::expansion_ratio_max`] allows; the part ends here.
    Expansion,
    /// Needs what this reader does not do: a zstd dictionary or a window over 128 MiB,
    /// an encrypted zip entry or one of a rare method.
    UnknownCodec,
}
