// Sorts a table by the column that is clicked; draws the charts; shows the chosen runs and tasks.
document.querySelectorAll("th").forEach(head => head.onclick = () => {
  const body = head.closest("table").tBodies[0], place = head.cellIndex, down = head.ariaSort === "descending";
  const key = row => { const cell = row.cells[place]; return cell.dataset.value ?? cell.textContent; };
  const number = [...body.rows].some(row => "value" in row.cells[place].dataset);
  const compare = (a, b) => number ? key(b) - key(a) : key(a).localeCompare(key(b));
  const order = (a, b) => !key(a) - !key(b) || (down ? -1 : 1) * compare(a, b);  // what is missing is last
  head.closest("tr").querySelectorAll("th").forEach(other => other.removeAttribute("aria-sort"));
  head.ariaSort = down ? "ascending" : "descending";
  [...body.rows].sort(order).forEach(row => body.append(row));
});
const config = {displayModeBar: false, responsive: true};
CHARTS.forEach((chart, place) => Plotly.newPlot(`chart${place}`, chart.data, chart.layout, config));

const hidden = {model: new Set(), task: new Set()};
const shown = meta => !hidden.model.has(meta?.model) && !hidden.task.has(meta?.task);
const show = () => {
  document.querySelectorAll(".chart").forEach(div => {
    const visible = div.data.map(trace => shown(trace.meta));
    div.hidden = !div.data.some((trace, place) => visible[place] && (!trace.meta || trace.meta.task));
    Plotly.restyle(div, {visible});
  });
  document.querySelectorAll("tr[data-model]").forEach(row => row.hidden = hidden.model.has(row.dataset.model));
  document.querySelectorAll("td[data-model]").forEach(cell => {  // its row has other runs, too
    cell.style.visibility = hidden.model.has(cell.dataset.model) ? "hidden" : "";
  });
  document.querySelectorAll("[data-task]").forEach(cell => cell.hidden = hidden.task.has(cell.dataset.task));
};
document.querySelectorAll("nav input").forEach(box => box.onchange = () => {
  const names = box.value === "*" ? [...box.closest("div").querySelectorAll("input")] : [box];
  names.forEach(other => {
    other.checked = box.checked;
    hidden[other.name][box.checked ? "delete" : "add"](other.value);
  });
  show();
});
document.addEventListener("click", event => document.querySelectorAll("nav details[open]").forEach(menu => {
  if (!menu.contains(event.target) || event.target.tagName === "A") menu.open = false;
}));
