// What the pages do by themselves; see course_pages.py for what they hold.
document.addEventListener("DOMContentLoaded", () => {
  nameFoldsOfContents();
  scrollTablesByKeys();
  if (location.pathname.includes("assets/benchmarks/")) filterRecords();
});

// The theme's arrow that unfolds a chapter is a picture without words.
function nameFoldsOfContents() {
  for (const fold of document.querySelectorAll("li.has-children > details > summary")) {
    const chapter = fold.closest("li").querySelector("a");
    if (chapter) fold.setAttribute("aria-label", `Notebooks of ${chapter.textContent.trim()}`);
  }
}

// A table that is wider than the page can be reached with the Tab key, and then moved.
function scrollTablesByKeys() {
  for (const table of document.querySelectorAll("article table")) {
    if (table.scrollWidth > table.clientWidth) table.tabIndex = 0;
  }
}

// On the page of all records: a field that leaves the rows with all the words typed into it.
function filterRecords() {
  const heading = document.querySelector("article h1");
  if (!heading) return;
  const field = document.createElement("input");
  field.type = "search";
  field.className = "record-filter";
  field.placeholder = "kernel, task, size or library";
  field.setAttribute("aria-label", "Show only records with these words");
  heading.after(field);
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const section of document.querySelectorAll("article section section")) {
      const rows = [...section.querySelectorAll("tbody tr")];
      const title = section.querySelector("h2").textContent.toLowerCase();
      for (const row of rows) {
        const text = `${title} ${row.textContent.toLowerCase()}`;
        row.hidden = !words.every((word) => text.includes(word));
      }
      section.hidden = rows.length > 0 && rows.every((row) => row.hidden);
    }
  });
}
