import { insightOwner, type QuestionOutcomes } from '#shared/contracts/insights.ts';
import type { Questions } from '#shared/interfaces/http/insights.ts';
import { type UsageDocument, usageKey } from '#shared/interfaces/read-models.ts';
import type { DocumentStore } from '#shared/messaging/read-models.ts';
import { Poison } from '#shared/runtime/failures.ts';
import { askBus } from '../ask-bus.ts';

type Sums = QuestionOutcomes;
const none: Sums = { answered: 0, unanswered: 0, unfinished: 0, up: 0, down: 0 };

/** Questions of an organization in some days (`yyyy-mm-dd`, oldest first), from one small document for each domain and month. */
export async function questionsOf(
  usage: Pick<DocumentStore<UsageDocument>, 'getMany'>,
  organization: string,
  domains: readonly string[],
  days: readonly string[],
): Promise<Omit<Questions, 'from' | 'to'>> {
  const months = [...new Set(days.map((day) => day.slice(0, 7)))];
  const wanted = new Map(
    domains.flatMap((domain) =>
      months.map((month) => [usageKey(insightOwner(organization, domain), month), { domain, month }] as const),
    ),
  );
  const found = new Map<string, { domain: string; outcomes: Readonly<Record<string, Sums>> }[]>();
  for (const each of await askBus(usage.getMany([...wanted.keys()]))) {
    if ('problem' in each) throw new Poison(each.problem);
    const of = wanted.get(each.key);
    if (of === undefined) continue;
    const ofMonth = found.get(of.month) ?? [];
    found.set(of.month, ofMonth);
    ofMonth.push({ domain: of.domain, outcomes: each.document.outcomes ?? {} });
  }
  const byDomain = new Map<string, Sums>();
  const byDay: Questions['days'] = [];
  let total = none;
  for (const day of days) {
    let ofDay = none;
    for (const { domain, outcomes } of found.get(day.slice(0, 7)) ?? []) {
      const sums = outcomes[day.slice(8)];
      if (sums === undefined) continue;
      byDomain.set(domain, sumOf(byDomain.get(domain) ?? none, sums));
      ofDay = sumOf(ofDay, sums);
    }
    total = sumOf(total, ofDay);
    const questions = questionCount(ofDay);
    if (questions > 0) byDay.push({ day, questions, answered: ofDay.answered, unanswered: ofDay.unanswered });
  }
  return {
    ...shown(total),
    domains: [...byDomain]
      .filter(([, sums]) => questionCount(sums) > 0)
      .map(([domain, sums]) => ({ domain, ...shown(sums) }))
      .sort((a, b) => b.questions.total - a.questions.total || (a.domain < b.domain ? -1 : 1)),
    days: byDay,
  };
}

const questionCount = ({ answered, unanswered, unfinished }: Sums): number => answered + unanswered + unfinished;

const sumOf = (one: Sums, other: Sums): Sums => ({
  answered: one.answered + other.answered,
  unanswered: one.unanswered + other.unanswered,
  unfinished: one.unfinished + other.unfinished,
  up: one.up + other.up,
  down: one.down + other.down,
});

const shown = (sums: Sums): Pick<Questions, 'questions' | 'ratings'> => {
  const { answered, unanswered, unfinished, up, down } = sums;
  return { questions: { total: questionCount(sums), answered, unanswered, unfinished }, ratings: { up, down } };
};
