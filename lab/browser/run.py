"""Pages in a real browser: one of each kind, one case for each run.

Usage: run.py CASE URL CHROMIUM PICTURES; ends with 0 when the case holds, else says on stderr what does not.
"""
import pathlib
import sys

from axe_core_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

MIX = "/history/local-1796085994726"
HOSTILE = "/history/hostile-local-1796085994726"
KINDS = {
    "list": "/",
    "jobs": f"{MIX}/jobs/",
    "job": f"{MIX}/jobs/job/?id=2",
    "stages": f"{MIX}/stages/",
    "stage": f"{MIX}/stages/stage/?id=3&attempt=0",
    "storage": "/history/local-1796083656921/storage/",
    "environment": f"{MIX}/environment/",
    "executors": "/history/app-20261201001103-0000/executors/",
    "sql": f"{MIX}/SQL/",
    "execution": f"{MIX}/SQL/execution/?id=2",
    "timeline": f"{MIX}/timeline/",
    "streaming": "/history/local-1796086889506/StreamingQuery/",
    "connect": "/history/local-1796087415144/connect/",
    "skew": "/history/local-1796082902288/stages/",
    "failed": "/history/local-1796083766634/jobs/",
    "look": "/look",
    "refusal": "/history/nosuch/jobs/",
}


class Browser:
    def __init__(self, playwright, url, chromium, pictures):
        self.url, self.pictures = url, pathlib.Path(pictures)
        self.chromium = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        self.wrong = []

    def page(self, **settings):
        page = self.chromium.new_context(**settings).new_page()
        page.on("pageerror", lambda error: self.wrong.append(f"{page.url}: {error}"))
        page.on("dialog", lambda dialog: self.dialog(page, dialog))
        page.on("console", lambda said: self.said(page, said))
        return page

    def said(self, page, said):
        # that a page is not there is what the page says
        if said.type in ("error", "warning") and "status of 404" not in said.text:
            self.wrong.append(f"{page.url}: {said.text}")

    def dialog(self, page, dialog):
        self.wrong.append(f"{page.url}: a script of the log ran")
        dialog.dismiss()

    def open(self, page, path):
        page.goto(self.url + path, wait_until="networkidle")

    def must(self, holds, what):
        if not holds:
            self.wrong.append(what)


def opens(browser):
    """No error in the console, and no page wider than a phone."""
    for width in (400, 1400):
        page = browser.page(viewport={"width": width, "height": 900})
        for kind, path in KINDS.items():
            browser.open(page, path)
            page.screenshot(path=browser.pictures / f"{kind}-{width}.png", full_page=True)
            wide = page.evaluate("document.documentElement.scrollWidth")
            browser.must(wide <= width, f"{path} is {wide} pixels wide at {width}")


def accessible(browser):
    for scheme in ("light", "dark"):
        page = browser.page(color_scheme=scheme, bypass_csp=True)
        for path in KINDS.values():
            browser.open(page, path)
            for found in Axe().run(page)["violations"]:
                places = [node["html"][:160] for node in found["nodes"][:3]]
                browser.wrong.append(f"{path} {scheme}: {found['id']}: {found['help']} {places}")


def needs_no_script(browser):
    """Tables and texts are the same with scripts off."""
    read = "document.querySelector('main').querySelectorAll('table, h1, h2, dl, details, label, p')"
    text = f"[...{read}].filter(e => !e.closest('[data-script]')).map(e => e.textContent).join('\\n')"
    on, off = browser.page(), browser.page(java_script_enabled=False)
    for path in KINDS.values():
        browser.open(on, path)
        browser.open(off, path)
        with_script = on.evaluate(text)
        without = off.evaluate(text)
        browser.must(with_script == without, f"{path}: other text without scripts")
        browser.must(without.strip() != "", f"{path}: no text without scripts")


