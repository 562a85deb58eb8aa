// The timeline of an application: queries, jobs, stages, what the driver did alone, executors.
import { colour, duration, timeline } from "./canvas.js";

const canvas = document.getElementById("timeline");
if (canvas) {
  const output = document.getElementById("timeline-range");
  const [leftOf, rowHeight, gap] = [0, 14, 22];
  let lanes = [];
  let shown = [];
  /** Gives each bar of a lane a row of its own among those that overlap it. */
  const arrange = (lane) => {
    const ends = [];
    lane.rows = lane.bars.map(([from, to]) => {
      let row = ends.findIndex((end) => end <= from);
      if (row < 0) row = ends.length < 8 ? ends.length : 7;
      ends[row] = Math.max(ends[row] ?? 0, to);
      return row;
    });
    lane.height = Math.max(1, ends.length) * rowHeight;
  };
  const draw = (context, view, { width, height }) => {
    const states = ["--done", "--bad", "--runs", "--c8"].map(colour);
    const [ink, faint, line] = ["--ink", "--faint", "--line"].map(colour);
    const x = (at) => leftOf + (at - view.from) / (view.to - view.from) * (width - leftOf);
    shown = [];
    let top = 0;
    for (const lane of lanes) {
      context.fillStyle = faint;
      const more = lane.n_all > lane.bars.length ? `, the longest ${lane.bars.length}` : "";
      context.fillText(`${lane.name} (${lane.n_all}${more})`, 4, top + 13);
      context.strokeStyle = line;
      context.strokeRect(-1, top + 17, width + 2, 0.5);
      lane.bars.forEach((bar, at) => {
        const [from, to, state, label, link] = bar;
        if (to < view.from || from > view.to) return;
        const [a, b] = [Math.max(x(from), -2), Math.min(x(to), width + 2)];
        const y = top + gap + lane.rows[at] * rowHeight;
        if (y > height) return;
        context.fillStyle = states[state];
        context.fillRect(a, y, Math.max(b - a, 1), rowHeight - 2);
        if (b - a > 60) {
          context.save();
          context.beginPath();
          context.rect(a, y, b - a - 3, rowHeight);
          context.clip();
          context.fillStyle = state === 3 ? ink : "#fff";
          context.font = "11px system-ui, sans-serif";
          context.fillText(label, a + 4, y + 9.5);
          context.restore();
        }
        shown.push({ a, b: Math.max(b, a + 3), y, text: `${label}\n${duration(to - from)}`, link });
      });
      top += gap + lane.height + 6;
    }
    if (Math.abs(canvas.height / (window.devicePixelRatio || 1) - top) > 20) canvas.style.height = `${Math.min(Math.max(top, 160), 900)}px`;
  };
  const under = (px, py) => shown.findLast((bar) => px >= bar.a && px <= bar.b && py >= bar.y && py <= bar.y + rowHeight);
  const { view, paint } = timeline({ canvas, output, draw, under });
  const brush = () => {
    const to = new URL(location.href);
    to.searchParams.set("from", Math.floor(view.from));
    to.searchParams.set("to", Math.ceil(view.to));
    location.href = to;
  };
  document.getElementById("timeline-brush").addEventListener("click", brush);
  canvas.addEventListener("keydown", (event) => { if (event.key === "Enter") brush(); });
  const response = await fetch(canvas.dataset.source);
  if (response.ok) {
    lanes = (await response.json()).lanes.filter((lane) => lane.bars.length);
    lanes.forEach(arrange);
  } else {
    output.textContent = `The timeline cannot be loaded: ${response.status}`;
  }
  paint();
}
