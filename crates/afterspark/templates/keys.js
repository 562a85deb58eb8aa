// Keys and the palette to jump with. Pages are complete without it.
const root = document.body.dataset.root;
const base = document.body.dataset.base;
const places = [
  ["j", "Jobs", "/jobs/"], ["s", "Stages", "/stages/"], ["q", "SQL queries", "/SQL/"], ["e", "Executors", "/executors/"],
  ["t", "Timeline", "/timeline/"], ["c", "Storage (cache)", "/storage/"], ["v", "Environment", "/environment/"],
  ["m", "Structured Streaming", "/StreamingQuery/"],
];

for (const part of document.querySelectorAll("[data-script]")) part.hidden = false;

const go = (path) => { location.href = base !== undefined ? base + path : root + "/"; };

/** An element with a text. */
const made = (name, text = "") => {
  const element = document.createElement(name);
  element.textContent = text;
  return element;
};

/** The dialog of keys. */
const keys = made("dialog");
keys.id = "keys";
keys.setAttribute("aria-label", "Keys");
{
  const list = [["/", "filter or search"], ["Ctrl K", "jump to stage 10, query 6, …"], ["g l", "list of applications"],
    ...places.map(([key, name]) => [`g ${key}`, name]), ["j k", "next and previous row"], ["Enter", "open the row"],
    ["?", "this help"], ["Esc", "close"]];
  keys.append(made("h2", "Keys"));
  const table = made("table");
  for (const [key, what] of list) {
    const row = made("tr");
    const cell = made("td");
    cell.append(made("kbd", key));
    row.append(cell, made("td", what));
    table.append(row);
  }
  keys.append(table);
}

/** What a text in the palette may mean: name and address. */
const meant = (text) => {
  const found = [];
  const asked = text.trim().toLowerCase();
  const kinds = [
    [/^(?:stage|s)\s*#?(\d+)(?:[.\s]+(\d+))?$/, (m) => [`Stage ${m[1]}${m[2] ? ` attempt ${m[2]}` : ""}`,
      `/stages/stage/?id=${m[1]}${m[2] ? `&attempt=${m[2]}` : ""}`]],
    [/^(?:job|j)\s*#?(\d+)$/, (m) => [`Job ${m[1]}`, `/jobs/job/?id=${m[1]}`]],
    [/^(?:query|sql|q|execution)\s*#?(\d+)$/, (m) => [`Query ${m[1]}`, `/SQL/execution/?id=${m[1]}`]],
    [/^(?:rdd|r)\s*#?(\d+)$/, (m) => [`RDD ${m[1]}`, `/storage/rdd/?id=${m[1]}`]],
    [/^(\d+)$/, (m) => [`Stage ${m[1]}`, `/stages/stage/?id=${m[1]}`]],
    [/^(\d+)$/, (m) => [`Job ${m[1]}`, `/jobs/job/?id=${m[1]}`]],
    [/^(\d+)$/, (m) => [`Query ${m[1]}`, `/SQL/execution/?id=${m[1]}`]],
  ];
  if (base !== undefined) {
    for (const [pattern, make] of kinds) {
      const match = asked.match(pattern);
      if (match) { const [name, path] = make(match); found.push([name, base + path]); }
    }
    for (const [, name, path] of places) {
      if (name.toLowerCase().includes(asked)) found.push([name, base + path]);
    }
  }
  if ("applications".includes(asked)) found.push(["Applications", `${root}/`]);
  if (asked) found.push([`Applications with “${text.trim()}”`, `${root}/?applications.filter=${encodeURIComponent(text.trim())}`]);
  return found;
};

const palette = made("dialog");
palette.id = "palette";
palette.setAttribute("aria-label", "Jump to");
const input = made("input");
input.type = "search";
input.placeholder = "stage 10, job 3, query 6, executors …";
input.setAttribute("aria-label", "Jump to");
const list = made("ul");
list.setAttribute("role", "listbox");
list.setAttribute("aria-label", "Places");
palette.append(input, list);
let chosen = 0;
const show = () => {
  const found = meant(input.value);
  chosen = Math.max(0, Math.min(chosen, found.length - 1));
  list.replaceChildren(...found.map(([name, to], at) => {
    const item = made("li");
    item.setAttribute("role", "option");
    item.setAttribute("aria-selected", String(at === chosen));
    const link = made("a", name);
    link.href = to;
    link.tabIndex = -1;
    item.append(link);
    return item;
  }));
};
input.addEventListener("input", () => { chosen = 0; show(); });
input.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown") { chosen += 1; show(); event.preventDefault(); }
  if (event.key === "ArrowUp") { chosen -= 1; show(); event.preventDefault(); }
  if (event.key === "Enter") {
    const link = list.children[chosen]?.querySelector("a");
    if (link) location.href = link.href;
    event.preventDefault();
  }
});
document.body.append(keys, palette);

const isTyping = (element) => element.matches("input, select, textarea") || element.isContentEditable;

/** Moves the focus among the links that begin the rows of the table in view. */
const step = (by) => {
  const rows = [...document.querySelectorAll("tbody tr")].map((row) => row.querySelector("a")).filter(Boolean);
  const at = rows.indexOf(document.activeElement);
  const next = rows[Math.max(0, Math.min(rows.length - 1, at + by))];
  next?.focus();
};

let before = "";
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    input.value = "";
    show();
    palette.showModal();
    input.focus();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || document.querySelector("dialog[open]")) return;
  const key = event.key;
  if (before === "g") {
    before = "";
    const place = places.find(([letter]) => letter === key);
    if (place && base !== undefined) { go(place[2]); return; }
    if (key === "l") { location.href = `${root}/`; return; }
  }
  before = key;
  if (key === "/") {
    const field = [...document.querySelectorAll("main input[type=search]")].find((one) => one.offsetParent !== null);
    if (field) { field.focus(); event.preventDefault(); }
  } else if (key === "?") {
    keys.showModal();
  } else if (key === "j") {
    step(1);
  } else if (key === "k") {
    step(-1);
  }
});
