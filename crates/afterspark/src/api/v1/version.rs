//! `version`: which Spark the answers are of.

use serde::Serialize;

use super::SparkApi;
use crate::api::Answer;

#[derive(Serialize)]
struct Version {
    spark: &'static str,
}

pub(crate) fn answer(api: SparkApi) -> Answer {
    let spark = match api {
        SparkApi::V4_2 => "4.2.0",
        SparkApi::V4_3 => "4.3.0",
    };
    Answer::json(&Version { spark })
}
