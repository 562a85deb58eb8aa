//! Counts of answers by class of endpoint, and the table that shows them.

use std::collections::BTreeMap;

use super::difference::{Difference, How, compare};
use super::exceptions::Exceptions;
use super::record::Record;

/// Differing places shown of one answer.
const PLACES_SHOWN: usize = 6;

#[derive(Default, Clone, Copy)]
struct Counts {
    identical: usize,
    differing: usize,
    missing: usize,
    excepted: usize,
}

/// An answer that differs.
struct Example {
    class: String,
    path: String,
    /// Ready to be shown.
    lines: Vec<String>,
}

#[derive(Default)]
pub struct Tally {
    classes: BTreeMap<String, Counts>,
    /// Answers that each named exception covers.
    excepted: BTreeMap<String, usize>,
    examples: Vec<Example>,
    show: usize,
}

impl Tally {
    /// Keeps up to `show` answers that differ of each class.
    pub fn new(show: usize) -> Tally {
        Tally { show, ..Tally::default() }
    }

    /// Compares an answer of ours with the one that was expected and counts it.
    pub fn compare(
        &mut self,
        golden: &Record,
        ours: &Record,
        is_ended: bool,
        how: How,
        exceptions: &Exceptions,
    ) {
        let found = compare(golden, ours, is_ended, how);
        let counts = self.classes.entry(golden.class.clone()).or_default();
        if found.is_empty() {
            counts.identical += 1;
        } else if let Some(names) = exceptions.cover(golden, &found) {
            counts.excepted += 1;
            for name in names {
                *self.excepted.entry(name.to_owned()).or_default() += 1;
            }
        } else {
            counts.differing += 1;
            let nth = counts.differing;
            self.keep(nth, golden, || lines(&found));
        }
    }

    /// Counts an answer that did not come.
    pub fn missing(&mut self, golden: &Record, why: &str) {
        let counts = self.classes.entry(golden.class.clone()).or_default();
        counts.missing += 1;
        let nth = counts.missing;
        self.keep(nth, golden, || vec![format!("no answer: {why}")]);
    }

    fn keep(&mut self, nth: usize, golden: &Record, lines: impl FnOnce() -> Vec<String>) {
        if nth <= self.show {
            let (class, path) = (golden.class.clone(), golden.path.clone());
            self.examples.push(Example { class, path, lines: lines() });
        }
    }

    pub fn add(&mut self, other: Tally) {
        for (class, more) in other.classes {
            let counts = self.classes.entry(class).or_default();
            counts.identical += more.identical;
            counts.differing += more.differing;
            counts.missing += more.missing;
            counts.excepted += more.excepted;
        }
        for (name, n) in other.excepted {
            *self.excepted.entry(name).or_default() += n;
        }
        for example in other.examples {
            let n = self.examples.iter().filter(|e| e.class == example.class).count();
            if n < self.show {
                self.examples.push(example);
            }
        }
    }

    fn sum(&self, count: fn(&Counts) -> usize) -> usize {
        self.classes.values().map(count).sum()
    }

    /// Answers that differ or did not come.
    pub fn n_wrong(&self) -> usize {
        self.sum(|counts| counts.differing + counts.missing)
    }

    pub fn n_answers(&self) -> usize {
        self.n_wrong() + self.sum(|counts| counts.identical + counts.excepted)
    }

    pub fn print(&self, exceptions: &Exceptions, print: &mut dyn FnMut(String)) {
        print(row(["class", "identical", "differing", "missing", "excepted"].map(str::to_owned)));
        for (class, counts) in &self.classes {
            print(counted(class, *counts));
        }
        let all = Counts {
            identical: self.sum(|c| c.identical),
            differing: self.sum(|c| c.differing),
            missing: self.sum(|c| c.missing),
            excepted: self.sum(|c| c.excepted),
        };
        let share = 100.0 * all.identical as f64 / self.n_answers().max(1) as f64;
        print(format!("{}   {share:.2} % identical", counted("all", all)));
        for exception in exceptions.all() {
            let n = self.excepted.get(&exception.name).copied().unwrap_or(0);
            print(format!("excepted {n:>6}  {}: {}", exception.name, exception.reason));
        }
        self.print_differences(print);
    }

    pub fn print_differences(&self, print: &mut dyn FnMut(String)) {
        let mut examples: Vec<&Example> = self.examples.iter().collect();
        examples.sort_by_key(|example| &example.class);
        for example in examples {
            print(format!("\n[{}] {}", example.class, example.path));
            for line in &example.lines {
                print(format!("    {line}"));
            }
        }
    }
}

fn lines(found: &[Difference]) -> Vec<String> {
    let shown = found.iter().take(PLACES_SHOWN);
    let mut lines: Vec<String> =
        shown.map(|d| format!("{}: {} expected, {} answered", d.place, d.golden, d.ours)).collect();
    if found.len() > PLACES_SHOWN {
        lines.push(format!("and {} more", found.len() - PLACES_SHOWN));
    }
    lines
}

fn counted(class: &str, counts: Counts) -> String {
    let Counts { identical, differing, missing, excepted } = counts;
    let numbers = [identical, differing, missing, excepted].map(|n| n.to_string());
    let [identical, differing, missing, excepted] = numbers;
    row([class.to_owned(), identical, differing, missing, excepted])
}

fn row([class, identical, differing, missing, excepted]: [String; 5]) -> String {
    format!("{class:<28} {identical:>9} {differing:>9} {missing:>9} {excepted:>9}")
}