def table_works(browser):
    page = browser.page(java_script_enabled=False)
    browser.open(page, KINDS["stages"])
    table = page.locator("#completedStage")
    rows = table.locator("tbody tr")
    n_all = rows.count()
    table.get_by_role("columnheader", name="Stage", exact=True).get_by_role("link").click()
    browser.must("completedStage.sort=Stage" in page.url, f"sorting leads to {page.url}")
    ids = [int(rows.nth(at).locator("td").first.inner_text().split()[0]) for at in range(rows.count())]
    browser.must(ids in (sorted(ids), sorted(ids, reverse=True)), f"not in order: {ids}")
    table.get_by_label("Filter").fill("no such stage")
    table.get_by_role("button", name="Apply").click()
    browser.must("Nothing fits the filter." in table.inner_text(), "the filter finds what is not there")
    table.get_by_label("Filter").fill("collect")
    table.get_by_role("button", name="Apply").click()
    browser.must(0 < rows.count() < n_all, f"the filter gives {rows.count()} of {n_all}")


def keys_work(browser):
    page = browser.page()
    browser.open(page, KINDS["jobs"])
    page.keyboard.press("?")
    browser.must(page.locator("dialog#keys[open]").count() == 1, "? opens no help")
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    browser.must(page.evaluate("document.activeElement.type") == "search", "/ does not search")
    page.keyboard.press("Tab")
    page.keyboard.press("g")
    page.keyboard.press("e")
    page.wait_for_url("**/executors/")
    page.keyboard.press("Control+k")
    page.keyboard.type("stage 3")
    page.keyboard.press("Enter")
    page.wait_for_url("**/stages/stage/?id=3")


def timeline_zooms(browser):
    page = browser.page()
    browser.open(page, KINDS["timeline"])
    seen = page.locator("#timeline-range")
    whole = seen.inner_text()
    page.locator("#timeline").focus()
    page.keyboard.press("+")
    page.keyboard.press("+")
    page.wait_for_timeout(200)
    closer = seen.inner_text()
    browser.must(whole != closer, f"zooming leaves {whole}")
    page.locator("#timeline-brush").click()
    page.wait_for_url("**from=*")
    browser.must("Only a part of the time is shown" in page.inner_text("main"), "brushing limits nothing")


def plan_finds(browser):
    page = browser.page()
    browser.open(page, KINDS["execution"])
    page.locator("#plan-search").fill("exchange")
    page.keyboard.press("Enter")
    browser.must(page.locator("#plan g.found").count() == 1, "the search marks nothing")
    found = page.locator("#plan g.found").bounding_box()
    view = page.locator("#plan-view").bounding_box()
    middle = found["y"] + found["height"] / 2
    browser.must(view["y"] <= middle <= view["y"] + view["height"], "what was found is not in view")
    width = page.locator("#plan").bounding_box()["width"]
    page.locator("#plan-in").click()
    browser.must(page.locator("#plan").bounding_box()["width"] > width, "the plan does not grow")


def hostile_is_inert(browser):
    page = browser.page()
    for path in [*KINDS.values()]:
        path = path.replace("/history/", "/history/hostile-")
        browser.open(page, path)
        added = page.locator("img, script:not([src^='/static/'])").count()
        browser.must(added == 0, f"{path}: {added} elements of the log's own")
    browser.open(page, f"{HOSTILE}/timeline/")
    for x in range(20, 800, 60):
        page.locator("#timeline").hover(position={"x": x, "y": 30})
    browser.must(page.locator("img").count() == 0, "the timeline's hints are markup")


CASES = [opens, accessible, needs_no_script, table_works, keys_work, timeline_zooms, plan_finds, hostile_is_inert]

if __name__ == "__main__":
    name, url, chromium, pictures = sys.argv[1:]
    case = {case.__name__: case for case in CASES}[name]
    pathlib.Path(pictures).mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = Browser(playwright, url.rstrip("/"), chromium, pictures)
        case(browser)
        browser.chromium.close()
    for line in browser.wrong:
        print(line, file=sys.stderr)
    sys.exit(1 if browser.wrong else 0)
