import { stemmer } from 'stemmer';
import { frequentWordsOf, languageOfText } from './question-language.ts';

/**
 * Terms of a text, in order, for the index and for questions: lower case, without accents, stemmed as English. Compound names are also
 * split into their parts (`retrievalPageSize`, `docs.json`, `on_page_error`). Chinese, Japanese, Korean and Thai text has no spaces and
 * becomes overlapping pairs of characters. A term has letters and digits only. Because the text is analyzed here, every engine finds the
 * same passages.
 */
export function analyzeText(text: string): string[] {
  const terms: string[] = [];
  for (const word of text.normalize('NFKC').match(words) ?? []) {
    for (const term of wordOf(word).terms) terms.push(term);
  }
  return terms;
}

/** Assigns numbers to terms, for callers that store terms by number. */
export type TermNumbers = {
  of(term: string): number;
  /** Identifies this numbering in the cache of words. */
  readonly mark: object;
};

/** The terms of a text, and the number of each. Words cache their numbers, like their terms, until another numbering is used. */
export function analyzeWithNumbers(text: string, numbers: TermNumbers): { terms: string[]; ids: number[] } {
  const terms: string[] = [];
  const ids: number[] = [];
  for (const part of text.normalize('NFKC').match(words) ?? []) {
    const word = wordOf(part);
    if (word.mark !== numbers.mark) {
      word.mark = numbers.mark;
      word.ids = word.terms.map((term) => numbers.of(term));
    }
    for (const term of word.terms) terms.push(term);
    for (const id of word.ids) ids.push(id);
  }
  return { terms, ids };
}

/** The words of a text that have one of these terms: start and end of each, in order. */
export function wordsWith(text: string, terms: ReadonlySet<string>): [start: number, end: number][] {
  const found: [number, number][] = [];
  for (const match of text.matchAll(words)) {
    if (analyzeText(match[0]).some((term) => terms.has(term))) found.push([match.index, match.index + match[0].length]);
  }
  return found;
}

/**
 * Terms of a question: those of `analyzeText`, each once, without stop words unless there are no others. Stop words are those of English, and the
 * frequent words of the question's language if that is clear.
 */
export function analyzeQuery(query: string): string[] {
  const read = query.slice(0, maxQueryCharacters);
  const terms = topicalTerms(analyzeText(read));
  const frequent = frequentTermsOf(languageOfText(read));
  const topical = terms.filter((term) => !frequent.has(term));
  return (topical.length > 0 ? topical : terms).slice(0, maxQueryTerms);
}

const frequentTerms = new Map<string, ReadonlySet<string>>();

function frequentTermsOf(language: string | undefined): ReadonlySet<string> {
  if (language === undefined || language === 'en') return new Set();
  const known = frequentTerms.get(language) ?? new Set(analyzeText(frequentWordsOf(language)));
  frequentTerms.set(language, known);
  return known;
}

/** Each term once, in order, without stop words unless there are no others. */
export function topicalTerms(terms: readonly string[]): string[] {
  const all = [...new Set(terms)];
  const topical = all.filter((term) => !stopTerms.has(term));
  return topical.length > 0 ? topical : all;
}

/** The terms of a text that are not stop words, each once; empty for a text of stop words alone. */
export const subjectTerms = (text: string): string[] => [
  ...new Set(analyzeText(text.slice(0, maxQueryCharacters)).filter((term) => !stopTerms.has(term))),
];

/** The number of `topicalTerms`. */
export function topicalCount(terms: readonly string[]): number {
  let [all, topical] = [0, 0];
  for (let at = 0; at < terms.length; at += 1) {
    const term = terms[at] ?? '';
    if (terms.indexOf(term) < at) continue;
    all += 1;
    if (!stopTerms.has(term)) topical += 1;
  }
  return topical > 0 ? topical : all;
}

const maxQueryCharacters = 2_000;
const maxQueryTerms = 40;
/** Words of natural languages are shorter. Hashes and encoded data are longer, but nobody searches for them. */
const maxTermCharacters = 60;

