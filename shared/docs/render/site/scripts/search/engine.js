// Search in the bundle's index, in the reader's browser. The index is the plain text, and a search scans all of it: browsers find a word in a
// megabyte within a millisecond. So no index structure has to be built or loaded, and parts of words and text without spaces are found, too. Results
// are ranked as on the platform (BM25F times the covered share of the query).
/** @typedef {import('../../page-globals.ts').SearchIndex} SearchIndex */
/** @typedef {import('../../page-globals.ts').SearchSections} SearchSections */
/** @typedef {{ page: number, at: number, score: number }} Match */
/** @typedef {{ title: number, path: number, heading: number, text: number }} Weights */

/** Texts of one field in one string. `starts` has the position of each text. */
/** @typedef {{ folded: string, original: string, starts: number[], average: number }} Field */
/** @param {string[]} texts @returns {Field} */
function fieldOf(texts) {
  var length = 0;
  var folded = texts.map(fold);
  var starts = folded.map(function (text) {
    var start = length;
    length += text.length + 1;
    return start;
  });
  starts.push(length);
  var whole = folded.join('\n');
  var original = texts.join('\n');
  return {
    folded: whole,
    // Positions in both strings correspond only if their lengths are equal.
    original: original.length === whole.length ? original : whole,
    starts: starts,
    average: Math.max(1, length / Math.max(1, texts.length)),
  };
}
var wordCharacter = /[\p{L}\p{N}\p{M}]/u;
/** @param {string} text @param {number} at */
function isWordAt(text, at) {
  var code = text.charCodeAt(at);
  if (code < 128) return (code > 96 && code < 123) || (code > 47 && code < 58) || (code > 64 && code < 91);
  return wordCharacter.test(text.charAt(at));
}
/** Matches endings with which an English word counts as the same word. */
var inflection = /^(?:s|es|ed|ing|ings|er|ers|or|ors|e|y|ies|ied|ion|ions|ation|ations|ment|ments|able|ly|ization)?$/;

/**
 * Counts a word in each text; `found` gets the number of the text and the count: 1 for each occurrence of the word, 0.9 for another form of it, and
 * less for another word that begins with it.
 * @param {Field} field @param {QueryWord} word @param {(item: number, count: number) => void} found
 */
function countIn(field, word, found) {
  var text = field.folded;
  var stem = word.stem;
  var item = 0;
  var starts = field.starts;
  for (var at = text.indexOf(stem); at >= 0; at = text.indexOf(stem, at + stem.length)) {
    while (starts[item + 1] <= at) item++;
    if (word.unspaced) {
      found(item, 1);
      continue;
    }
    if (at > 0 && isWordAt(text, at - 1)) {
      // A capital inside a name begins a word, such as "Page" in "retrievalPageSize".
      var before = field.original.charAt(at - 1);
      var first = field.original.charAt(at);
      if (!(first >= 'A' && first <= 'Z' && before >= 'a' && before <= 'z')) continue;
    }
    var end = at + stem.length;
    while (end < text.length && isWordAt(text, end)) end++;
    var rest = text.slice(at + stem.length, end);
    var whole = stem + rest;
    if (whole === word.text || inflection.test(rest)) found(item, whole === word.text ? 1 : 0.9);
    else if (whole.indexOf(word.text) === 0) found(item, word.last ? 0.7 : 0.35);
  }
}

/** Edit distance: differences of one letter, and of two swapped neighbours. @param {string} a @param {string} b @param {number} most */
function distance(a, b, most) {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  /** @type {number[]} */
  var before = [];
  /** @type {number[]} */
  var last = [];
  var row = [];
  for (var j = 0; j <= b.length; j++) last.push(j);
  for (var i = 1; i <= a.length; i++) {
    row = [i];
    var least = i;
    for (j = 1; j <= b.length; j++) {
      var cost = a[i - 1] === b[j - 1] ? 0 : 1;
      var value = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) value = Math.min(value, before[j - 2] + 1);
      row.push(value);
      least = Math.min(least, value);
    }
    if (least > most) return most + 1;
    before = last;
    last = row;
  }
  return last[b.length];
}

/** @type {Weights} */
var weights = { title: 5, path: 3.5, heading: 2, text: 1 };
/** Influence of the length of a field on the weight of a match. @type {Weights} */
var lengthPenalty = { title: 0.9, path: 0.6, heading: 0.6, text: 0.55 };
var saturation = 8.5;
var coverageExponent = 0.4;
/** Shares of the scores of a page's second-best and third-best sections that are added to each section. */
var supportShares = [0.34, 0.17];

