// The switch between light and dark.
all('.theme-switch').forEach(function (button) {
  button.addEventListener('click', function () {
    var dark = root.classList.toggle('dark');
    remember(localStorage, 'bindery-theme', dark ? 'dark' : 'light');
    say(dark ? texts.darkTheme : texts.lightTheme);
  });
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', function (event) {
  if (!recall(localStorage, 'bindery-theme') && root.dataset.appearance === 'system')
    root.classList.toggle('dark', event.matches);
});
all('.banner-close').forEach(function (button) {
  button.addEventListener('click', function () {
    root.classList.add('no-banner');
    remember(sessionStorage, 'bindery-banner', '1');
  });
});