/** Letters, digits and marks, also joined by the characters that join names. */
const words = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*(?:[._'’-][\p{L}\p{N}][\p{L}\p{N}\p{M}]*)*/gu;
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;
const runs =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}ー]+|[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}ー]+/gu;

type Word = { word: string; terms: readonly string[]; mark: object | undefined; ids: readonly number[] };

/** Cache of terms by word in two generations, because a text repeats few words many times. It takes 5 MB at most. */
let recent = new Map<string, Word>();
let earlier = recent;
const mostRecent = 12_000;

function wordOf(word: string): Word {
  const known = recent.get(word);
  if (known !== undefined) return known;
  const found = earlier.get(word) ?? newWord(word);
  if (found.word.length > maxTermCharacters) return found;
  if (recent.size === mostRecent) [earlier, recent] = [recent, new Map()];
  recent.set(found.word, found);
  return found;
}

/** Copies the word, because a substring keeps the whole text in memory. */
function newWord(part: string): Word {
  const word = Buffer.from(part).toString();
  return { word, terms: cutWord(word), mark: undefined, ids: [] };
}

function cutWord(word: string): string[] {
  const terms: string[] = [];
  if (unspaced.test(word)) {
    for (const run of word.match(runs) ?? []) {
      if (unspaced.test(run)) addPairs(terms, run);
      else addName(terms, run);
    }
  } else {
    addName(terms, word);
  }
  return terms;
}

function addPairs(terms: string[], run: string): void {
  const characters = Array.from(run.replace(/[^\p{L}\p{N}]/gu, ''));
  if (characters.length === 1) terms.push(characters[0] ?? '');
  for (let at = 0; at + 1 < characters.length; at += 1) terms.push(`${characters[at]}${characters[at + 1]}`);
}

function addName(terms: string[], word: string): void {
  const possessive = word.replace(/['’]s$/i, '');
  const parts = possessive.split(/[^\p{L}\p{N}\p{M}]+|(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u);
  for (const part of parts) addTerm(terms, part);
  // `e-mail` is also `email`, `retrievalPageSize` also `retrievalpagesize`.
  if (parts.length > 1 && parts.length <= 4) addTerm(terms, parts.join(''));
}

function addTerm(terms: string[], part: string): void {
  const folded = part
    .normalize('NFD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
  if (folded !== '' && folded.length <= maxTermCharacters) terms.push(stem(folded));
}

/** The stem by Porter's algorithm. Names with digits and words of other scripts stay unchanged. */
const stem = (word: string): string => exceptions.get(word) ?? (/^[a-z]+$/.test(word) ? stemmer(word) : word);

/** Words with their forms that the algorithm confuses with other words or does not know. The first is the stem of all. */
const exceptions = new Map(
  [
    'customer customers',
    'important importance',
    'several',
    'policy policies',
    'universal universally',
    'community communities',
    'organ organs',
    'index indices indexes indexing indexed',
    'matrix matrices',
    'vertex vertices',
    'analysis analyses',
    'child children',
    'build builds building built',
    'send sends sending sent',
    'keep keeps keeping kept',
    'lose loses losing lost loss',
    'steal steals stealing stole stolen',
    'write writes writing wrote written',
    'choose chooses choosing chose chosen',
    'run runs running ran',
    'buy buys buying bought',
    'pay pays paying paid payment payments',
    'hide hides hiding hid hidden',
    'break breaks breaking broke broken',
    'forget forgets forgetting forgot forgotten',
  ].flatMap((line) => {
    const forms = line.split(' ');
    return forms.map((form) => [form, forms[0] ?? form] as const);
  }),
);

const stopTerms = new Set(
  analyzeText(
    `a an the this that these those it its is are was were be been being am do does did doing done has have had having
    i me my mine you your yours we us our ours they them their he she his her
    someone somebody anyone anybody everyone everybody nobody something anything everything nothing
    and or but if then else so than as of at by for from in into on onto out over to up with within without about
    what which who whom whose when where why how can could may might must shall should will would
    there here not no nor only own same too very just also any some all each both more most other such
    please tell show give want need like get got let know learn explain describe use using used again thank thanks`,
  ),
);
