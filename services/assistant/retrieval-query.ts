import type { Turn } from '#shared/aggregates/thread/thread.ts';
import { analyzeQuery } from '#shared/search/ranking/analyze-text.ts';
import { questionKind } from './quote-section.ts';

/** Words that show that a question refers to earlier turns. */
const pointsBack = /\b(it|its|they|them|their|that|this|those|these|one|ones|instead|same|else|here)\b/i;
const goesOn = /^\s*(and|or|but|what about|how about|why|also)\b/i;
/** Matches a message that only asks for more of the same. */
const wantsMore =
  /^(?:\W|(?:can|could|you|please|tell|show|give|me|us|more|some|details?|about|on|of|that|this|it|them|those|go|continue|explain|elaborate|further|an|examples?|again|with|in|depth|say|the|a)\b)+$/i;
/** Matches a message that asks nothing. */
const courtesy =
  /^(?:\W|(?:hi|hello|hey|thanks?|thx|you|very|much|so|a|lot|ok|okay|great|cool|nice|perfect|good|morning|afternoon|evening|day|bye|goodbye|there|for|the|your|help)\b)+$/i;
const pageItself = /\b(?:this|the current|the) (?:page|article|guide|document|section)\b|\bhere\b/i;

const mostQuestions = 6;
const selectionCharacters = 300;

/** True for a message that only greets or thanks. Pure. */
export const isCourtesy = (question: string): boolean => courtesy.test(question) && /\p{L}/u.test(question);

/** True for a question about the current page of its reader. Pure. */
export const isAboutPage = (question: string): boolean => pageItself.test(question);

/** True for a question that only asks to continue, without words to search for. Pure. */
export const asksForMore = (question: string): boolean => wantsMore.test(question) && /\p{L}/u.test(question);

/** The search query: the last question, earlier questions back to one that is clear alone, and the reader's selection if the question refers to it. Pure. */
export function retrievalQuery(turns: readonly Turn[], selections: readonly { value: string }[] = []): string {
  const questions = turns
    .filter(({ role }) => role === 'user')
    .map(({ text }) => text)
    .reverse();
  const [question = ''] = questions;
  const selected = selections
    .map(({ value }) => value.slice(0, selectionCharacters).trim())
    .filter((text) => text !== '');
  if (selected.length > 0 && isUnclear(question)) return [...ownWords(question), ...selected].join('\n');
  const until = questions.findIndex((text) => !isUnclear(text));
  const needed = questions.slice(0, Math.min(until === -1 ? questions.length : until + 1, mostQuestions));
  const searched = needed.flatMap(ownWords);
  if (searched.length === 1 && isForStart(searched[0] ?? '')) searched.push(startWords);
  return searched.length === 0 ? question : searched.join('\n');
}

/** True for a question that only asks how to begin, without a subject. */
const isForStart = (question: string): boolean =>
  questionKind(question) === 'start' && analyzeQuery(question).length < 2;
/** Usual titles of pages that say how to begin. */
const startWords = 'quickstart, getting started';

const ownWords = (question: string): string[] => (asksForMore(question) ? [] : [question]);

function isUnclear(question: string): boolean {
  if (isForStart(question) && !pointsBack.test(question) && !goesOn.test(question)) return false;
  return (
    asksForMore(question) || analyzeQuery(question).length < 2 || pointsBack.test(question) || goesOn.test(question)
  );
}
