(function () {
  // Entries of the assistant, if it is on: a button, Ctrl-I, and selected text. The panel is loaded when it is first opened.
  if (!config.features.assistant) return;
  var words = texts.assistant;
  /** @param {import('../../page-globals.ts').AssistantRequest} asked */
  async function openPanel(asked) {
    await load('assistant.js');
    await window.binderyAssistant.open(asked);
  }
  window.binderyOpenAssistant = (asked) => openPanel(typeof asked === 'object' ? asked : { question: asked });
  function openEmpty() {
    openPanel({}).catch((error) => console.warn(error));
  }

  var bar = document.querySelector('.topbar-right');
  if (bar) {
    var entry = make('button', 'assistant-entry');
    entry.type = 'button';
    entry.setAttribute('aria-keyshortcuts', 'Control+I Meta+I');
    entry.append(drawn(icons.sparkles), make('span', '', words.ask));
    entry.setAttribute('aria-label', words.ask);
    entry.addEventListener('click', openEmpty);
    entry.addEventListener('pointerenter', () => void load('assistant.js').catch(() => {}), { once: true });
    bar.prepend(entry);
  }
  document.addEventListener('keydown', function (event) {
    if (event.key.toLowerCase() !== 'i' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    var focused = /** @type {HTMLElement} */ (document.activeElement);
    var isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(focused.tagName) || focused.isContentEditable;
    if (
      (isTyping && !focused.closest('.assistant-panel')) ||
      document.querySelector('dialog[open]:not(.assistant-panel)')
    )
      return;
    event.preventDefault();
    openEmpty();
  });

  document.addEventListener('selectionchange', () => void load('assistant-selection.js').catch(() => {}), {
    once: true,
  });

  if (recall(sessionStorage, 'bindery-assistant-open:' + config.domain) && innerWidth >= 1024)
    openPanel({ isAgain: true }).catch(() => {});
})();
