// Makes the console quicker to use. Every page works without it.

const tick = 30_000;
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const units = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** Writes times again, which grow older while a page is open. */
function refreshTimes() {
  for (const element of document.querySelectorAll('time[datetime]:not([data-exact])')) {
    const seconds = (Date.parse(element.dateTime) - Date.now()) / 1_000;
    const unit = units.find(([, size]) => Math.abs(seconds) >= size);
    const text =
      unit === undefined
        ? Math.abs(seconds) < 5
          ? 'just now'
          : relative.format(Math.trunc(seconds), 'second')
        : relative.format(Math.trunc(seconds / unit[1]), unit[0]);
    if (element.textContent !== text) element.textContent = text;
  }
}

/** Shows parts that need scripts, in the whole page or in a part that was swapped in. */
function reveal() {
  for (const element of document.querySelectorAll('[data-copy][hidden], [data-palette][hidden], [data-print][hidden]'))
    element.hidden = false;
}

async function copy(button) {
  const said = button.getAttribute('aria-label');
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.setAttribute('aria-label', 'Copied');
    button.classList.add('done');
  } catch {
    button.setAttribute('aria-label', 'The browser does not allow copying');
  }
  setTimeout(() => {
    button.setAttribute('aria-label', said);
    button.classList.remove('done');
  }, 1_500);
}

const palette = () => document.querySelector('#palette');

function openPalette() {
  const dialog = palette();
  if (dialog === null || dialog.open) return;
  dialog.showModal();
  dialog.querySelector('input').select();
}

/** Moves between the links that the palette found. */
function moveInPalette(event) {
  const links = [...palette().querySelectorAll('#palette-found a')];
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined || links.length === 0) return;
  event.preventDefault();
  const at = links.indexOf(document.activeElement);
  const next = at + step;
  (next < 0 ? palette().querySelector('input') : links[Math.min(next, links.length - 1)]).focus();
}

/** Forms that are sent next without a question. */
const agreed = new WeakSet();

/** Asks before a form is sent. The server asks on a page of its own if this did not. */
function askFirst(question, form, submitter) {
  const dialog = document.querySelector('#question');
  const yes = dialog.querySelector('[value="yes"]');
  dialog.querySelector('#question-words').textContent = question;
  yes.textContent = submitter?.textContent ?? 'Yes';
  yes.classList.toggle('danger', submitter?.classList.contains('danger') === true);
  dialog.returnValue = 'no';
  dialog.addEventListener(
    'close',
    () => {
      if (dialog.returnValue !== 'yes') return submitter?.focus();
      if (form.elements.sure === undefined)
        form.append(Object.assign(document.createElement('input'), { type: 'hidden', name: 'sure', value: 'yes' }));
      agreed.add(form);
      form.requestSubmit(submitter);
    },
    { once: true },
  );
  dialog.showModal();
}

document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-copy]');
  if (button !== null) void copy(button);
  if (event.target.closest('[data-palette]') !== null) openPalette();
  if (event.target.closest('[data-print]') !== null) window.print();
  if (event.target.matches('dialog')) event.target.close();
  if (event.target.closest('#palette-found a') !== null) palette().close();
});
document.addEventListener('keydown', (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
    event.preventDefault();
    openPalette();
  } else if (palette()?.open) moveInPalette(event);
});
document.addEventListener(
  'submit',
  (event) => {
    const { target: form, submitter } = event;
    const question = submitter?.dataset.confirm ?? form.dataset.confirm;
    if (question === undefined || agreed.delete(form)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    askFirst(question, form, submitter);
  },
  true,
);
document.addEventListener('htmx:after:swap', () => {
  reveal();
  refreshTimes();
});
setInterval(refreshTimes, tick);
reveal();
