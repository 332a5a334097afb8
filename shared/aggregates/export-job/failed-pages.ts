import type { FailedPage } from '#shared/contracts/export-facts.ts';

const maxKept = 50;
/** The whole state has to stay below 4 KB. The log has every failed page in its events. */
const maxKeptBytes = 1_100;
const maxSentenceBytes = 900;
const maxReason = 120;

/** The failed pages that the state keeps: the first ones that fit, each once. Pure. */
export function keepFailedPages(kept: readonly FailedPage[], added: readonly FailedPage[]): FailedPage[] {
  const known = new Set(kept.map(({ path }) => path));
  const all = [...kept];
  let bytes = Buffer.byteLength(JSON.stringify(kept));
  for (const { path, reason } of added) {
    if (known.has(path) || all.length >= maxKept) continue;
    const page = { path, reason: shortened(reason, maxReason) };
    bytes += Buffer.byteLength(JSON.stringify(page)) + 1;
    if (bytes > maxKeptBytes) break;
    all.push(page);
  }
  return all;
}

/** The error of a failed job as a sentence: the number of failed pages, their names, and the reasons. Pure. */
export function failedPagesSentence(pages: readonly FailedPage[], count: number): string {
  let sentence = count === 1 ? '1 page could not be rendered: ' : `${count} pages could not be rendered: `;
  let named = 0;
  for (const { path, reason } of pages) {
    const next = `${named > 0 ? ', ' : ''}${path} (${reason.replace(/\.$/, '')})`;
    if (named > 0 && Buffer.byteLength(sentence + next) > maxSentenceBytes) break;
    sentence += next;
    named += 1;
  }
  const left = count - named;
  if (named === 0) return `${sentence.slice(0, -2)}; the history of the job names them.`;
  return left > 0 ? `${sentence} and ${left} more, which the history of the job names.` : `${sentence}.`;
}

const shortened = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`;
