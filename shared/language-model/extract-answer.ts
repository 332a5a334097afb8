import { analyzeQuery, analyzeText } from '#shared/search/analyze-text.ts';
import { notInDocumentation } from './not-in-documentation.ts';
import type { PromptPassage } from './prompt-passages.ts';

/**
 * Below this share of the question's words a passage is about something else. Of 28 questions about anything but the site (14 on each of two
 * real sites) 22 stayed below, and of 1,401 about it about nine in ten were above; what got through was mostly said there in passing.
 */
const MIN_RELEVANCE = 0.48;
/** A further passage must come this close to the best one. */
const SHARE_OF_BEST = 0.8;
const MAX_QUOTES = 3;
const QUOTE_CHARACTERS = 600;

/** An answer in Markdown that only quotes: the parts of the best passages that have most of the question's words, each linked. Pure. */
export function extractAnswer(question: string, passages: readonly PromptPassage[]): string {
  const best = Math.max(0, ...passages.map((passage) => passage.relevance));
  if (best < MIN_RELEVANCE) return notInDocumentation;
  const terms = new Set(analyzeQuery(question));
  const quoted = passages
    .filter((passage) => passage.relevance >= MIN_RELEVANCE && passage.relevance >= best * SHARE_OF_BEST)
    .slice(0, MAX_QUOTES)
    .map(
      (passage) =>
        `[${passage.title.replaceAll(/[[\]]/g, '\\$&')}](${passage.url}):\n\n${asQuote(bestPart(passage.text, terms))}`,
    );
  return `The documentation says:\n\n${quoted.join('\n\n')}`;
}

/** Whole paragraphs or lines in a row with most of the terms, as many as fit; what has most of them first, then what is early. */
function bestPart(text: string, terms: ReadonlySet<string>): string {
  if (text.length <= QUOTE_CHARACTERS) return text;
  const blocks = text.split(/(?<=\n)/).flatMap((line) => (line.length <= QUOTE_CHARACTERS ? [line] : sentences(line)));
  let best = { part: blocks[0] ?? '', score: -1 };
  for (let start = 0; start < blocks.length; start += 1) {
    let part = '';
    for (
      let end = start;
      end < blocks.length && part.length + (blocks[end]?.length ?? 0) <= QUOTE_CHARACTERS;
      end += 1
    ) {
      part += blocks[end];
    }
    const score = new Set(analyzeText(part).filter((term) => terms.has(term))).size;
    if (score > best.score) best = { part, score };
  }
  return best.part.length <= QUOTE_CHARACTERS ? best.part : `${best.part.slice(0, QUOTE_CHARACTERS)}…`;
}

const sentences = (line: string): string[] => line.split(/(?<=[.!?]\s|[。！？])/);

const asQuote = (text: string): string =>
  text
    .trim()
    .replaceAll(/^/gm, '> ')
    .replaceAll(/[ \t]+$/gm, '');
