//! Stages that are alike, together: a loop on the driver makes hundreds of one name.

use store::Store;

use crate::StageLine;

/// Stage attempts of one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameGroup {
    pub name: String,
    pub n_stages: usize,
    pub duration_ms: i64,
}

/// Stage attempts grouped by name (their call site), by the time they took.
pub fn by_name(store: &Store, stages: &[&StageLine<'_>]) -> Vec<NameGroup> {
    let mut groups: Vec<NameGroup> = Vec::new();
    let mut known = hashbrown::HashMap::new();
    for stage in stages {
        let at = *known.entry(stage.row.name).or_insert(groups.len());
        if at == groups.len() {
            let name = store.text(stage.row.name).to_owned();
            groups.push(NameGroup { name, n_stages: 0, duration_ms: 0 });
        }
        groups[at].n_stages += 1;
        let duration_ms = &mut groups[at].duration_ms;
        *duration_ms = duration_ms.saturating_add(stage.duration_ms.unwrap_or(0));
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.duration_ms));
    groups
}
