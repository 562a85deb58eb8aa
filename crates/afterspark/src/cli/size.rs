//! Sizes as people type them.

/// `1GB`, `512m`, `1.5 GiB`, `1000000`: bytes. Units are binary, as Spark's are.
pub(super) fn parse(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ');
    let unit = text[digits.len()..].trim().to_ascii_lowercase();
    let shift = match unit.trim_end_matches('b').trim_end_matches('i') {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return Err(format!("unknown unit {unit}; use k, m, g or t")),
    };
    let number: f64 = digits.parse().map_err(|_| "not a size; examples: 512m, 1g".to_owned())?;
    let bytes = number * (1u64 << shift) as f64;
    if bytes >= MEMORY_BYTES_MIN as f64 { Ok(bytes as u64) } else { Err("at least 64m".to_owned()) }
}

/// Less than this cannot hold a block and a batch for each thread.
const MEMORY_BYTES_MIN: u64 = 64 << 20;

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn sizes() {
        assert_eq!(parse("1GB"), Ok(1 << 30));
        assert_eq!(parse("1.5 GiB"), Ok(3 << 29));
        assert_eq!(parse("512m"), Ok(512 << 20));
        assert_eq!(parse("100000000"), Ok(100_000_000));
        assert!(parse("1k").is_err() && parse("x").is_err() && parse("1q").is_err());
    }
}
