pub(super) struct Setting {
    pub(super) kind: &'static str,
    pub(super) default: &'static str,
}
pub(super) fn setting(_: &str) -> Option<&'static Setting> {
    None
}
pub(super) fn is_same(_: &str, a: &str, b: &str) -> bool {
    a == b
}
