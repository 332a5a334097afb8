import { expect, test } from 'vitest';
import { z } from 'zod';
import { commitHash, nextCommit } from '#shared/messaging/log/commit-chain.ts';
import { BadUpcast, type UpcastTable, upcast, upcastCommit } from './upcast.ts';

/** A message type with three versions: version 2 split the name, version 3 added the title. */
const table: UpcastTable = {
  'Renamed@1': ({ data, ...rest }) => {
    const [first, last] = (data as { name: string }).name.split(' ');
    return { ...rest, version: 2, data: { first, last } };
  },
  'Renamed@2': ({ data, ...rest }) => ({ ...rest, version: 3, data: { ...(data as object), title: '' } }),
};
const old = { type: 'Renamed', version: 1, data: { name: 'Ada Lovelace' } };
const newest = { type: 'Renamed', version: 3, data: { first: 'Ada', last: 'Lovelace', title: '' } };

test('an old message goes through every version to the newest', () => {
  expect(upcast(old, table)).toEqual(newest);
  expect(upcast({ ...old, version: 2, data: { first: 'Ada', last: 'Lovelace' } }, table)).toEqual(newest);
  expect(upcast(newest, table)).toBe(newest);
});

test('a message that is not in the table is left to the schema', () => {
  for (const value of [{ type: 'Other', version: 1 }, { type: 'Renamed' }, 'text', null, [old]]) {
    expect(upcast(value, table)).toBe(value);
  }
});

test('a message without a type is known by its kind', () => {
  const taskTable: UpcastTable = { 'chunk@1': (task) => ({ ...task, version: 2, pagesAlone: false }) };
  expect(upcast({ kind: 'chunk', version: 1 }, taskTable)).toEqual({ kind: 'chunk', version: 2, pagesAlone: false });
});

test('an upcast that does not increase the version by one is refused by name', () => {
  expect(() => upcast(old, { 'Renamed@1': (message) => message })).toThrow(BadUpcast);
  expect(() => upcast(old, { 'Renamed@1': (message) => message })).toThrow('Renamed version 1 makes version 1');
});

test('the events of a commit are upcast; its hash stays that of the stored form', () => {
  const stored = JSON.parse(
    JSON.stringify(
      nextCommit('people.ada.log', undefined, [old, { type: 'Left', version: 1, data: {} }], 'state', {
        id: 'c1',
        source: 'test',
        actor: { kind: 'service', id: 'test' },
        time: new Date('2026-01-01T00:00:00.000Z'),
        causationId: 'r1',
        correlationId: 'r1',
      }),
    ),
  );
  const read = upcastCommit(stored, table);
  expect(read).toEqual({ ...stored, data: { ...stored.data, events: [newest, stored.data.events[1]] } });
  expect(commitHash(stored)).toBe(stored.hash);
  expect((read as typeof stored).hash).toBe(stored.hash);
});

test('upcasting comes before the schema: a reader of the newest version reads the oldest', () => {
  const schema = z.preprocess(
    (stored) => upcast(stored, table),
    z.object({ type: z.literal('Renamed'), version: z.literal(3), data: z.object({ title: z.string() }) }),
  );
  expect(schema.parse(old).data.title).toBe('');
  expect(schema.safeParse({ ...old, version: 4 }).error?.issues[0]?.path).toEqual(['version']);
});
