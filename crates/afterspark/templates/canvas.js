// What timelines share: a canvas whose horizontal axis is time, that is moved by dragging and arrows and zoomed by wheel
// (with Ctrl), + and −.

/** A time since the start of the application: 2:31, 1:02:03.4. */
export const offset = (ms, isFine) => {
  const s = Math.floor(ms / 1000);
  const two = (n) => String(n).padStart(2, "0");
  const rest = isFine ? `.${String(Math.floor(ms % 1000)).padStart(3, "0")}` : "";
  const hours = Math.floor(s / 3600);
  return `+${hours ? `${hours}:` : ""}${two(Math.floor(s / 60) % 60)}:${two(s % 60)}${rest}`;
};

/** A duration as pages write it. */
export const duration = (ms) => {
  if (ms < 1000) return `${ms} ms`;
  if (ms < 60000) return `${(ms / 1000).toFixed(1)} s`;
  const [s, m, h] = [Math.floor(ms / 1000), Math.floor(ms / 60000), Math.floor(ms / 3600000)];
  return h ? `${h}h ${String(m % 60).padStart(2, "0")}m` : `${m}m ${String(s % 60).padStart(2, "0")}s`;
};

/** A colour of the style. */
export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Makes a canvas a timeline. `draw` is given the context, the view, and its size; `under` finds what is at a place. */
export const timeline = ({ canvas, output, draw, under, changed = () => {} }) => {
  const whole = { from: Number(canvas.dataset.from), to: Number(canvas.dataset.to) };
  const view = { ...whole };
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);
  let asked = false;
  const paint = () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      const ratio = window.devicePixelRatio || 1;
      const [width, height] = [canvas.clientWidth, canvas.clientHeight];
      if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
      if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
      const context = canvas.getContext("2d");
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, width, height);
      context.font = "12px system-ui, sans-serif";
      draw(context, view, { width, height });
      const isFine = view.to - view.from < 10000;
      output.textContent = `${offset(view.from - whole.from, isFine)} to ${offset(view.to - whole.from, isFine)} (${duration(Math.round(view.to - view.from))})`;
    });
  };
  const set = (from, to) => {
    const span = Math.min(Math.max(to - from, 5), whole.to - whole.from);
    const begin = Math.max(whole.from, Math.min(from, whole.to - span));
    [view.from, view.to] = [begin, begin + span];
    paint();
    changed(view);
  };
  const zoom = (factor, share = 0.5) => {
    const span = (view.to - view.from) * factor;
    const at = view.from + (view.to - view.from) * share;
    set(at - span * share, at + span * (1 - share));
  };
  const move = (share) => {
    const by = (view.to - view.from) * share;
    set(view.from + by, view.to + by);
  };
  canvas.addEventListener("keydown", (event) => {
    if (event.key === "+" || event.key === "=") zoom(1 / 1.5);
    else if (event.key === "-") zoom(1.5);
    else if (event.key === "0") set(whole.from, whole.to);
    else if (event.key === "ArrowRight") move(0.2);
    else if (event.key === "ArrowLeft") move(-0.2);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoom(event.deltaY < 0 ? 1 / 1.2 : 1.2, event.offsetX / canvas.clientWidth);
  }, { passive: false });
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    drag = { x: event.clientX, from: view.from, to: view.to, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (drag && event.buttons) {
      const by = (event.clientX - drag.x) / canvas.clientWidth * (drag.to - drag.from);
      drag.moved ||= Math.abs(event.clientX - drag.x) > 4;
      if (drag.moved) set(drag.from - by, drag.to - by);
      tip.hidden = true;
      return;
    }
    const found = under(event.offsetX, event.offsetY);
    tip.hidden = !found;
    canvas.style.cursor = found?.link ? "pointer" : "grab";
    if (found) {
      tip.textContent = found.text;
      tip.style.left = `${Math.min(event.clientX + 14, window.innerWidth - 320)}px`;
      tip.style.top = `${event.clientY + 14}px`;
    }
  });
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
  canvas.addEventListener("pointerup", (event) => {
    const found = drag && !drag.moved ? under(event.offsetX, event.offsetY) : null;
    drag = null;
    if (found?.link) location.href = found.link;
  });
  new ResizeObserver(paint).observe(canvas);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
  return { view, whole, set, paint };
};
