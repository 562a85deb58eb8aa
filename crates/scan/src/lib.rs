//! Bytes to lines to tokens.
