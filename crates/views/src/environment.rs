//! What the application ran with.

use store::{Pairs, ResourceProfile, Store, Text, java_order};

/// Properties by name, as the log has them: nothing is redacted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvironmentLines<'s> {
    pub java_version: Option<&'s str>,
    pub java_home: Option<&'s str>,
    pub scala_version: Option<&'s str>,
    pub spark: Vec<(&'s str, &'s str)>,
    pub hadoop: Vec<(&'s str, &'s str)>,
    pub system: Vec<(&'s str, &'s str)>,
    pub metrics: Vec<(&'s str, &'s str)>,
    pub classpath: Vec<(&'s str, &'s str)>,
}

/// `None` when the log does not say.
pub fn environment(store: &Store) -> Option<EnvironmentLines<'_>> {
    let environment = store.tables().environment.as_ref()?;
    let jvm = |name: &str| {
        let found = environment.jvm.iter().find(|(key, _)| store.text(*key) == name);
        found.map(|(_, value)| store.text(*value))
    };
    let sorted = |pairs: &Pairs| {
        let text = |text: &Text| store.text(*text);
        let mut lines: Vec<_> = pairs.iter().map(|(key, value)| (text(key), text(value))).collect();
        lines.sort_by(|a, b| java_order(a.0, b.0));
        lines
    };
    Some(EnvironmentLines {
        java_version: jvm("Java Version"),
        java_home: jvm("Java Home"),
        scala_version: jvm("Scala Version"),
        spark: sorted(&environment.spark),
        hadoop: sorted(&environment.hadoop),
        system: sorted(&environment.system),
        metrics: sorted(&environment.metrics),
        classpath: sorted(&environment.classpath),
    })
}

/// Resource profiles by id.
pub fn resource_profiles(store: &Store) -> &[ResourceProfile] {
    &store.tables().resource_profiles
}
