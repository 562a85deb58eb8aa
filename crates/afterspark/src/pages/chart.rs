//! Charts as SVG, complete without a script: steps over time, bars, and dots. Each has a legend with names, axes with
//! numbers in their units, and tells exact values when asked.

use std::fmt::Write as _;

use super::view::Markup;

/// The drawing, without what stands beside it.
const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 150.0;
/// Room for numbers on the left, and for times below.
const LEFT: f64 = 76.0;
const BELOW: f64 = 20.0;
const TOP: f64 = 8.0;

/// What an axis covers, and how its numbers are written.
pub(super) struct Axis<'a> {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) write: &'a dyn Fn(f64) -> String,
}

impl Axis<'_> {
    fn share(&self, value: f64) -> f64 {
        let span = self.to - self.from;
        if span > 0.0 { ((value - self.from) / span).clamp(0.0, 1.0) } else { 0.0 }
    }
}

/// What is drawn in one colour.
pub(super) struct Series {
    pub(super) name: String,
    /// Number of its colour.
    pub(super) colour: usize,
    pub(super) is_filled: bool,
    /// Across and up, in the order of the first; a value holds until the next.
    pub(super) points: Vec<(f64, f64)>,
}

/// A bar, or a dot where `to` is where it begins.
pub(super) struct Mark {
    pub(super) from: f64,
    pub(super) to: f64,
    /// Colours and heights, from the foot upwards.
    pub(super) parts: Vec<(usize, f64)>,
    pub(super) hint: String,
    pub(super) link: String,
}

/// Colours are told apart by their names in the legend too.
pub(super) const N_COLOURS: usize = 9;

fn x(axis: &Axis<'_>, value: f64) -> f64 {
    LEFT + WIDTH * axis.share(value)
}

fn y(axis: &Axis<'_>, value: f64) -> f64 {
    TOP + HEIGHT * (1.0 - axis.share(value))
}

fn open(title: &str, across: &Axis<'_>, up: &Axis<'_>) -> Markup {
    let mut out = Markup::default();
    out.raw("<figure class=\"chart\"><figcaption>")
        .text(title)
        .raw("</figcaption><svg role=\"img\"");
    out.attribute("aria-label", title);
    let (width, height) = (LEFT + WIDTH + 12.0, TOP + HEIGHT + BELOW);
    out.attribute("viewBox", &format!("0 0 {width} {height}")).raw(">");
    for step in 0..=2 {
        let value = up.from + (up.to - up.from) * f64::from(step) / 2.0;
        let at = y(up, value);
        out.raw("<line class=\"grid\"").length("x1", LEFT).length("x2", LEFT + WIDTH);
        out.length("y1", at).length("y2", at).raw("/>");
        out.raw("<text class=\"up\"").length("x", LEFT - 6.0).length("y", at + 4.0).raw(">");
        out.text(&(up.write)(value)).raw("</text>");
    }
    for step in 0..=4 {
        let value = across.from + (across.to - across.from) * f64::from(step) / 4.0;
        let class = match step {
            0 => "first",
            4 => "last",
            _ => "",
        };
        out.raw("<text").attribute("class", &format!("across {class}"));
        out.length("x", x(across, value)).length("y", TOP + HEIGHT + 15.0).raw(">");
        out.text(&(across.write)(value)).raw("</text>");
    }
    out
}

fn close(mut out: Markup, legend: &[(String, usize)]) -> Markup {
    out.raw("</svg>");
    if !legend.is_empty() {
        out.raw("<ul class=\"legend\">");
        for (name, colour) in legend {
            out.raw("<li><svg viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect width=\"10\" height=\"10\"");
            out.attribute("class", &format!("c{}", colour % N_COLOURS)).raw("/></svg> ");
            out.text(name).raw("</li>");
        }
        out.raw("</ul>");
    }
    out.raw("</figure>");
    out
}

/// Values that hold until the next.
pub(super) fn steps(title: &str, across: &Axis<'_>, up: &Axis<'_>, all: &[Series]) -> Markup {
    let mut out = open(title, across, up);
    for series in all {
        let Some(first) = series.points.first() else { continue };
        let mut path = if series.is_filled {
            format!("M{:.1} {:.1}V{:.1}", x(across, first.0), y(up, up.from), y(up, first.1))
        } else {
            format!("M{:.1} {:.1}", x(across, first.0), y(up, first.1))
        };
        for (at, value) in &series.points[1..] {
            write!(path, "H{:.1}V{:.1}", x(across, *at), y(up, *value)).ok();
        }
        if series.is_filled {
            write!(path, "V{:.1}Z", y(up, up.from)).ok();
        }
        let kind = if series.is_filled { "area" } else { "line" };
        out.raw("<path").attribute("class", &format!("{kind} c{}", series.colour % N_COLOURS));
        out.attribute("d", &path).raw("><title>").text(&series.name).raw("</title></path>");
    }
    let legend = all.iter().map(|series| (series.name.clone(), series.colour));
    close(out, &legend.collect::<Vec<_>>())
}

/// Bars of parts on each other.
pub(super) fn bars(
    title: &str,
    across: &Axis<'_>,
    up: &Axis<'_>,
    marks: &[Mark],
    legend: &[(String, usize)],
) -> Markup {
    let mut out = open(title, across, up);
    for mark in marks {
        linked(&mut out, mark, |out| {
            out.raw("<g><title>").text(&mark.hint).raw("</title>");
            let (left, right) = (x(across, mark.from), x(across, mark.to));
            let mut foot = up.from;
            for (colour, value) in &mark.parts {
                let (top, bottom) = (y(up, foot + value), y(up, foot));
                foot += value;
                out.raw("<rect").attribute("class", &format!("c{}", colour % N_COLOURS));
                out.length("x", left).length("width", (right - left - 0.5).max(0.5));
                out.length("y", top).length("height", bottom - top).raw("/>");
            }
            out.raw("</g>");
        });
    }
    close(out, legend)
}

/// Dots, each with a height.
pub(super) fn dots(title: &str, across: &Axis<'_>, up: &Axis<'_>, marks: &[Mark]) -> Markup {
    let mut out = open(title, across, up);
    for mark in marks {
        linked(&mut out, mark, |out| {
            for (colour, value) in &mark.parts {
                out.raw("<circle r=\"3\"").attribute("class", &format!("c{}", colour % N_COLOURS));
                out.length("cx", x(across, mark.from)).length("cy", y(up, *value)).raw("><title>");
                out.text(&mark.hint).raw("</title></circle>");
            }
        });
    }
    close(out, &[])
}

fn linked(out: &mut Markup, mark: &Mark, inner: impl FnOnce(&mut Markup)) {
    if mark.link.is_empty() {
        inner(out);
    } else {
        out.raw("<a").attribute("href", &mark.link);
        out.attribute("aria-label", &mark.hint).raw(">");
        inner(out);
        out.raw("</a>");
    }
}
