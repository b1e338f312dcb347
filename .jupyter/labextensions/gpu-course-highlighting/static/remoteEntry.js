// Cells that begin with %%c, %%cpp or %%cuda, and answers to exercises that are C or C++, have the
// colours of C++ in JupyterLab 4. So have C++ in Markdown and printed C++. A %%report has those of
// Markdown, and printed Python its own. Printed lines break between words, but those of tables and
// programs don't: a prebuilt extension in one file, so nothing is built and nothing fetched.
(() => {
  'use strict';

  const NAME = 'gpu-course-highlighting';
  const CPP = 'text/x-c++src';
  const PYTHON = 'text/x-python';
  const MARKDOWN = 'text/x-ipythongfm';
  const PROGRAM = /^%%c(pp|uda)?(\s|$)/;
  const EXERCISE = /^%%exercise\b/;
  const REPORT = /^%%report\b/;
  // Three cells or more with two spaces or more between them, a number far to the right, a rule.
  const ROW = /\S {2,}\S.* {2,}\S|\S {4,}[\d.,]+( \S{1,3})?$|^[ +|]*[-=]{3}[-=+| ]*$/;
  const MARKED = '.jp-RenderedMarkdown code.language-cpp';
  const FENCED = `${MARKED}, .jp-RenderedMarkdown code.language-text`;
  const C_LINE =
    /[;{}]\s*(\/\/.*|\/\*.*)?$|^[-+\s]*(\/\/|(#\s*(include|define|if|pragma)|extern|__global__)\b)/m;
  const PYTHON_LINE = /^(def|class) .*:$/m;

  /** Whether the text of a code cell is C or C++ for the compiler. */
  function isCpp(text) {
    if (PROGRAM.test(text)) return true;
    if (!EXERCISE.test(text)) return false;
    const answer = text.slice(text.indexOf('\n') + 1);
    return C_LINE.test(answer) && !/^\s*(def|class) .*:\s*(#.*)?$/m.test(answer);
  }

  /** Keep the type of one code cell to what it holds. */
  function follow(model) {
    if (model.type !== 'code') return;
    let own = model.mimeType; // what the kernel's language is
    const choose = () => {
      const text = model.sharedModel.getSource();
      const wanted = isCpp(text) ? CPP : REPORT.test(text) ? MARKDOWN : own;
      if (model.mimeType !== wanted) model.mimeType = wanted;
    };
    model.mimeTypeChanged.connect(() => {
      if (![CPP, MARKDOWN].includes(model.mimeType)) own = model.mimeType;
      choose();
    });
    model.contentChanged.connect(choose);
    choose();
  }

  /** JupyterLab breaks a printed line that is too long inside a word. A message is easier to read
   * broken at its spaces, and a word that is too long still breaks. A table has no use for a line's
   * second half below its first, nor has a program: they scroll. A listing's long
   * name breaks, a number stays with its unit, and prose keeps its distance from a fold. */
  function layOut() {
    const style = document.createElement('style');
    style.textContent =
      '.jp-Notebook .jp-OutputArea-output pre { word-break: normal; }' +
      '.jp-Notebook .jp-OutputArea-output pre.course-whole { white-space: pre; overflow-x: auto; }' +
      '.jp-Notebook pre.course-whole .course-prose { white-space: pre-wrap; }' +
      '.jp-Notebook .jp-OutputArea-output .highlight > code { overflow-wrap: anywhere; }' +
      '.jp-RenderedMarkdown td:is([align="right"], [style*="right"]) { white-space: nowrap; }' +
      '.jp-RenderedMarkdown details:not(:last-child, :has(+ details)) { margin-bottom: 1em; }';
    document.head.append(style);
  }

  /** Whether at least half of the printed lines, and two, are rows of a table. */
  function isTable(text) {
    const lines = text.split('\n').filter((line) => line.trim());
    const rows = lines.filter((line) => ROW.test(line));
    return rows.length >= 2 && 2 * rows.length >= lines.length;
  }

  /** A long sentence among the lines of a table, with no column in it, still breaks. */
  function breakSentences(pre, text) {
    const isLong = (line) => line.length > 85 && !/\S {2,}\S/.test(line);
    const lines = text.split(/(?<=\n)/);
    if (pre.childElementCount || !lines.some(isLong)) return;
    const prose = (line) => {
      const span = document.createElement('span');
      span.className = 'course-prose';
      span.textContent = line;
      return span;
    };
    pre.replaceChildren(...lines.map((line) => (isLong(line) ? prose(line) : line)));
  }

  /** The program that a printed text is or begins with, and its type. Four lines of C or more, at
   * least half of all, are one, down to the last of them: counts may follow. */
  function programIn(text) {
    const lines = text.split('\n');
    const written = lines.filter((line) => line.trim());
    const inC = written.filter((line) => C_LINE.test(line));
    if (inC.length >= 4 && 2 * inC.length >= written.length) {
      let end = 1 + lines.findLastIndex((line) => C_LINE.test(line));
      while (/[,(=+*|&]$/.test(lines[end])) end += 1;
      return { type: CPP, code: lines.slice(0, end).join('\n') };
    }
    return written.length >= 4 && PYTHON_LINE.test(text) ? { type: PYTHON, code: text } : null;
  }

  /** Lay out and colour the tables and programs among the outputs in `node`, and colour those of its
   * Markdown, with numbered lines too, now and whenever it changes. JupyterLab colours `python` and
   * `c` by itself. */
  function followOutputs(node, languages) {
    const waiting = new Set();
    const coloured = new WeakMap(); // a program's element, and its text
    const mark = () => {
      for (const pre of waiting) {
        const text = pre.textContent;
        const program = pre.matches(MARKED) ? { type: CPP, code: text } : programIn(text);
        if (!pre.matches(FENCED)) {
          const table = !program && isTable(text);
          pre.classList.toggle('course-whole', !!program || table);
          if (table) breakSentences(pre, text);
        }
        if (program && coloured.get(pre) !== text) {
          coloured.set(pre, text);
          const rows = document.createElement('span');
          const { type, code } = program;
          languages.highlight(code, languages.findByMIME(type), rows).then(() => {
            if (pre.textContent !== text) return;
            pre.replaceChildren(...rows.childNodes, text.slice(code.length));
          });
        }
      }
      waiting.clear();
    };
    const note = (changed) => {
      if (!waiting.size) requestAnimationFrame(mark);
      changed.forEach((pre) => waiting.add(pre));
    };
    const within = `.jp-OutputArea-output.jp-RenderedText pre, ${FENCED}`;
    new MutationObserver((records) => {
      const found = records.flatMap(({ target, addedNodes }) => {
        const around = target.parentElement?.closest(within) || target.closest?.(within);
        if (around) return [around];
        return [...addedNodes].flatMap((added) =>
          added.matches?.(within) ? [added] : [...(added.querySelectorAll?.(within) || [])],
        );
      });
      if (found.length) note(found);
    }).observe(node, { childList: true, characterData: true, subtree: true });
    note([...node.querySelectorAll(within)]);
  }

  function activate(app, notebooks, languages) {
    layOut();
    const known = new WeakSet();
    const followAll = (cells) => {
      for (const model of cells) {
        if (known.has(model)) continue;
        known.add(model);
        follow(model);
      }
    };
    notebooks.widgetAdded.connect((_, panel) => {
      followOutputs(panel.content.node, languages);
      panel.context.ready.then(() => {
        const cells = panel.content.model.cells;
        followAll(cells);
        cells.changed.connect(() => followAll(cells));
      });
    });
  }

  let shared = {};

  /** A package that JupyterLab shares with its extensions. */
  async function sharedPackage(name) {
    const [version] = Object.keys(shared[name]);
    return (await shared[name][version].get())();
  }

  window._JUPYTERLAB = window._JUPYTERLAB || {};
  window._JUPYTERLAB[NAME] = {
    init: (scope) => {
      shared = scope;
    },
    get: async () => {
      const { INotebookTracker } = await sharedPackage('@jupyterlab/notebook');
      const { IEditorLanguageRegistry } = await sharedPackage('@jupyterlab/codemirror');
      const plugin = {
        id: `${NAME}:plugin`,
        description: 'Colours of C++ for cells and prints of it; messages break, tables scroll.',
        autoStart: true,
        requires: [INotebookTracker, IEditorLanguageRegistry],
        activate,
      };
      return () => ({ __esModule: true, default: plugin });
    },
  };
})();
