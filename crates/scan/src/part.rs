//! Where the bytes of one file of a log come from.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::Error;

/// One file of a log: a local file, an entry of a zip, an object in a bucket.
///
/// A reader's [`io::ErrorKind`] tells whose fault it is: `InvalidData`, `UnexpectedEof` and
/// `Unsupported` are the content's and become [`crate::Damage`]; all others are the world's.
pub trait Part: Send + Sync {
    /// As shown in gaps and errors.
    fn name(&self) -> &str;
    /// Where that is, for errors.
    fn location(&self) -> PathBuf {
        self.name().into()
    }
    /// As stored (compressed), at the time of opening.
    fn size_bytes(&self) -> u64;
    /// How many bytes `open(0)` yields: more than `size_bytes` where it unpacks.
    fn readable_bytes(&self) -> u64 {
        self.size_bytes()
    }
    fn open(&self, from_byte: u64) -> Result<Box<dyn Read + Send>, Error>;
}

/// A local file, read to the length seen when it was opened: a file that grows meanwhile
/// is seen as it was at one moment.
#[derive(Debug, Clone)]
pub struct FilePart {
    path: PathBuf,
    name: String,
    size_bytes: u64,
}

impl FilePart {
    pub fn open(path: impl AsRef<Path>) -> Result<FilePart, Error> {
        let path = path.as_ref();
        let failed = |source| Error::Open { path: path.to_owned(), source };
        let about = File::open(path).and_then(|file| file.metadata()).map_err(failed)?;
        if about.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Ok(FilePart { path: path.to_owned(), name, size_bytes: about.len() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Part for FilePart {
    fn name(&self) -> &str {
        &self.name
    }

    fn location(&self) -> PathBuf {
        self.path.clone()
    }

    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn open(&self, from_byte: u64) -> Result<Box<dyn Read + Send>, Error> {
        let failed = |source| Error::Open { path: self.path.clone(), source };
        let mut file = File::open(&self.path).map_err(failed)?;
        if from_byte > 0 {
            file.seek(SeekFrom::Start(from_byte)).map_err(failed)?;
        }
        Ok(Box::new(file.take(self.size_bytes.saturating_sub(from_byte))))
    }
}
