//! What a log holds that could not be used.

use crate::{Text, choices, record};

choices! {
    /// What is missing.
    pub enum GapKind {
        /// A line that ends in the middle of its JSON.
        TornLine,
        /// A line that is not JSON.
        BadLine,
        /// A line longer than the limit.
        LongLine,
        /// The stored bytes end in the middle of a compressed block.
        CutShort,
        /// Compressed bytes that do not decode.
        Corrupt,
        /// A file that decodes to implausibly many bytes.
        Expansion,
        /// A file of a rolling log is not there.
        MissingFile,
        /// The log was compacted: finished jobs and SQL executions were taken out by the history server.
        Compacted,
        /// An event of a kind that Afterspark does not know.
        UnknownEvent,
        /// A known event without what it needs, or of something that the log does not know.
        BadEvent,
        /// A value that does not fit its field.
        BadValue,
        /// A task's end without its start.
        TaskEndWithoutStart,
        /// A task's end when its stage attempt was over, or one of a stage that the log does not know.
        TaskWithoutStage,
        /// A task that started and never ended although its stage did.
        TaskStartWithoutEnd,
        /// A job that never ended although the application did.
        JobWithoutEnd,
        /// A stage attempt that never ended although the application did.
        StageWithoutEnd,
        /// A second application starts in the log.
        SecondApplication,
        /// A file in a rolling log's folder that is not one of its files.
        StrayFile,
        /// No end of the application: it runs still, or its driver died.
        NoApplicationEnd,
        /// No start of the application.
        NoApplicationStart,
        /// No environment update.
        NoEnvironment,
    }

    /// How much a gap matters.
    pub enum Severity {
        /// Nothing that is shown is wrong.
        Note,
        /// Some numbers are lower bounds.
        Loss,
        /// A part of the log could not be read.
        Error,
    }
}

record! {
    /// A kind of gap in one file of the log, with the place of the first.
    pub struct Gap {
        pub kind: GapKind,
        /// The file of the log, empty when the gap is about the whole.
        pub file: Text,
        /// What exactly: the event's kind, the decoder's word.
        pub detail: Text,
        pub n: u64,
        /// Bytes (decoded) that were passed over, where known.
        pub bytes: u64,
        /// Decoded offset of the first one in the file.
        pub first_offset: u64,
    }
}

impl GapKind {
    pub fn severity(self) -> Severity {
        use GapKind as K;
        match self {
            K::UnknownEvent
            | K::NoApplicationEnd
            | K::NoApplicationStart
            | K::NoEnvironment
            | K::StrayFile => Severity::Note,
            K::TornLine
            | K::LongLine
            | K::Compacted
            | K::BadEvent
            | K::BadValue
            | K::TaskEndWithoutStart
            | K::TaskWithoutStage
            | K::SecondApplication
            | K::TaskStartWithoutEnd
            | K::JobWithoutEnd
            | K::StageWithoutEnd => Severity::Loss,
            K::BadLine | K::CutShort | K::Corrupt | K::Expansion | K::MissingFile => {
                Severity::Error
            }
        }
    }

    /// What it is, and what it means for the numbers.
    pub fn meaning(self) -> &'static str {
        match self {
            GapKind::TornLine => "line cut in the middle; its event is not counted",
            GapKind::BadLine => "line is not JSON; passed over",
            GapKind::LongLine => "line over the length limit; its event is not counted",
            GapKind::CutShort => "file ends inside a compressed block; later events are not in it",
            GapKind::Corrupt => {
                "bytes do not decode; events in them are lost, sums are lower bounds"
            }
            GapKind::Expansion => "decodes to implausibly many bytes; reading stopped there",
            GapKind::MissingFile => "a file of the rolling log is missing; sums are lower bounds",
            GapKind::Compacted => {
                "compacted by the history server: events of finished jobs are gone"
            }
            GapKind::UnknownEvent => "event of an unknown kind; ignored, as Spark does",
            GapKind::BadEvent => {
                "event lacks what it needs, or is of something this log does not know; ignored"
            }
            GapKind::TaskWithoutStage => {
                "task ends outside a running stage; kept, but in no stage's sums, as Spark does"
            }
            GapKind::SecondApplication => {
                "another application starts in this log; what both did is mixed"
            }
            GapKind::StrayFile => "file that does not belong to this rolling log; not read",
            GapKind::BadValue => "value does not fit its field; taken as missing",
            GapKind::TaskEndWithoutStart => {
                "task ends without a start; counted, but without metrics, as Spark does"
            }
            GapKind::TaskStartWithoutEnd => {
                "task starts without an end in a finished stage; shown as running, sums are lower bounds"
            }
            GapKind::JobWithoutEnd => "job without an end event; shown as running",
            GapKind::StageWithoutEnd => "stage without an end event; shown as it last was",
            GapKind::NoApplicationEnd => {
                "no application end: it runs still, or its driver died; all sums are so far"
            }
            GapKind::NoApplicationStart => {
                "no application start; name, user and start time are unknown"
            }
            GapKind::NoEnvironment => "no environment event; settings are unknown",
        }
    }

    /// The kind in one word.
    pub fn name(self) -> &'static str {
        match self {
            GapKind::TornLine => "torn-line",
            GapKind::BadLine => "bad-line",
            GapKind::LongLine => "long-line",
            GapKind::CutShort => "cut-short",
            GapKind::Corrupt => "corrupt",
            GapKind::Expansion => "expansion",
            GapKind::MissingFile => "missing-file",
            GapKind::Compacted => "compacted",
            GapKind::UnknownEvent => "unknown-event",
            GapKind::BadEvent => "bad-event",
            GapKind::BadValue => "bad-value",
            GapKind::TaskEndWithoutStart => "task-end-without-start",
            GapKind::TaskStartWithoutEnd => "task-start-without-end",
            GapKind::TaskWithoutStage => "task-without-stage",
            GapKind::SecondApplication => "second-application",
            GapKind::StrayFile => "stray-file",
            GapKind::JobWithoutEnd => "job-without-end",
            GapKind::StageWithoutEnd => "stage-without-end",
            GapKind::NoApplicationEnd => "no-application-end",
            GapKind::NoApplicationStart => "no-application-start",
            GapKind::NoEnvironment => "no-environment",
        }
    }
}

impl Severity {
    pub fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Loss => "loss",
            Severity::Error => "error",
        }
    }
}
