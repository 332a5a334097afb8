import { describe, expect, test } from 'vitest';
import { contentAggregate, type ContentCommit, type ContentEvent } from '#shared/aggregates/content/content.ts';
import { Conflict } from '#shared/runtime/failures.ts';
import { memoryLog } from '../../../test/support/memory-log.ts';
import { handleCommand } from './handle-command.ts';

const subject = 'content.acme.docs.log';
const origin = {
  source: 'test',
  actor: { kind: 'service' as const, id: 'publisher' },
  causationId: 'c',
  correlationId: 'c',
};
const published = (digit: string): ContentEvent => ({
  type: 'ContentPublished',
  version: 1,
  data: {
    organization: 'acme',
    domain: 'docs',
    contentVersion: `cv_${digit.repeat(32)}`,
    pageCount: 1,
    fileCount: 1,
    sizeBytes: 1,
  },
});

function commands() {
  const log = memoryLog<ContentCommit>(async () => {});
  let digits = 0;
  const context = {
    log,
    clock: { now: () => new Date('2026-01-01T00:00:00.000Z') },
    random: () => String((digits += 1)),
  };
  const append = (decide: () => ContentEvent[]) =>
    handleCommand(context, contentAggregate, { subject, decide, origin });
  return { log, context, append };
}

describe('a command', () => {
  test('is decided on the newest state, and its events are one commit with the state after them', async () => {
    const { log, append } = commands();
    await append(() => [published('1'), published('2')]);
    const { events, stored } = await append(() => [published('3')]);
    expect(events).toHaveLength(1);
    expect(stored?.commit).toMatchObject({
      id: 'cc_2',
      revision: 2,
      data: { state: { latest: `cv_${'3'.repeat(32)}` } },
    });
    expect(stored?.commit.data.state.versions).toHaveLength(3);
    expect(log.stored).toHaveLength(2);
  });

  test('that decides nothing appends nothing and returns the newest commit', async () => {
    const { log, append } = commands();
    expect(await append(() => [])).toEqual({ events: [], stored: undefined });
    await append(() => [published('1')]);
    expect((await append(() => [])).stored?.commit.revision).toBe(1);
    expect(log.stored).toHaveLength(1);
  });

  test('is decided again after a conflict, under the same commit id', async () => {
    const { context, append } = commands();
    await append(() => [published('1')]);
    const seen: (string | undefined)[] = [];
    const { stored } = await handleCommand(context, contentAggregate, {
      subject,
      decide: (state) => {
        seen.push(state?.latest);
        return [published('2')];
      },
      origin,
      // Wrong on purpose: the caller believes that no content has been published.
      known: { stored: undefined },
    });
    expect(seen).toEqual([undefined, `cv_${'1'.repeat(32)}`]);
    expect(stored?.commit).toMatchObject({ id: 'cc_2', revision: 2 });
  });

  test('gives up with the conflict when others are always faster', async () => {
    const { context, log } = commands();
    let attempts = 0;
    const busy = {
      ...log,
      append: async () => {
        attempts += 1;
        throw new Conflict('busy');
      },
    };
    const command = { subject, decide: () => [published('1')], origin };
    await expect(handleCommand({ ...context, log: busy }, contentAggregate, command)).rejects.toThrow('busy');
    expect(attempts).toBe(10);
  });

  test('rejects with the error that its decision throws', async () => {
    const { append } = commands();
    const refused = () => {
      throw new Error('not like this');
    };
    await expect(append(refused)).rejects.toThrow('not like this');
  });
});
