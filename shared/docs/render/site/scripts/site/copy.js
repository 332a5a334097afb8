// Copy buttons.
/** @param {string} text @param {HTMLElement} button @param {() => void} [done] */
function copy(text, button, done) {
  copyText(text, button, function () {
    say(texts.copied);
    if (done) done();
  });
}
all('.code-block:not([data-nocopy]), .prompt[data-copy]').forEach(function (block) {
  var code = block.querySelector('pre code');
  if (!code) return;
  var button = make('button', 'copy-button code-block-copy-button icon-button');
  button.type = 'button';
  button.setAttribute('aria-label', texts.copy);
  button.append(drawn(icons.copy));
  button.addEventListener('click', function () {
    copy(code.textContent.replace(/\n$/, ''), button);
  });
  block.append(button);
});
all('.expandable-code').forEach(function (block) {
  var button = make('button', 'expand-button', texts.showAllLines);
  button.type = 'button';
  button.addEventListener('click', function () {
    block.classList.add('expanded');
    button.remove();
  });
  block.append(button);
});
