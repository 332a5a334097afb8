import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { toApiError } from '#shared/http/errors.ts';
import { NewerMessage } from '#shared/runtime/failures.ts';
import { madeAnew } from './made-anew.ts';
import { BadMessage, parseDocument, parseMessage, UnreadableDocument } from './parse-message.ts';
import { exportJobAggregate } from '#shared/aggregates/export-job/export-job.ts';
import { storedFact } from '#shared/contracts/export-facts.ts';

const golden = (path: string) => JSON.parse(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8'));
const message = (json: unknown) => ({ subject: 'exports.acme.x.log', seq: 9, data: Buffer.from(JSON.stringify(json)) });

test('fields that this program does not know are skipped', () => {
  const commit = golden('aggregates/export-job/golden/commit.v1.json');
  expect(parseMessage(message({ ...commit, later: 1 }), exportJobAggregate.storedCommit)).toEqual(commit);
});

test('an event of an unknown type or version stops the reader with subject, sequence and place', () => {
  for (const change of [{ type: 'ChunkSung' }, { version: 2 }]) {
    const commit = golden('aggregates/export-job/golden/commit.v1.json');
    Object.assign(commit.data.events[1], change);
    const parse = () => parseMessage(message(commit), exportJobAggregate.storedCommit);
    expect(parse).toThrow(NewerMessage);
    expect(parse).toThrow(/message 9 on exports\.acme\.x\.log.*data\.events\.1\.(type|version)/);
  }
  expect(() =>
    parseMessage(message({ ...golden('contracts/golden/fact/BundleJoined.v1.json'), version: 2 }), storedFact),
  ).toThrow(NewerMessage);
});

test('a value that is not in a list yet is of a newer program; one that is missing or of another kind is a bad message', () => {
  const changed = (state: object) => {
    const commit = golden('aggregates/export-job/golden/commit.v1.json');
    Object.assign(commit.data.state, state);
    return () => parseMessage(message(commit), exportJobAggregate.storedCommit);
  };
  expect(changed({ phase: 'proofreading' })).toThrow(NewerMessage);
  expect(changed({ phase: 'proofreading' })).toThrow(/data\.state\.phase/);
  expect(changed({ phase: undefined })).toThrow(BadMessage);
  expect(changed({ phase: ['requested'] })).toThrow(BadMessage);
});

test('anything else that is wrong is a bad message with the field named', () => {
  const commit = golden('aggregates/export-job/golden/commit.v1.json');
  expect(() => parseMessage(message({ ...commit, revision: 0 }), exportJobAggregate.storedCommit)).toThrow(BadMessage);
  expect(() => parseMessage(message({ ...commit, revision: 0 }), exportJobAggregate.storedCommit)).toThrow(
    /wrong at "revision"/,
  );
  expect(() => parseMessage({ ...message(''), data: Buffer.from('{') }, exportJobAggregate.storedCommit)).toThrow(
    /is not JSON/,
  );
});

test('a document with a value of a newer program is told apart from a damaged one, and either can be made anew', async () => {
  const schema = z.object({ phase: z.enum(['rendering', 'completed']) });
  const read = async (text: string) => ({
    document: parseDocument('The document "x"', Buffer.from(text), 7, schema),
    ...{ key: 'x', revision: 7 },
  });
  const newer = await read('{"phase":"pinned"}').catch((error: unknown) => error);
  expect(newer).toBeInstanceOf(NewerMessage);
  expect((newer as Error).message).toMatch(
    /^The document "x" has .* does not know \(phase\)\. A newer program wrote it/,
  );
  expect(toApiError(newer)).toMatchObject({ code: 'unavailable', message: expect.stringMatching(/^A newer version/) });
  for (const damaged of ['{"phase":[]}', '{}', '{', 'null'])
    await expect(read(damaged)).rejects.toBeInstanceOf(UnreadableDocument);
  for (const text of ['{"phase":"pinned"}', '{'])
    expect(await madeAnew(read(text), () => undefined)).toEqual({ document: undefined, revision: 7 });
});
