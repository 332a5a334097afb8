// Menus close when the reader turns elsewhere.
document.addEventListener('click', function (event) {
  all('.switcher[open]').forEach(function (menuOpen) {
    // @ts-expect-error a click is on an element
    if (!menuOpen.contains(event.target)) menuOpen.open = false;
  });
});
document.addEventListener('keydown', function (event) {
  if (event.key !== 'Escape') return;
  all('.switcher[open]').forEach(function (menuOpen) {
    menuOpen.open = false;
    menuOpen.querySelector('summary').focus();
  });
});
