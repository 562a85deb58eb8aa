//! Every page of every bundled application, and where its links lead.

use crate::site::{Crawl, get, serve};

#[test]
fn every_page_opens_is_inert_and_leads_somewhere() {
    let server = serve("pages-links");
    let crawl = Crawl::of(&server, "/", |path, text| {
        // a page about a spoilt log shows what it says; that it is inert is checked of each
        let is_spoilt = path.starts_with("/history/hostile");
        assert!(!is_spoilt || text.contains("onerror=alert(1)"), "{path}");
        assert!(text.contains("<html lang=\"en\" data-theme="), "{path}");
    });
    let n_stages = crawl.seen.iter().filter(|path| path.contains("/stages/stage/")).count();
    assert!(n_stages > 400, "{n_stages} of {} pages", crawl.seen.len());
}

#[test]
fn what_is_not_there_is_said_on_a_page() {
    let server = serve("pages-refusals");
    for path in [
        "/nosuch",
        "/history/nosuch/jobs/",
        "/history/local-1796083018658/9/jobs/",
        "/history/a/b/c/d",
    ] {
        let (status, text) = get(&server, path);
        assert_eq!(status, 404, "{path}");
        assert!(
            text.contains("<h1>Not found</h1>") && text.contains("href=\"/\""),
            "{path}: {text}"
        );
    }
}
