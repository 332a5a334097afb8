import { threadAggregate, type ThreadCommit, type ThreadEvent } from '#shared/aggregates/thread/thread.ts';
import { nextCommit } from '#shared/messaging/log/commit-chain.ts';
import type { EventLog, StoredCommit } from '#shared/messaging/log/event-log.ts';
import { threadSubject } from '#shared/messaging/subjects/subject-names.ts';

type DataOf<T extends ThreadEvent['type']> = Extract<ThreadEvent, { type: T }>['data'];
type Without<T> = Omit<T, 'organization' | 'domain' | 'threadId'>;

/** Appends to threads of one domain as the assistant would; times are those of the commits. */
export function threadWriter(log: Pick<EventLog<ThreadCommit>, 'append'>, organization = 'acme', domain = 'docs') {
  const newest = new Map<string, StoredCommit<ThreadCommit>>();
  const eventOf = <T extends ThreadEvent['type']>(type: T, threadId: string, data: Without<DataOf<T>>) =>
    ({ type, version: 1, data: { organization, domain, threadId, ...data } }) as unknown as ThreadEvent;

  async function append(threadId: string, time: string, events: ThreadEvent[]): Promise<ThreadCommit> {
    const actor = { kind: 'service' as const, id: 'assistant' };
    const previous = newest.get(threadId);
    let state = previous?.commit.data.state;
    for (const event of events) state = threadAggregate.evolve(state, event, { time, actor });
    if (state === undefined) throw new Error('The thread got no events.');
    const id = `tc_${threadId}_${(previous?.commit.revision ?? 0) + 1}`;
    const origin = { id, source: 'test', actor, time: new Date(time), causationId: 'test', correlationId: 'test' };
    const commit = nextCommit(threadSubject(organization, domain, threadId), previous, events, state, origin);
    newest.set(threadId, await log.append(commit, { sequence: previous?.sequence ?? 0 }));
    return commit;
  }

  return {
    /** Appends a question and its answer, both at the given time. */
    async answered(
      threadId: string,
      time: string,
      said: Partial<DataOf<'QuestionAnswered'>> & { messageId: string },
    ): Promise<ThreadCommit> {
      const { messageId, question = 'How do I rotate an API key?' } = said;
      const owner = { fingerprintHash: 'f'.repeat(64), threadKeySha256: 'e'.repeat(64), turns: [] };
      const started = newest.has(threadId) ? [] : [eventOf('ThreadStarted', threadId, owner)];
      await append(threadId, time, [...started, eventOf('QuestionAsked', threadId, { messageId, question })]);
      const answer = {
        answer: 'Press it.',
        sources: [{ path: '/guides/keys#rotate-a-key', title: 'API keys › Rotate' }],
        unanswered: false,
        aborted: false,
        model: 'test',
        tokens: 10,
      };
      return await append(threadId, time, [eventOf('QuestionAnswered', threadId, { question, ...answer, ...said })]);
    },
    rated: (threadId: string, time: string, rating: Without<DataOf<'AnswerRated'>>) =>
      append(threadId, time, [eventOf('AnswerRated', threadId, rating)]),
    erased: (erasureId: string, time: string, answers: DataOf<'ThreadErased'>['answers']) =>
      append(erasureId, time, [eventOf('ThreadErased', erasureId, { answers })]),
  };
}
