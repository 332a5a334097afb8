// Splits queries and texts into words: in lower case without accents, and by the browser's segmenter for languages without spaces.
/** @typedef {{ text: string, stem: string, unspaced: boolean, last: boolean }} QueryWord */
var unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}\p{Script=Myanmar}]/u;
var unspacedRuns =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}\p{Script=Myanmar}ー\p{M}]+|[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}\p{Script=Myanmar}ー]+/gu;
/** Stop words carry no topic, so they count only in a query without other words. They are English, like the terms in most documentation. */
var stopWords = new Set(
  (
    'a an the this that these those it its is are was were be been being am do does did doing have has had having ' +
    'i me my you your we us our they them their and or but if then so than as of at by for from in into on onto out over to up with ' +
    'about what which who when where why how can could may might must should will would there here not no nor only own same too ' +
    'very just also any some all each both more most other such get got let like need give want tell show use using used'
  ).split(' '),
);
/** @param {string} text */
function fold(text) {
  if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase();
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .toLowerCase();
}
/** The stem of an English word: the word without its ending, if enough letters remain. @param {string} word */
function stemOf(word) {
  if (!/^[a-z]{4,}$/.test(word)) return word;
  var endings = /(?:ization|isation|ational|ations?|ingly|ments?|ions?|ings?|ables?|ers?|ors?|ies|ied|ed|es|s|ly|e|y)$/;
  var cut = word.replace(endings, '');
  // The letter before an ending may be doubled, as in "running".
  if (cut.length > 4 && /([bdgmnprt])\1$/.test(cut) && cut !== word) cut = cut.slice(0, -1);
  return cut.length >= 4 ? cut : word.replace(/(?<=..)s$/, '');
}
/** Words of a run of text without spaces. @param {string} run @param {string} [language] @returns {string[]} */
function segmented(run, language) {
  // @ts-expect-error newer than the library of types
  var Segmenter = Intl.Segmenter;
  if (Segmenter) {
    /** @type {{ segment: string, isWordLike: boolean }[]} */
    var parts = Array.from(new Segmenter(language || 'und', { granularity: 'word' }).segment(run));
    // A single character is more often the beginning of a name than a word.
    return parts
      .filter((part) => part.isWordLike)
      .reduce(function (words, part) {
        var last = words[words.length - 1];
        if (last && Array.from(last).length === 1) words[words.length - 1] += part.segment;
        else words.push(part.segment);
        return words;
      }, []);
  }
  return pairsOf(run);
}
/** Pairs of adjacent characters. @param {string} run */
function pairsOf(run) {
  var characters = Array.from(run);
  if (characters.length < 3) return [run];
  return characters.slice(1).map((character, at) => characters[at] + character);
}
/** The words of a query, each once. The last one may be unfinished. @param {string} query @param {string} [language] @returns {QueryWord[]} */
function wordsOf(query, language) {
  var folded = fold(query.slice(0, 300));
  /** @type {QueryWord[]} */
  var words = [];
  /** @param {string} text @param {boolean} isUnspaced */
  function add(text, isUnspaced) {
    if (words.some((word) => word.text === text)) return;
    words.push({ text: text, stem: isUnspaced ? text : stemOf(text), unspaced: isUnspaced, last: false });
  }
  (folded.match(/[\p{L}\p{N}\p{M}]+/gu) || []).forEach(function (word) {
    (word.match(unspacedRuns) || []).forEach(function (run) {
      if (unspaced.test(run)) segmented(run, language).forEach((part) => add(part, true));
      else add(run, false);
    });
  });
  var isOpen = /[\p{L}\p{N}\p{M}]$/u.test(folded);
  if (isOpen && words.length > 0) words[words.length - 1].last = true;
  var topical = words.filter((word) => word.last || !stopWords.has(word.text));
  return (topical.some((word) => !stopWords.has(word.text)) ? topical : words).slice(0, 20);
}
