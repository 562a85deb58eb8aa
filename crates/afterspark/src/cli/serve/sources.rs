//! Where logs are looked for: what the command line names, else what Spark's settings name.

use std::collections::HashSet;
use std::path::Path;

use fleet::Source;

use super::properties::Properties;
use crate::cli::{Failure, complain};

/// Where Spark's server looks when it is told nothing.
const SPARK_DEFAULT: &str = "file:/tmp/spark-events";
const DIRECTORY: &str = "spark.history.fs.logDirectory";
const NAMES: &str = "spark.history.fs.logDirectory.names";

/// The sources that can be read; what cannot is complained about, and an error when nothing is left.
pub(super) fn resolve(
    arguments: &[String],
    properties: &Properties,
) -> Result<Vec<Source>, Failure> {
    let named = if arguments.is_empty() {
        from_properties(properties)
    } else {
        arguments.iter().map(|argument| split(argument)).collect()
    };
    let mut names = HashSet::new();
    let mut places = HashSet::new();
    let mut sources = Vec::new();
    let mut last = None;
    for (name, place) in named {
        if let Some(name) = &name
            && !names.insert(name.clone())
        {
            let what = format!("two sources are named {name}");
            return Err(Failure { what, hint: Some("give each a name of its own".to_owned()) });
        }
        match source(name, &place) {
            Ok(source) if places.insert(source.path.clone()) => sources.push(source),
            Ok(_) => {}
            Err(failure) => {
                if let Some(Failure { what, hint }) = last.replace(failure) {
                    complain(&what, hint.as_deref());
                }
            }
        }
    }
    match last {
        Some(failure) if sources.is_empty() => Err(failure),
        Some(Failure { what, hint }) => {
            complain(&what, hint.as_deref());
            Ok(sources)
        }
        None => Ok(sources),
    }
}

/// `name=path`, unless there is a path of that name.
fn split(argument: &str) -> (Option<String>, String) {
    match argument.split_once('=') {
        Some((name, path)) if !name.is_empty() && !Path::new(argument).exists() => {
            (Some(name.to_owned()), path.to_owned())
        }
        _ => (None, argument.to_owned()),
    }
}

fn list(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|t| !t.is_empty()).map(str::to_owned).collect()
}

/// Names count only when there is one for each folder, as for Spark.
fn from_properties(properties: &Properties) -> Vec<(Option<String>, String)> {
    let folders = list(properties.get(DIRECTORY).map_or(SPARK_DEFAULT, String::as_str));
    let names = properties.get(NAMES).map(|names| list(names)).unwrap_or_default();
    if names.len() == folders.len() {
        return names.into_iter().map(Some).zip(folders).collect();
    }
    if !names.is_empty() {
        let (n, m) = (names.len(), folders.len());
        complain(&format!("{NAMES} is not used: it has {n} names for {m} folders"), None);
    }
    folders.into_iter().map(|folder| (None, folder)).collect()
}

fn source(name: Option<String>, place: &str) -> Result<Source, Failure> {
    let local = match place.split_once(':') {
        Some(("file", rest)) => format!("/{}", rest.trim_start_matches('/')),
        Some((scheme, rest)) if rest.starts_with("//") && is_scheme(scheme) => {
            return Err(Failure {
                what: format!("cannot read {place}: {scheme} is not supported"),
                hint: Some("give a local folder, or mount it as one".to_owned()),
            });
        }
        _ => place.to_owned(),
    };
    let refused = |error: std::io::Error| {
        let hint = match error.kind() {
            std::io::ErrorKind::NotFound => "give a folder of event logs that exists",
            std::io::ErrorKind::PermissionDenied => {
                "let this user read it, or run as a user who may"
            }
            _ => "give a folder of event logs, or a single log",
        };
        let what = format!("cannot read {local}: {}", error.to_string().to_lowercase());
        Failure { what, hint: Some(hint.to_owned()) }
    };
    let path = Path::new(&local).canonicalize().map_err(refused)?;
    if path.is_dir() {
        path.read_dir().map_err(refused)?;
    }
    let place = format!("file://{}", path.display());
    Ok(Source { name: name.unwrap_or_else(|| place.clone()), place, path })
}

fn is_scheme(text: &str) -> bool {
    text.len() > 1 && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
}
