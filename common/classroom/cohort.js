// What the table of students does beyond being read: sorting by a column, and a filter for names. Without this
// script the page has the same content.
"use strict";

const table = document.querySelector("table.students");

// ---- Sorting: names upwards first, points downwards first; a second click turns it round.

const cellText = (row, column) => row.cells[column].textContent.trim();

// What is no number comes last: "–" was not handed in, "?" is not graded.
const cellNumber = (row, column) => {
  const number = parseFloat(cellText(row, column));
  return Number.isNaN(number) ? -1 : number;
};

const sortBy = (head) => {
  const column = head.cellIndex;
  const isNumber = head.classList.contains("number");
  const before = head.getAttribute("aria-sort");
  const upwards = before ? before === "descending" : !isNumber;
  const compare = isNumber
    ? (a, b) => cellNumber(a, column) - cellNumber(b, column)
    : (a, b) => cellText(a, column).localeCompare(cellText(b, column));
  const rows = [...table.tBodies[0].rows].sort((a, b) => (upwards ? compare(a, b) : compare(b, a)));
  table.tBodies[0].append(...rows);
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", upwards ? "ascending" : "descending");
};

const makeSortable = () => {
  const heads = [...table.tHead.rows[0].cells].slice(0, -1); // the last column has links
  for (const head of heads) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sortBy(head));
    head.append(button);
  }
};

// ---- The filter: letters without their accents, in any case.

const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

const makeFilter = () => {
  const input = document.getElementById("filter");
  const count = document.getElementById("filter-count");
  const names = new Map([...table.tBodies[0].rows].map((row) => [row, plain(cellText(row, 0))]));
  input.addEventListener("input", () => {
    const wanted = plain(input.value.trim());
    let shown = 0;
    for (const [row, name] of names) {
      row.hidden = !name.includes(wanted);
      shown += row.hidden ? 0 : 1;
    }
    count.textContent = wanted ? `${shown} of ${names.size}` : "";
  });
  document.getElementById("filter-box").hidden = false;
};

if (table) {
  makeSortable();
  makeFilter();
}
