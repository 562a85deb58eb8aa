//! A file as memory, for files that this program wrote itself.

use std::fs::File;
use std::ops::Deref;
use std::path::Path;

use crate::Error;

/// The content of a file, loaded page by page as it is touched.
#[derive(Debug)]
pub struct Mapped(memmap2::Mmap);

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

/// For cache files only. A log still being written may shrink under a map, which is a signal
/// and not an error: logs are read through [`crate::Part`].
pub fn map_file(path: impl AsRef<Path>) -> Result<Mapped, Error> {
    let path = path.as_ref();
    let failed = |source| Error::Open { path: path.to_owned(), source };
    let file = File::open(path).map_err(failed)?;
    #[expect(unsafe_code, reason = "mapping a file is unsafe in every library that offers it")]
    // SAFETY: a map is sound while nobody changes or shortens the file, which no program can
    // enforce for others. What we can say: cache files are ours, are written under another
    // name and renamed when complete, and are never changed in place; replacing or deleting one
    // leaves an existing map on the old content. Somebody who edits a cache file in place gets
    // wrong numbers or a killed process, not access to anything: the map is read-only, private
    // to this process, and everything read from it is bounds- and checksum-checked.
    let map = unsafe { memmap2::Mmap::map(&file) }.map_err(failed)?;
    Ok(Mapped(map))
}

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        self
    }
}
