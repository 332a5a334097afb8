import { expect, test } from 'vitest';
import type { Insights } from '#shared/interfaces/http/insights.ts';
import { insightsText } from './commands/insights.ts';
import { noPaint } from './terminal.ts';

const time = '2026-03-01T10:00:00.000Z';
const insights: Insights = {
  domain: 'docs',
  from: '2026-01-31',
  to: '2026-03-01',
  questions: { total: 1_041, answered: 1_000, unanswered: 40, unfinished: 1 },
  ratings: { up: 9, down: 2 },
  unanswered: [
    { question: 'Can I pay by invoice?', count: 12, lastAskedAt: time, threadId: 'th_1' },
    { question: 'Is there\u001b[31m a dark mode?', count: 6, lastAskedAt: time, threadId: 'th_2' },
  ],
  pages: [
    { path: '/quickstart', title: 'Quickstart', answers: 800, up: 6, down: 0 },
    { path: '/limits', title: 'Limits', answers: 2, up: 0, down: 0 },
  ],
  ratedDown: [
    {
      question: 'How do I start?',
      comment: 'It says nothing of Windows.',
      threadId: 'th_3',
      messageId: 'm',
      answeredAt: time,
    },
    { question: 'What is it?', threadId: 'th_4', messageId: 'm', answeredAt: time },
  ],
  agents: {
    ...{ calls: 0, tools: [], searches: 0, empty: 0, queries: [], remarks: [] },
  },
  days: [
    { day: '2026-02-28', questions: 1_000, unanswered: 40 },
    { day: '2026-03-01', questions: 41, unanswered: 0 },
  ],
};

test('insights are sums, bars by day, gaps and pages, and what readers did not like', () => {
  expect(insightsText(insights, { width: 100, paint: noPaint }).split('\n')).toEqual([
    'docs, 2026-01-31 to 2026-03-01',
    '1,041 questions · 1,000 answered · 40 not in the documentation · 1 cut off · 9 up, 2 down',
    '',
    'Questions by day',
    `1,000  ${'━'.repeat(24)}  2026-02-28  40 without an answer`,
    `   41  ${'━'.padEnd(24)}  2026-03-01`,
    '',
    'Questions without an answer',
    `12  ${'━'.repeat(24)}  Can I pay by invoice?`,
    ` 6  ${'━'.repeat(12).padEnd(24)}  Is there [31m a dark mode?`,
    '',
    'Pages used most in answers',
    `800  ${'━'.repeat(24)}  /quickstart  6 up, 0 down`,
    `  2  ${'━'.padEnd(24)}  /limits`,
    '',
    'Answers that were rated down',
    '- How do I start? — “It says nothing of Windows.”',
    '- What is it?',
  ]);
});

test('where there is no room, insights have no bars, and lines are cut', () => {
  const lines = insightsText(insights, { width: 30, paint: noPaint }).split('\n');
  expect(lines.join('\n')).not.toContain('━');
  expect(lines).toContain('- How do I start? — “It says …');
});

test('without questions, insights say so', () => {
  const none = { ...insights, questions: { total: 0, answered: 0, unanswered: 0, unfinished: 0 } };
  expect(insightsText(none, { width: 100, paint: noPaint })).toBe(
    'docs, 2026-01-31 to 2026-03-01: nobody asked anything.',
  );
});
