// Colours from one colour: it stays on surfaces, and becomes darker or lighter as text until its contrast is 4.6:1.
/** @param {string} hex @returns {number[]} */
function rgbOf(hex) {
  var found = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(hex.trim());
  if (!found) throw new TypeError('BinderyWidget: color must be such as "#0f766e".');
  var digits = found[1].length === 3 ? found[1].replace(/./g, '$&$&') : found[1];
  return [0, 2, 4].map((at) => parseInt(digits.slice(at, at + 2), 16));
}
/** @param {number[]} rgb */
function luminanceOf(rgb) {
  var [red, green, blue] = rgb.map(function (value) {
    var part = value / 255;
    return part <= 0.04045 ? part / 12.92 : Math.pow((part + 0.055) / 1.055, 2.4);
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
/** @param {number[]} one @param {number[]} other */
function contrastOf(one, other) {
  var [dark, light] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}
/** @param {number[]} from @param {number[]} to @param {number} share of the second */
function mixed(from, to, share) {
  return from.map((value, at) => Math.round(value + (to[at] - value) * share));
}
/** @param {string} hex @param {boolean} isDark @returns {Record<string, string>} */
function accentColors(hex, isDark) {
  var white = [255, 255, 255];
  var black = [0, 0, 0];
  var accent = rgbOf(hex);
  var ground = isDark ? [30, 34, 40] : [243, 244, 246];
  var text = accent;
  for (var share = 0; share < 1 && contrastOf(text, ground) < 4.6; share += 0.04)
    text = mixed(accent, isDark ? white : black, share);
  var on = contrastOf(accent, white) >= 4.5 ? white : black;
  var colors = {
    accent: accent,
    'accent-text': text,
    'on-accent': on,
    'accent-hover': mixed(accent, on === white ? black : white, 0.12),
  };
  return Object.fromEntries(Object.entries(colors).map(([name, rgb]) => [name, 'rgb(' + rgb.join(' ') + ')']));
}
