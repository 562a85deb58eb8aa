//! Tables sort, filter, page and export through the address.

use crate::site::{first_cells, page, serve};

#[test]
fn tables_sort_filter_page_and_export() {
    let server = serve("pages-tables");
    let stages = "/history/local-1796083018658/stages/";
    let ids = |query: &str| first_cells(&page(&server, &format!("{stages}?{query}")));
    let up = ids("completedStage.sort=Stage&completedStage.desc=false");
    let mut down = ids("completedStage.sort=Stage&completedStage.desc=true");
    assert!(up.len() > 3);
    let numbers: Vec<i32> = up.iter().map(|id| id.parse().unwrap()).collect();
    assert!(numbers.is_sorted(), "{up:?}");
    down.reverse();
    assert_eq!(up, down);
    // the slowest comes first when nothing is asked
    assert_eq!(ids(""), ids("completedStage.sort=Duration&completedStage.desc=true"));
    let two = "completedStage.sort=Stage&completedStage.pageSize=2&completedStage.page=2";
    assert_eq!(ids(two), up[2..4]);
    let beyond = "completedStage.sort=Stage&completedStage.pageSize=2&completedStage.page=999";
    assert!(!ids(beyond).is_empty());
    let found = ids("completedStage.sort=Stage&completedStage.filter=SAVE+at");
    assert!(!found.is_empty() && found.len() < up.len(), "{found:?}");
    // how many there are is told of all, on a page of two and where nothing is found
    let n_all = up.len();
    let heading = |query: &str| {
        let text = page(&server, &format!("{stages}?{query}"));
        let heading = text.split("id=\"completedStage-title\">").nth(1).unwrap();
        (heading.split("</h2>").next().unwrap().to_owned(), text)
    };
    assert!(heading(two).0.contains(&format!(">{n_all}<")), "{}", heading(two).0);
    let (nothing, text) = heading("completedStage.filter=no+such+stage");
    assert!(nothing.contains(&format!("0 of {n_all}")), "{nothing}");
    assert!(text.contains("Nothing fits the filter.") && text.contains("value=\"no such stage\""));
    let csv =
        page(&server, &format!("{stages}?completedStage.export=csv&completedStage.sort=Stage"));
    assert!(csv.starts_with("Stage,Description,Jobs,"), "{csv}");
    // the text of a call site has line ends of its own
    assert_eq!(csv.matches("\r\n").count(), up.len() + 1);
    let starts: Vec<&str> = csv.trim_end().split("\r\n").skip(1).collect();
    assert!(starts.iter().zip(&up).all(|(row, id)| row.starts_with(&format!("{id},"))));
    let json =
        page(&server, &format!("{stages}?completedStage.export=json&completedStage.sort=Stage"));
    let rows: Vec<serde_json::Value> = serde_json::from_str(&json).unwrap();
    assert!(rows.iter().zip(&up).all(|(row, id)| row["Stage"] == **id) && rows.len() == up.len());
    let list = first_cells(&page(&server, "/?showIncomplete=true"));
    assert_eq!(list, ["local-1796085020098"]);
}
