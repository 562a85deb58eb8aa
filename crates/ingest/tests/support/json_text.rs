//! JSON as text in a tree: members keep their order and numbers their digits, unless a test changes them.

#[derive(Clone, Debug)]
pub(crate) enum Json {
    /// A number, a text with its quotes, `true`, `null`.
    Leaf(String),
    List(Vec<Json>),
    /// Keys without their quotes.
    Object(Vec<(String, Json)>),
}

/// What stands after colons and commas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gaps {
    Nothing,
    Spaces,
}

impl Json {
    /// Of a valid document.
    pub(crate) fn parse(text: &str) -> Json {
        let mut rest = text.trim();
        let json = value(&mut rest);
        assert_eq!(rest, "", "more than one document");
        json
    }

    pub(crate) fn text(&self, gaps: Gaps) -> String {
        let mut out = String::new();
        self.write(if gaps == Gaps::Spaces { " " } else { "" }, &mut out);
        out
    }

    fn write(&self, gap: &str, out: &mut String) {
        match self {
            Json::Leaf(text) => out.push_str(text),
            Json::List(values) => {
                out.push('[');
                for (n, value) in values.iter().enumerate() {
                    out.push_str(if n > 0 { "," } else { "" });
                    out.push_str(if n > 0 { gap } else { "" });
                    value.write(gap, out);
                }
                out.push(']');
            }
            Json::Object(members) => {
                out.push('{');
                for (n, (key, value)) in members.iter().enumerate() {
                    out.push_str(if n > 0 { "," } else { "" });
                    out.push_str(if n > 0 { gap } else { "" });
                    out.push('"');
                    out.push_str(key);
                    out.push_str("\":");
                    out.push_str(gap);
                    value.write(gap, out);
                }
                out.push('}');
            }
        }
    }

    /// Members of every object the other way round.
    pub(crate) fn reversed(mut self) -> Json {
        self.each(&mut |value| {
            if let Json::Object(members) = value {
                members.reverse();
            }
        });
        self
    }

    /// Calls for every value below this one, parents first.
    pub(crate) fn each(&mut self, change: &mut dyn FnMut(&mut Json)) {
        change(self);
        match self {
            Json::Leaf(_) => {}
            Json::List(values) => values.iter_mut().for_each(|value| value.each(change)),
            Json::Object(members) => members.iter_mut().for_each(|(_, value)| value.each(change)),
        }
    }

    pub(crate) fn n_values(&self) -> usize {
        let mut n = 0;
        self.clone().each(&mut |_| n += 1);
        n
    }

    /// The value of that number, for messages: the last key before it.
    pub(crate) fn member(&self, number: usize) -> String {
        let changed = self.with(number, "HERE").text(Gaps::Nothing);
        let before = changed.split("HERE").next().unwrap_or_default();
        let keys = before.rsplit('"').skip(1).step_by(2);
        keys.take(3).collect::<Vec<_>>().join(" < ")
    }

    /// With the value of that number, in the order of [`Json::each`], replaced.
    pub(crate) fn with(&self, number: usize, value: &str) -> Json {
        let (mut changed, mut n) = (self.clone(), 0);
        changed.each(&mut |old| {
            if n == number {
                *old = Json::Leaf(value.to_owned());
            }
            n += 1;
        });
        changed
    }
}

fn value(rest: &mut &str) -> Json {
    match rest.as_bytes()[0] {
        b'{' => Json::Object(items(rest, '}', |rest| {
            let key = leaf(rest);
            eat(rest, ':');
            (key.trim_matches('"').to_owned(), value(rest))
        })),
        b'[' => Json::List(items(rest, ']', value)),
        _ => Json::Leaf(leaf(rest)),
    }
}

fn items<T>(rest: &mut &str, end: char, item: impl Fn(&mut &str) -> T) -> Vec<T> {
    let mut found = Vec::new();
    *rest = rest[1..].trim_start();
    while !rest.starts_with(end) {
        found.push(item(rest));
        if rest.starts_with(',') {
            eat(rest, ',');
        }
    }
    eat(rest, end);
    found
}

fn eat(rest: &mut &str, sign: char) {
    *rest = rest.strip_prefix(sign).expect("valid JSON").trim_start();
}

fn leaf(rest: &mut &str) -> String {
    let bytes = rest.as_bytes();
    let mut end = 1;
    if bytes[0] == b'"' {
        while bytes[end] != b'"' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        end += 1;
    } else {
        end = rest.find([',', '}', ']', ' ']).unwrap_or(rest.len());
    }
    let text = rest[..end].to_owned();
    *rest = rest[end..].trim_start();
    text
}
