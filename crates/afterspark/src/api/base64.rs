//! Base64 for URLs (RFC 4648, section 5), read as Java's decoder reads it.

/// The text that was encoded, ill-formed UTF-8 replaced; `None` when it is not base64. Padding at the end may be missing,
/// but not be wrong.
pub(crate) fn decode_text(encoded: &str) -> Option<String> {
    decode(encoded.as_bytes()).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn decode(encoded: &[u8]) -> Option<Vec<u8>> {
    let n_digits = encoded.iter().position(|b| *b == b'=').unwrap_or(encoded.len());
    let (digits, padding) = encoded.split_at(n_digits);
    let n_last = digits.len() % 4;
    let is_padded = match padding {
        b"" => true,
        b"=" => n_last == 3,
        b"==" => n_last == 2,
        _ => false,
    };
    if !is_padded || n_last == 1 {
        return None;
    }
    let mut bytes = Vec::with_capacity(encoded.len() / 4 * 3 + 3);
    for unit in digits.chunks(4) {
        let mut bits = 0_u32;
        for digit in unit {
            bits = bits << 6 | u32::from(value(*digit)?);
        }
        bits <<= 6 * (4 - unit.len());
        bytes.extend_from_slice(&bits.to_be_bytes()[1..unit.len()]);
    }
    Some(bytes)
}

fn value(digit: u8) -> Option<u8> {
    Some(match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'-' => 62,
        b'_' => 63,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::decode_text;

    /// As Java 17 reads them.
    #[test]
    fn as_java_reads_it() {
        for (encoded, text) in [
            ("", Some("")),
            ("YW5u", Some("ann")),
            ("YQ", Some("a")),
            ("YQ==", Some("a")),
            ("YWI=", Some("ab")),
            ("w7w_Pj4-", Some("ü?>>>")),
            ("YQ=", None),
            ("YQ==x", None),
            ("YWI==", None),
            ("YW5u=", None),
            ("=", None),
            ("Y", None),
            ("YW5uY", None),
            ("YW5u\n", None),
            ("YW+/", None),
            ("_w", Some("\u{fffd}")),
        ] {
            assert_eq!(decode_text(encoded).as_deref(), text, "{encoded}");
        }
    }
}
