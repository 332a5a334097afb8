/**
 * Stem of an English word in lower case: M. F. Porter, "An algorithm for suffix stripping" (1980), with the two changes of the author's own
 * program (`bli` → `ble`, `logi` → `log`). Words of other scripts and of one or two letters come back as they are.
 */
export function porterStem(word: string): string {
  if (word.length < 3 || !/^[a-z]+$/.test(word)) return word;
  let w = word;
  // A y that follows no vowel is a consonant; upper case marks it from here on.
  if (w.startsWith('y')) w = `Y${w.slice(1)}`;

  w = step1a(w);
  w = step1b(w);
  if (/^(.*[aeiouy].*)y$/.test(w)) w = `${w.slice(0, -1)}i`;
  w = replaceSuffix(w, step2Suffixes, (stem) => measure(stem) > 0);
  w = replaceSuffix(w, step3Suffixes, (stem) => measure(stem) > 0);
  w = step4(w);
  w = step5(w);
  return w.toLowerCase();
}

function step1a(w: string): string {
  if (w.endsWith('sses') || w.endsWith('ies')) return w.slice(0, -2);
  if (w.endsWith('s') && !w.endsWith('ss')) return w.slice(0, -1);
  return w;
}

function step1b(w: string): string {
  if (w.endsWith('eed')) return measure(w.slice(0, -3)) > 0 ? w.slice(0, -1) : w;
  const stem = w.endsWith('ed') ? w.slice(0, -2) : w.endsWith('ing') ? w.slice(0, -3) : undefined;
  if (stem === undefined || !hasVowel(stem)) return w;
  if (/(at|bl|iz)$/.test(stem)) return `${stem}e`;
  if (/([^aeiouylsz])\1$/.test(stem)) return stem.slice(0, -1);
  if (measure(stem) === 1 && endsInShortSyllable(stem)) return `${stem}e`;
  return stem;
}

function step4(w: string): string {
  const suffix = step4Suffixes.find((candidate) => w.endsWith(candidate));
  if (suffix === undefined) return w;
  const stem = w.slice(0, -suffix.length);
  if (measure(stem) <= 1) return w;
  return suffix === 'ion' && !/[st]$/.test(stem) ? w : stem;
}

function step5(w: string): string {
  let result = w;
  if (result.endsWith('e')) {
    const stem = result.slice(0, -1);
    const m = measure(stem);
    if (m > 1 || (m === 1 && !endsInShortSyllable(stem))) result = stem;
  }
  return result.endsWith('ll') && measure(result) > 1 ? result.slice(0, -1) : result;
}

function replaceSuffix(
  w: string,
  suffixes: readonly (readonly [string, string])[],
  allowed: (stem: string) => boolean,
): string {
  const match = suffixes.find(([suffix]) => w.endsWith(suffix));
  if (!match) return w;
  const stem = w.slice(0, -match[0].length);
  return allowed(stem) ? stem + match[1] : w;
}

/** How many times a run of vowels is followed by a run of consonants. */
const measure = (stem: string): number => shape(stem).match(/v+c+/g)?.length ?? 0;

const hasVowel = (stem: string): boolean => shape(stem).includes('v');

/** Consonant, vowel, consonant at the end, the last one not w, x or y. */
const endsInShortSyllable = (stem: string): boolean => shape(stem).endsWith('cvc') && !/[wxyY]$/.test(stem);

function shape(stem: string): string {
  let result = '';
  for (const letter of stem) {
    const vowel = 'aeiou'.includes(letter) || (letter === 'y' && result.endsWith('c'));
    result += vowel ? 'v' : 'c';
  }
  return result;
}

/** The longest suffix that fits decides, also when it then may not be taken off. */
const longestFirst = <T extends readonly [string, string]>(pairs: T[]): T[] =>
  pairs.sort((a, b) => b[0].length - a[0].length);

const step2Suffixes = longestFirst([
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['bli', 'ble'],
  ['alli', 'al'],
  ['entli', 'ent'],
  ['eli', 'e'],
  ['ousli', 'ous'],
  ['ization', 'ize'],
  ['ation', 'ate'],
  ['ator', 'ate'],
  ['alism', 'al'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['biliti', 'ble'],
  ['logi', 'log'],
]);

const step3Suffixes = longestFirst([
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ful', ''],
  ['ness', ''],
]);

const step4Suffixes = 'ement ance ence able ible ment ant ent ism ate iti ous ive ize ion al er ic ou'.split(' ');
