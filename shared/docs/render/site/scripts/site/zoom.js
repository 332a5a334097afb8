// Pictures open enlarged on click.
if (typeof HTMLDialogElement === 'function') {
  all('.mdx-content img').forEach(function (image) {
    if (
      image.hasAttribute('data-no-zoom') ||
      image.closest('a, .card, .icon, .tooltip') ||
      image.classList.contains('icon')
    )
      return;
    image.classList.add('zoomable');
    image.addEventListener('click', function () {
      var dialog = make('dialog', 'zoom');
      /** @type {any} */
      var large = image.cloneNode();
      large.removeAttribute('width');
      large.removeAttribute('height');
      large.removeAttribute('style');
      large.className = '';
      dialog.append(large);
      document.body.append(dialog);
      dialog.addEventListener('click', function () {
        dialog.close();
      });
      dialog.addEventListener('close', function () {
        dialog.remove();
      });
      dialog.showModal();
    });
  });
}