/** @param {SearchIndex} index */
function searchEngine(index) {
  /** @type {{ first: number, sections: SearchSections, titles: Field, paths: Field, headings: Field, texts: Field, pageOf: number[], firstOf: number[] }[]} */
  var parts = [];
  /** @type {Map<string, number>} */
  var vocabulary;

  /** Adds the sections of the pages from `first` on. @param {number} first @param {SearchSections} sections */
  function add(first, sections) {
    var pages = index.pages.slice(first, first + sections.length);
    /** @type {number[]} */
    var pageOf = [];
    var firstOf = [0];
    sections.forEach(function (list, number) {
      list.forEach(() => pageOf.push(number));
      firstOf.push(pageOf.length);
    });
    var all = sections.flat();
    parts.push({
      first: first,
      sections: sections,
      titles: fieldOf(pages.map((page) => page[1])),
      paths: fieldOf(pages.map((page) => page[0].replace(/[-_/.]+/g, ' ') + ' ' + (page[5] || ''))),
      headings: fieldOf(all.map((section) => section[1])),
      texts: fieldOf(
        all.map((section, at) => (at === firstOf[pageOf[at]] ? pages[pageOf[at]][2] + '\n' : '') + section[2]),
      ),
      pageOf: pageOf,
      firstOf: firstOf,
    });
    vocabulary = undefined;
  }

  /** Words of the texts that are similar to an unknown word. @param {QueryWord} word @returns {QueryWord[]} */
  function similarTo(word) {
    var most = word.text.length > 7 ? 2 : 1;
    if (word.unspaced)
      return pairsOf(word.text).map((text) => ({ text: text, stem: text, unspaced: true, last: false }));
    if (word.text.length < 4) return [];
    if (!vocabulary) {
      vocabulary = new Map();
      parts.forEach((part) =>
        [part.titles, part.headings, part.texts].forEach((field) =>
          (field.folded.match(/[\p{L}\p{N}]{3,40}/gu) || []).forEach((found) => {
            vocabulary.set(found, (vocabulary.get(found) || 0) + 1);
          }),
        ),
      );
    }
    /** @type {[text: string, distance: number, count: number][]} */
    var near = [];
    vocabulary.forEach(function (count, text) {
      if (text[0] !== word.text[0] && text[1] !== word.text[1]) return;
      var away = distance(word.text, text, most);
      // An unfinished word is compared with prefixes.
      if (away > most && word.last && text.length > word.text.length)
        away = distance(word.text, text.slice(0, word.text.length), most) + 0.5;
      if (away <= most) near.push([text, away, count]);
    });
    near.sort((a, b) => a[1] - b[1] || b[2] - a[2]);
    return near.slice(0, 3).map(([text]) => ({ text: text, stem: stemOf(text), unspaced: false, last: false }));
  }

  /**
   * The best sections of the pages that `isShown` accepts, best first, and the words that were searched, for marking.
   * @param {string} query @param {string} [language] @param {(page: number) => boolean} [isShown]
   * @returns {{ matches: Match[], words: QueryWord[] }}
   */
  function find(query, language, isShown) {
    var words = wordsOf(query, language);
    /** @type {QueryWord[]} */
    var marked = [];
    /** @type {Map<number, number>[][]} */
    var counted = [];
    var sectionCount = parts.reduce((sum, part) => sum + part.pageOf.length, 0);
    /** Weighted counts of one word in all parts. @param {QueryWord} word @param {number} factor @param {Map<number, number>[]} [into] */
    function count(word, factor, into) {
      return parts.map(function (part, number) {
        /** @type {Map<number, number>} */
        var sums = into ? into[number] : new Map();
        /** @param {Field} field @param {keyof Weights} name @param {boolean} ofPage */
        function countField(field, name, ofPage) {
          countIn(field, word, function (item, times) {
            var length = (field.starts[item + 1] - field.starts[item]) / field.average;
            var unit = (factor * times * weights[name]) / (1 - lengthPenalty[name] + lengthPenalty[name] * length);
            var from = ofPage ? part.firstOf[item] : item;
            var to = ofPage ? part.firstOf[item + 1] : item + 1;
            for (var at = from; at < to; at++) sums.set(at, (sums.get(at) || 0) + unit);
          });
        }
        countField(part.titles, 'title', true);
        countField(part.paths, 'path', true);
        countField(part.headings, 'heading', false);
        countField(part.texts, 'text', false);
        return sums;
      });
    }
    words.forEach(function (word) {
      var sums = count(word, 1);
      marked.push(word);
      if (sums.every((map) => map.size === 0))
        similarTo(word).forEach(function (other) {
          sums = count(other, 0.7, sums);
          marked.push(other);
        });
      counted.push(sums);
    });
    var idf = counted.map(function (sums) {
      var having = sums.reduce((sum, map) => sum + map.size, 0);
      return Math.log(1 + (sectionCount - having + 0.5) / (having + 0.5));
    });
    var idfSum = idf.reduce((sum, value) => sum + value, 0);
    /** @type {Match[]} */
    var matches = [];
    /** @type {Map<number, Match[]>} */
    var byPage = new Map();
    parts.forEach(function (part, number) {
      /** @type {Map<number, { score: number, covered: number }>} */
      var scores = new Map();
      counted.forEach(function (sums, word) {
        sums[number].forEach(function (frequency, at) {
          var found = scores.get(at) || { score: 0, covered: 0 };
          found.score += idf[word] * (frequency / (frequency + saturation));
          found.covered += idf[word];
          scores.set(at, found);
        });
      });
      scores.forEach(function (found, at) {
        var page = part.first + part.pageOf[at];
        if (isShown && !isShown(page)) return;
        var boost = index.pages[page][6] || 1;
        var score = (found.score / idfSum) * Math.pow(found.covered / idfSum, coverageExponent) * boost;
        var match = { page: page, at: at - part.firstOf[part.pageOf[at]], score: score };
        matches.push(match);
        var others = byPage.get(page);
        if (others) others.push(match);
        else byPage.set(page, [match]);
      });
    });
    byPage.forEach(function (list) {
      list.sort((a, b) => b.score - a.score);
      var scores = list.map((match) => match.score);
      list.forEach(function (match, at) {
        var others = scores.slice(0, 3).filter((_, rank) => rank !== at);
        supportShares.forEach((share, rank) => (match.score += share * (others[rank] || 0)));
      });
    });
    matches.sort((a, b) => b.score - a.score || a.page - b.page || a.at - b.at);
    return { matches: matches, words: marked };
  }

  return {
    add: add,
    find: find,
    /** @param {Match} match */
    section: function (match) {
      var part = parts.find((one) => match.page >= one.first && match.page < one.first + one.sections.length);
      return part.sections[match.page - part.first][match.at];
    },
  };
}
