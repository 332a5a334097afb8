import { toString } from 'nlcst-to-string';
import retextEnglish from 'retext-english';
import { unified } from 'unified';
import { visit } from 'unist-util-visit';
import type { Passage } from './passages.ts';

export type Problem = { line: number; sentence: string; advice: string };

const english = unified().use(retextEnglish).freeze();

/** Matches sentences that do not begin with their subject. A sentence of a comment begins with its subject or with a condition. */
const clipped = /^(?:Of|What|Who|Whose|Whoever|Whether|Not|No|Nor)\b/;

/** Phrases that need a second reading, each with a suggestion. */
const phrases: readonly [RegExp, string][] = [
  [/\bwho(?:ever|soever)\b/i, 'name the person or the program'],
  [/\bwhat (?:is|are|it|they|was|were|has|have)\b/i, 'name the thing'],
  [/\bof (?:which|whom)\b/i, 'make two sentences, or use "whose" or "with"'],
  [/\bso long\b/i, 'say the time, or name the grace period, timeout or lease'],
  [/\bby (?:itself|themselves)\b/i, 'leave it out, or say "alone" or "automatically"'],
  [/\bas (?:it|they) stands?\b/i, 'say "unchanged" or "current"'],
  [/(?<!\b(?:not|or) )\bat all\b/i, 'leave it out'],
  [/\bin (?:hand|(?:its|their) hands)\b/i, 'say "in flight" or "held"'],
  [/\ball the same\b(?! as)/i, 'say "nevertheless"'],
  [/\b(?:comes?|came) to nothing\b/i, 'say "fails" or "has no effect"'],
  [/\bany ?more\b/i, 'say "no longer"'],
  [/\bbuilt again\b/i, 'say "rebuilt"'],
  [/\bled back\b|\breaders back\b/i, 'say "rolled back"'],
  [/\bfor (?:good|ever)\b/i, 'say "permanently"'],
  [/\bin vain\b/i, 'say "without a result"'],
  [/\banew\b/i, 'say "again"'],
];

/** The problems of a passage, by sentence. Questions may ask "what is". */
export function problemsIn({ kind, line, text }: Passage): Problem[] {
  const tree = english.parse(text);
  const problems: Problem[] = [];
  const at = (offset: number): number => line + text.slice(0, offset).split('\n').length - 1;
  visit(tree, 'SentenceNode', (node) => {
    const sentence = toString(node).replaceAll(/\s+/g, ' ').trim();
    const start = at(node.position?.start.offset ?? 0);
    if (/\?["”)]*$/.test(sentence)) return;
    if (kind === 'comment' && clipped.test(sentence))
      problems.push({
        line: start,
        sentence,
        advice: "begin with the subject: a whole sentence, with the field's term",
      });
    for (const [pattern, advice] of phrases)
      if (pattern.test(sentence)) problems.push({ line: start, sentence, advice });
  });
  return problems;
}
