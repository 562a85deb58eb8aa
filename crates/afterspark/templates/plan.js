// Moves, zooms and searches the drawing of a plan, with a small map of it. An operator that is chosen is shown without
// leaving the drawing.
const view = document.getElementById("plan-view");
const svg = document.getElementById("plan");
if (view && svg) {
  const [left, top, width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  let scale = 1;

  const zoom = (to, x = view.clientWidth / 2, y = view.clientHeight / 2) => {
    const next = Math.max(0.1, Math.min(4, to));
    const at = [(view.scrollLeft + x) / scale, (view.scrollTop + y) / scale];
    scale = next;
    svg.setAttribute("width", width * scale);
    svg.setAttribute("height", height * scale);
    view.scrollTo(at[0] * scale - x, at[1] * scale - y);
    seen();
  };
  const fit = () => zoom(Math.min(1, view.clientWidth / width, Math.max(view.clientHeight, 300) / height));

  const map = document.getElementById("plan-map");
  const space = "http://www.w3.org/2000/svg";
  const small = document.createElementNS(space, "svg");
  small.setAttribute("viewBox", `${left} ${top} ${width} ${height}`);
  for (const box of svg.querySelectorAll("g.node")) {
    const copy = box.querySelector("rect").cloneNode();
    const group = document.createElementNS(space, "g");
    group.setAttribute("class", box.getAttribute("class"));
    group.append(copy);
    small.append(group);
  }
  const frame = document.createElementNS(space, "rect");
  frame.setAttribute("class", "seen");
  small.append(frame);
  map.append(small);
  const seen = () => {
    frame.setAttribute("x", left + view.scrollLeft / scale);
    frame.setAttribute("y", top + view.scrollTop / scale);
    frame.setAttribute("width", Math.min(width, view.clientWidth / scale));
    frame.setAttribute("height", Math.min(height, view.clientHeight / scale));
    map.hidden = view.scrollWidth <= view.clientWidth + 1 && view.scrollHeight <= view.clientHeight + 1;
  };
  const toMap = (event) => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(small.getScreenCTM().inverse());
    view.scrollTo((point.x - left) * scale - view.clientWidth / 2, (point.y - top) * scale - view.clientHeight / 2);
  };
  map.addEventListener("pointerdown", (event) => { toMap(event); map.setPointerCapture(event.pointerId); });
  map.addEventListener("pointermove", (event) => { if (event.buttons) toMap(event); });
  view.addEventListener("scroll", seen);
  new ResizeObserver(seen).observe(view);

  let drag = null;
  view.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "mouse" && event.button === 0) {
      drag = { x: event.clientX, y: event.clientY, left: view.scrollLeft, top: view.scrollTop, moved: false };
    }
  });
  window.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const [x, y] = [event.clientX - drag.x, event.clientY - drag.y];
    drag.moved ||= Math.abs(x) + Math.abs(y) > 4;
    if (drag.moved) view.scrollTo(drag.left - x, drag.top - y);
  });
  window.addEventListener("pointerup", () => { setTimeout(() => { drag = null; }); });
  view.addEventListener("dragstart", (event) => event.preventDefault());
  view.addEventListener("click", (event) => { if (drag?.moved) event.preventDefault(); }, true);
  view.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const box = view.getBoundingClientRect();
    zoom(scale * (event.deltaY < 0 ? 1.15 : 1 / 1.15), event.clientX - box.left, event.clientY - box.top);
  }, { passive: false });
  view.addEventListener("keydown", (event) => {
    if (event.key === "+" || event.key === "=") zoom(scale * 1.25);
    else if (event.key === "-") zoom(scale / 1.25);
    else if (event.key === "0") zoom(1);
    else return;
    event.preventDefault();
  });
  document.getElementById("plan-in").addEventListener("click", () => zoom(scale * 1.25));
  document.getElementById("plan-out").addEventListener("click", () => zoom(scale / 1.25));
  document.getElementById("plan-fit").addEventListener("click", fit);

  const search = document.getElementById("plan-search");
  const count = document.getElementById("plan-count");
  let found = [];
  let at = -1;
  const look = () => {
    const text = search.value.trim().toLowerCase();
    const has = (node) => `${node.dataset.name}\n${node.dataset.text}\n${node.textContent}`.toLowerCase().includes(text);
    const byPlace = (a, b) => {
      const [p, q] = [a.querySelector("rect"), b.querySelector("rect")];
      return p.y.baseVal.value - q.y.baseVal.value || p.x.baseVal.value - q.x.baseVal.value;
    };
    found = text ? [...svg.querySelectorAll("g.node")].filter(has).sort(byPlace) : [];
    at = -1;
  };
  /** Shows the next that was found, in the middle of the view. */
  const next = (by) => {
    for (const node of svg.querySelectorAll("g.found")) node.classList.remove("found");
    if (!found.length) { count.textContent = search.value.trim() ? "none" : ""; return; }
    at = (at + by + found.length) % found.length;
    const node = found[at];
    node.classList.add("found");
    const [own, outer] = [node.getBoundingClientRect(), view.getBoundingClientRect()];
    view.scrollBy(own.left + own.width / 2 - outer.left - view.clientWidth / 2,
      own.top + own.height / 2 - outer.top - view.clientHeight / 2);
    count.textContent = `${at + 1} of ${found.length}`;
  };
  search.addEventListener("input", () => { look(); count.textContent = search.value.trim() ? `${found.length} found` : ""; });
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    if (at < 0) look();
    next(event.shiftKey ? -1 : 1);
  });
  const chosen = svg.querySelector("g.chosen");
  if (chosen) {
    const [own, outer] = [chosen.getBoundingClientRect(), view.getBoundingClientRect()];
    view.scrollBy(own.left - outer.left - view.clientWidth / 3, own.top - outer.top - view.clientHeight / 3);
  } else {
    view.scrollLeft = Math.max(0, (width - view.clientWidth) / 2);
  }
  seen();
}
