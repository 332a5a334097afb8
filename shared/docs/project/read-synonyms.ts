import { analyzeText } from '#shared/search/ranking/analyze-text.ts';
import { quoted, type Report } from './diagnostics.ts';
import { isJsonObject, type JsonObject, type JsonValue } from './json-values.ts';

const mostGroups = 500;
const mostExpressions = 20;
const mostCharacters = 100;
const mostWords = 8;
/** Maximum number of reports about left-out groups, because a file with wrong types has as many problems as groups. */
const mostReported = 20;

const knownKeys = new Set(['prompt', 'synonyms']);

/**
 * Reads `search.synonyms` of `docs.json`: groups of words and phrases that mean the same. Invalid expressions are reported and left out, and so is a
 * group with fewer than two valid ones. At most 500 groups of 2 to 20 expressions, each of at most 100 characters and 8 words. Undefined if there are
 * none.
 */
export function readSynonyms(search: JsonValue | undefined, file: string, report: Report): string[][] | undefined {
  let reported = 0;
  const warn = (message: string): void => {
    reported += 1;
    if (reported <= mostReported) report({ severity: 'warning', code: 'bad-synonyms', message, file });
  };
  if (!isJsonObject(search)) return undefined;
  reportUnknown(search, file, report);
  const value = search['synonyms'];
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) {
    warn('"search.synonyms" must be a list of groups, such as [["workspace", "tenant"]]; it has no effect.');
    return undefined;
  }
  if (value.length > mostGroups)
    warn(
      `"search.synonyms" has ${value.length} groups; the first ${mostGroups} count. Join groups that mean the same.`,
    );
  const groups = value.slice(0, mostGroups).flatMap((group, at) => {
    const expressions = readGroup(group, `"search.synonyms[${at}]"`, warn);
    return expressions === undefined ? [] : [expressions];
  });
  if (reported > mostReported) {
    const message = `${reported - mostReported} more problems with "search.synonyms" are not listed. Solve these first.`;
    report({ severity: 'warning', code: 'bad-synonyms', message, file });
  }
  return groups.length === 0 ? undefined : groups;
}

function reportUnknown(search: JsonObject, file: string, report: Report): void {
  for (const key of Object.keys(search)) {
    if (knownKeys.has(key)) continue;
    const message = `"search.${key.slice(0, 60)}" is not a known setting, so it has no effect.`;
    report({ severity: 'info', code: 'unknown-setting', message, file });
  }
}

function readGroup(group: JsonValue, name: string, warn: (message: string) => void): string[] | undefined {
  if (!Array.isArray(group)) {
    warn(`${name} must be a list of words and phrases that mean the same; it is left out.`);
    return undefined;
  }
  if (group.length > mostExpressions)
    warn(
      `${name} has ${group.length} expressions; the first ${mostExpressions} count. Put words with another meaning into another group.`,
    );
  const expressions = new Map<string, string>();
  for (const value of group.slice(0, mostExpressions)) {
    const text = typeof value === 'string' ? value.trim().replaceAll(/\s+/g, ' ') : undefined;
    const problem = text === undefined ? 'is not text' : problemOf(text);
    if (text === undefined || problem !== undefined) {
      warn(
        `${name} has ${quoted(typeof value === 'string' ? value : JSON.stringify(value))}, which ${problem}; it is left out.`,
      );
      continue;
    }
    // Expressions with the same search terms count once.
    const terms = analyzeText(text).join(' ');
    if (!expressions.has(terms)) expressions.set(terms, text);
  }
  if (expressions.size >= 2) return [...expressions.values()];
  warn(`${name} has fewer than two expressions that the search can tell apart, so it has no effect. Add another one.`);
  return undefined;
}

/** The problem with an expression, as the rest of a sentence. */
function problemOf(text: string): string | undefined {
  if (text === '') return 'is empty';
  if (text.length > mostCharacters) return `has ${text.length} characters (at most ${mostCharacters})`;
  if (/[\p{Cc}\p{Cf}\p{Co}\p{Cn}]|\p{Cs}/u.test(text)) return 'has invisible characters';
  if (analyzeText(text).length === 0) return 'has no letter or digit';
  const words = text.split(' ').length;
  return words > mostWords ? `has ${words} words (at most ${mostWords})` : undefined;
}
