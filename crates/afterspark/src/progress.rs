//! A bar on stderr while a long log is read: bytes, rate, time left. Nothing where stderr is no terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Logs smaller than this (stored) are read before a bar could be seen.
const BAR_BYTES_MIN: u64 = 8 << 20;

/// See the module.
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// For a log of that many stored bytes.
    pub(crate) fn new(name: &str, total_bytes: u64) -> Progress {
        if total_bytes < BAR_BYTES_MIN {
            return Progress { bar: ProgressBar::hidden() };
        }
        let bar = ProgressBar::with_draw_target(
            Some(total_bytes),
            ProgressDrawTarget::stderr_with_hz(10),
        );
        let style = "{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta} left";
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style);
        }
        bar.set_message(crate::text::one_line(name, 40));
        bar.enable_steady_tick(Duration::from_millis(200));
        Progress { bar }
    }

    pub(crate) fn set(&self, bytes: u64) {
        self.bar.set_position(bytes);
    }

    /// Takes the bar away.
    pub(crate) fn done(&self) {
        self.bar.finish_and_clear();
    }
}
