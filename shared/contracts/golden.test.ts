import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { contentCommitSchema, contentEventSchema } from '#shared/aggregates/content/content.ts';
import { directoryCommitSchema, directoryEventSchema } from '#shared/aggregates/directory/directory.ts';
import { exportCommitSchema, exportEventSchema } from '#shared/aggregates/export-job/export-job.ts';
import { conversationCommitSchema, conversationEventSchema } from '#shared/aggregates/thread/thread.ts';
import { commitHash } from '#shared/messaging/commit-chain.ts';
import { accessRecordSchema, factSchema } from './export-facts.ts';
import { bundleTaskSchema, presenceReportSchema, renderTaskSchema } from './export-tasks.ts';
import { exportPlanSchema, exportSelectionSchema, segmentSidecarSchema } from './stored-objects.ts';

/**
 * `golden/<kind>/<member>.v<version>[.<variant>].json` is a message as a program of that time stored it. These files are history: they
 * are written once, by hand, and never changed or made anew. When a schema no longer reads one, the schema is wrong, or an upcast is
 * missing. A new type or version of a message gets a new file.
 */
const folder = join(import.meta.dirname, 'golden');

/** Members are named by what tells them apart: `type` of events, `kind` of tasks. */
const kinds: Record<string, Record<string, z.ZodType>> = {
  'export-event': byMember(exportEventSchema, 'type'),
  'content-event': byMember(contentEventSchema, 'type'),
  'directory-event': byMember(directoryEventSchema, 'type'),
  'conversation-event': byMember(conversationEventSchema, 'type'),
  fact: byMember(factSchema, 'type'),
  'render-task': byMember(renderTaskSchema, 'kind'),
  'bundle-task': { 'bundle.v1': bundleTaskSchema },
  'segment-sidecar': { 'sidecar.v1': segmentSidecarSchema },
  'export-plan': { 'plan.v1': exportPlanSchema },
  'export-selection': { 'selection.v1': exportSelectionSchema },
  'presence-report': { 'presence.v1': presenceReportSchema },
  'access-record': { 'LinkSigned.v1': accessRecordSchema },
  commit: {
    'export.v1': exportCommitSchema,
    'content.v1': contentCommitSchema,
    'directory.v1': directoryCommitSchema,
    'conversation.v1': conversationCommitSchema,
  },
};

function byMember(union: { options: readonly z.ZodObject[] }, discriminator: string): Record<string, z.ZodType> {
  const literal = (member: z.ZodObject, field: string) => {
    const schema = member.shape[field];
    if (!(schema instanceof z.ZodLiteral)) throw new Error(`The field "${field}" of a member is no literal.`);
    return String(schema.value);
  };
  return Object.fromEntries(
    union.options.map((member) => [`${literal(member, discriminator)}.v${literal(member, 'version')}`, member]),
  );
}

const filesOf = (kind: string): string[] => readdirSync(join(folder, kind));
const memberOf = (file: string): string => /^([^.]+\.v\d+)(\.[a-z-]+)?\.json$/.exec(file)?.[1] ?? `(${file})`;
const read = (kind: string, file: string): unknown => JSON.parse(readFileSync(join(folder, kind, file), 'utf8'));

test('no folder of golden files is without a schema', () => {
  expect(readdirSync(folder).toSorted()).toEqual(Object.keys(kinds).toSorted());
});

describe.each(Object.entries(kinds))('%s', (kind, members) => {
  test('every type and version has a golden file, and no file is without a schema', () => {
    expect([...new Set(filesOf(kind).map(memberOf))].toSorted()).toEqual(Object.keys(members).toSorted());
  });

  test.each(filesOf(kind))('%s is read as it was written', (file) => {
    const stored = read(kind, file);
    expect(members[memberOf(file)]?.parse(stored)).toEqual(stored);
  });
});

test.each(filesOf('commit'))('the hash of the commit %s is still what is calculated', (file) => {
  const stored = read('commit', file) as Parameters<typeof commitHash>[0];
  expect(commitHash(stored)).toBe(stored.hash);
});
