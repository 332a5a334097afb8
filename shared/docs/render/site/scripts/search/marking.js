// Finds the words of a query in a text, and the excerpt with most of them.
/** @param {string} text @param {QueryWord[]} words @returns {[from: number, to: number][]} */
function rangesOf(text, words) {
  var folded = text.toLowerCase();
  /** Original position of each folded character; undefined if the positions are equal. @type {number[]} */
  var places;
  if (!/^[\0-\x7f]*$/.test(text)) {
    folded = '';
    places = [];
    for (var at = 0; at < text.length; ) {
      var character = String.fromCodePoint(text.codePointAt(at));
      var plain = fold(character);
      for (var i = 0; i < plain.length; i++) places.push(at);
      folded += plain;
      at += character.length;
    }
    places.push(text.length);
  }
  /** @param {number} at */
  function from(at) {
    return places ? places[at] : at;
  }
  /** @type {[from: number, to: number][]} */
  var ranges = [];
  words.forEach(function (word) {
    for (var at = folded.indexOf(word.stem); at >= 0; at = folded.indexOf(word.stem, at + word.stem.length)) {
      var end = at + word.stem.length;
      if (!word.unspaced) {
        var isInside = at > 0 && isWordAt(folded, at - 1);
        if (isInside && !(/[A-Z]/.test(text[from(at)]) && /[a-z]/.test(text[from(at) - 1]))) continue;
        while (end < folded.length && isWordAt(folded, end)) end++;
        var whole = folded.slice(at, end);
        if (!inflection.test(whole.slice(word.stem.length)) && whole !== word.text) {
          if (whole.indexOf(word.text) !== 0) continue;
          end = at + word.text.length;
        }
      }
      ranges.push([from(at), from(end)]);
    }
  });
  ranges.sort((a, b) => a[0] - b[0]);
  return ranges.reduce(function (kept, range) {
    var last = kept[kept.length - 1];
    if (last && range[0] <= last[1]) last[1] = Math.max(last[1], range[1]);
    else kept.push(range);
    return kept;
  }, []);
}
/** The text with the words in `mark` elements. @param {string} text @param {QueryWord[]} words */
function markedText(text, words) {
  var made = document.createDocumentFragment();
  var done = 0;
  rangesOf(text, words).forEach(function (range) {
    made.append(text.slice(done, range[0]), make('mark', '', text.slice(range[0], range[1])));
    done = range[1];
  });
  made.append(text.slice(done));
  return made;
}
var snippetLength = 150;
/** @param {string} text @param {QueryWord[]} words */
function snippet(text, words) {
  var plain = text.replace(/\s+/g, ' ').trim();
  var ranges = rangesOf(plain, words);
  var best = 0;
  var most = 0;
  ranges.forEach(function (range) {
    var inside = ranges.filter((other) => other[0] >= range[0] && other[1] <= range[0] + snippetLength - 30);
    if (inside.length > most) {
      most = inside.length;
      best = range[0];
    }
  });
  // A phone shows about the first forty characters.
  if (best < 40) best = 0;
  var start = best === 0 ? 0 : plain.indexOf(' ', best - 24) + 1;
  if (start > best || start <= 0) start = best === 0 ? 0 : best;
  var end = start + snippetLength;
  if (end < plain.length) {
    var space = plain.lastIndexOf(' ', end);
    if (space > start + snippetLength / 2) end = space;
  }
  return (start > 0 ? '… ' : '') + plain.slice(start, end) + (end < plain.length ? ' …' : '');
}
