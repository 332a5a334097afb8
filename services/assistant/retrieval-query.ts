import { analyzeQuery } from '#shared/search/analyze-text.ts';
import type { Turn } from './conversation-turns.ts';

/** Words by which a question points at what was said before. */
const pointsBack = /\b(it|its|they|them|their|that|this|those|these|one|ones|instead|same|else)\b/i;
const goesOn = /^\s*(and|or|but|what about|how about|why|also)\b/i;

/** What to search for: the last question, and the one before where the last cannot be understood alone. */
export function retrievalQuery(turns: readonly Turn[]): string {
  const [question = '', before] = turns
    .filter((turn) => turn.role === 'user')
    .map((turn) => turn.text)
    .reverse();
  if (before === undefined) return question;
  const isShort = analyzeQuery(question).length < 2;
  return isShort || pointsBack.test(question) || goesOn.test(question) ? `${question}\n${before}` : question;
}
