// The tasks of a stage over time: a lane for each executor, a bar for each task in the colours of what its time went to.
// Tasks come by range: the longest first where there are more than can be drawn.
import { colour, duration, timeline } from "./canvas.js";

const canvas = document.getElementById("tasks-timeline");
if (canvas) {
  const output = document.getElementById("tasks-range");
  let data = { tasks: [], executors: [], phases: [], n_all: 0 };
  let rows = [];
  let shown = [];
  let nRows = 1;
  /** Each executor has as many rows as tasks run on it at a time. */
  const arrange = () => {
    const ends = new Map();
    const order = data.tasks.map((_, at) => at).sort((a, b) => data.tasks[a][3] - data.tasks[b][3]);
    const row = new Array(data.tasks.length).fill(0);
    for (const at of order) {
      const [, , , from, took, , executor] = data.tasks[at];
      const own = ends.get(executor) ?? [];
      let free = own.findIndex((end) => end <= from);
      if (free < 0) free = own.length < 64 ? own.length : 63;
      own[free] = from + took;
      ends.set(executor, own);
      row[at] = free;
    }
    let top = 0;
    const tops = new Map();
    data.executors.forEach((_, executor) => {
      // a row for the executor's name
      top += 1;
      tops.set(executor, top);
      top += (ends.get(executor) ?? []).length;
    });
    nRows = Math.max(top, 1);
    rows = data.tasks.map((task, at) => tops.get(task[6]) + row[at]);
    data.tops = tops;
  };
  const draw = (context, view, { width, height }) => {
    const colours = data.phases.map((_, at) => colour(`--c${at}`));
    const [bad, line, faint] = ["--bad", "--line", "--faint"].map(colour);
    const rowHeight = Math.max(0.5, Math.min(16, (height - 4) / nRows));
    const scale = width / (view.to - view.from);
    shown = [];
    data.tasks.forEach((task, at) => {
      const [index, attempt, id, from, took, status, executor, ...phases] = task;
      if (from + took < view.from || from > view.to) return;
      const y = rows[at] * rowHeight;
      const [a, b] = [(from - view.from) * scale, (from + took - view.from) * scale];
      let begin = a;
      phases.forEach((ms, phase) => {
        if (ms <= 0) return;
        context.fillStyle = colours[phase];
        context.fillRect(begin, y, Math.max(ms * scale, 0.3), Math.max(rowHeight - 1, 0.4));
        begin += ms * scale;
      });
      if (status === "FAILED" || status === "KILLED") {
        context.strokeStyle = bad;
        context.strokeRect(a + 0.5, y + 0.5, Math.max(b - a - 1, 1), Math.max(rowHeight - 2, 1));
      }
      const parts = phases.map((ms, phase) => [ms, data.phases[phase]]).filter(([ms]) => ms > 0);
      shown.push({ a, b: Math.max(b, a + 2), y, height: Math.max(rowHeight, 2), at: task, parts, attempt, id, index, status, took, executor });
    });
    context.fillStyle = faint;
    data.executors.forEach((name, executor) => {
      const y = (data.tops.get(executor) - 1) * rowHeight;
      context.strokeStyle = line;
      context.strokeRect(-1, y, width + 2, 0.5);
      if (rowHeight >= 10) context.fillText(`executor ${name}`, 4, y + rowHeight - 3);
    });
  };
  const under = (px, py) => {
    const found = shown.findLast((bar) => px >= bar.a && px <= bar.b && py >= bar.y && py <= bar.y + bar.height);
    if (!found) return null;
    const parts = found.parts.map(([ms, name]) => `${name}: ${duration(ms)}`).join("\n");
    const to = new URL(location.href);
    to.searchParams.set("task.index", found.index);
    to.hash = "task";
    return { text: `task ${found.index} attempt ${found.attempt} (${found.status})\n${duration(found.took)} on executor ${data.executors[found.executor]}\n${parts}`, link: to.href };
  };
  let wanted = 0;
  const load = async (view) => {
    const own = (wanted += 1);
    const range = `&from=${Math.floor(view.from)}&to=${Math.ceil(view.to)}`;
    const response = await fetch(canvas.dataset.source + range);
    if (own !== wanted) return;
    if (!response.ok) { output.textContent = `Tasks cannot be loaded: ${response.status}`; return; }
    data = await response.json();
    arrange();
    canvas.style.height = `${Math.min(Math.max(nRows * 14 + 6, 60), 420)}px`;
    line.paint();
  };
  let timer = 0;
  const changed = (view) => {
    // only where not all tasks are here is there more to see when looking closer
    if (data.n_all <= data.tasks.length && data.tasks.length) return;
    clearTimeout(timer);
    timer = setTimeout(() => load(view), 250);
  };
  const line = timeline({ canvas, output, draw, under, changed });
  await load(line.view);
}
