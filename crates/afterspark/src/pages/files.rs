//! What pages load: the style, the icon, and small modules.

use crate::api::Answer;

/// Name, type and content; a file is added by adding a line.
const FILES: &[(&str, &str, &str)] = &[
    ("afterspark.css", "text/css; charset=utf-8", include_str!("../../templates/afterspark.css")),
    ("icon.svg", "image/svg+xml", include_str!("../../templates/icon.svg")),
    ("canvas.js", SCRIPT, include_str!("../../templates/canvas.js")),
    ("keys.js", SCRIPT, include_str!("../../templates/keys.js")),
    ("plan.js", SCRIPT, include_str!("../../templates/plan.js")),
    ("tasks.js", SCRIPT, include_str!("../../templates/tasks.js")),
    ("timeline.js", SCRIPT, include_str!("../../templates/timeline.js")),
];

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// `None` when there is no such file.
pub(super) fn answer(name: &str) -> Option<Answer> {
    let (_, content_type, content) = FILES.iter().find(|(known, _, _)| *known == name)?;
    let answer = Answer::of(200, content_type, content.as_bytes().to_vec());
    Some(answer.with_header("cache-control", "max-age=300"))
}
