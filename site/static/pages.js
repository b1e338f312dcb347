// What the pages do by themselves; see course_pages.py for what they hold.
document.addEventListener("DOMContentLoaded", () => {
  nameFoldsOfContents();
  scrollByKeys();
  leadToMessages();
  quoteArticles();
  if (/assets\/benchmarks\/README\b/.test(location.pathname)) filterRecords();
});

// The theme's arrow that unfolds a chapter is a picture without words.
function nameFoldsOfContents() {
  for (const fold of document.querySelectorAll("li.has-children > details > summary")) {
    const chapter = fold.closest("li").querySelector("a");
    if (chapter) fold.setAttribute("aria-label", `Notebooks of ${chapter.textContent.trim()}`);
  }
}

// A table, formula or picture that is wider than the page can be reached with the Tab key, and then moved.
function scrollByKeys() {
  const places = "article :is(table, .formula, p:has(> img), .cell_output:has(> img)), .home-figure";
  for (const wide of document.querySelectorAll(places)) {
    if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;
  }
}

// The search finds pages that have all the words. Readers describe a symptom in words of their own, so
// the entries of the index that share most of them come first: the headings of 00/03 and the glossary.
function leadToMessages() {
  if (typeof Search === "undefined" || !Search._performSearch) return;
  const plain = Search._performSearch;
  Search._performSearch = (query, ...others) => {
    const nearest = nearestEntries(query, Search._index);
    const place = (result) => `${result[0]}${result[2]}`;
    const known = new Set(nearest.map(place));
    const further = plain(query, ...others).filter((result) => !known.has(place(result)));
    // The last result is shown first.
    return nameHeadings([...further, ...nearest], Search._index);
  };
}

// Below a result the search quotes the page. The theme's main part begins with buttons and the page's
// contents, and the title is in the result already.
function quoteArticles() {
  if (typeof Search === "undefined" || !Search.htmlToText) return;
  const plain = Search.htmlToText;
  Search.htmlToText = (page, anchor) => {
    const article = new DOMParser().parseFromString(page, "text/html").querySelector("article");
    if (!article) return plain(page, anchor);
    article.querySelector("h1")?.remove();
    return plain(`<main role="main">${article.innerHTML}</main>`, anchor);
  };
}

const QUIET = new Set(
  ("a an and any are as at be but by cuda do does doesn don for from get gets give gives has have how i if in into is it " +
    "its kernel me my of on or over s t than that the then there this to was what when where which why with").split(" "));
const SAME = new Map(Object.entries({
  incorrect: "wrong", bad: "wrong", differ: "different", differs: "different", results: "result", output: "result",
  answer: "result", values: "result", value: "result", sum: "result", runs: "run", launch: "run", call: "run", time: "run",
  once: "first", works: "right", correct: "right", elements: "element", arrays: "array", stuck: "hang",
  slower: "slow", zeros: "zero", threads: "thread", blocks: "block", accesses: "access", nans: "nan", every: "each",
}));

function contentWords(text) {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const kept = words.filter((word) => !QUIET.has(word));
  const one = (word) => (word.length > 3 ? word.replace(/([^s])s$/, "$1") : word);
  return new Set((kept.length ? kept : words).map((word) => one(SAME.get(word) ?? word)));
}

// Up to three results of the index, the nearest last, as Search has them.
function nearestEntries(query, index) {
  const asked = contentWords(query);
  const best = new Map();
  for (const [entry, places] of Object.entries(index.indexentries)) {
    const words = contentWords(entry);
    const both = [...words].filter((word) => asked.has(word)).length;
    const near = (2 * both) / (asked.size + words.size);
    for (const [page, anchor] of places) {
      const key = `${page}#${anchor}`;
      // An exercise has few words in its name, and comes after a message that has the same.
      const exercise = /^exercise[- ]/i.test(anchor);
      if (near < (exercise ? 0.8 : 0.6)) continue;
      const score = near + (exercise ? -0.01 : anchor ? 0.01 : 0);
      if (score <= (best.get(key)?.[4] ?? 0)) continue;
      best.set(key, [index.docnames[page], index.titles[page], anchor ? `#${anchor}` : "", null, score,
        index.filenames[page], "index"]);
    }
  }
  return [...best.values()].sort((a, b) => a[4] - b[4]).slice(-3);
}

// Results of the index with the page and the heading that each leads to, as Search names a heading.
function nameHeadings(results, index) {
  const headings = new Map();
  for (const [heading, places] of Object.entries(index.alltitles)) {
    for (const [page, anchor] of places) headings.set(`${index.docnames[page]}#${anchor}`, heading);
  }
  return results.map((result) => {
    const heading = result[6] === "index" && headings.get(`${result[0]}${result[2]}`);
    return heading ? [result[0], `${result[1]} > ${heading}`, ...result.slice(2)] : result;
  });
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
