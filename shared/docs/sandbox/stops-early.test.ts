import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { renderedPageSchema } from '#shared/contracts/stored-objects.ts';
import { siteModelSchema } from '#shared/docs/project/site-model.ts';
import { testProject } from '#shared/docs/render/test-project.ts';
import { stopsEarly } from './stops-early.ts';

const page = {
  ...{ path: 'a', title: 'A', fullTextBytes: 1, searchCharacters: 2, fullText: 'x', search: '[]', extra: 1 },
  ...{ links: ['/b'], linkLines: [1], anchors: [], classes: ['x'], diagnostics: [], feedItems: [] },
};
const { model } = await testProject({ 'a.mdx': '# A\n\n[B](/b)\n', 'b.mdx': '# B\n' });
const group = { kind: 'group', title: 'G', hidden: false, children: [{ kind: 'page', path: 'a' }] };

/** The value, and the same with each of its parts once missing and once of another type. */
function* variants(value: unknown): Generator {
  yield value;
  yield 7;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, part] of Object.entries(value)) {
    const replaced = (by: unknown): unknown =>
      Array.isArray(value) ? value.with(Number(key), by) : { ...value, [key]: by };
    for (const other of variants(part)) yield replaced(other);
    yield Array.isArray(value) ? value.toSpliced(Number(key), 1) : replaced(undefined);
  }
}

test.each<[string, z.ZodType, unknown]>([
  ['a page', renderedPageSchema, page],
  ['a site model', siteModelSchema, { ...model, navigation: [{ ...group, children: [group] }] }],
  [
    'a list with limits',
    z.array(z.strictObject({ x: z.union([z.string(), z.array(z.int())]) })).max(2),
    [{ x: [1, 2] }],
  ],
  [
    'a record',
    z.strictObject({ x: z.record(z.string(), z.array(z.string()).nullable()) }),
    { x: { a: ['b'], c: null } },
  ],
  ['optional parts', z.object({ x: z.array(z.string()).optional(), y: z.array(z.int()).default([]) }), { x: ['a'] }],
  [
    'a list that is left out when it is wrong',
    z.object({ x: z.array(z.int()).optional().catch(undefined) }),
    { x: [1] },
  ],
  ['bytes', z.array(z.instanceof(Uint8Array)), [new Uint8Array(2)]],
])('accepts the same values as its schema, and returns the same: %s', (_what, schema, value) => {
  const counts = { accepted: 0, refused: 0 };
  for (const variant of variants(value)) {
    const [given, own] = [schema, stopsEarly(schema)].map((each) => each.safeParse(variant));
    expect([own?.success, own?.data]).toEqual([given?.success, given?.data]);
    if (own?.success === true) counts.accepted += 1;
    else counts.refused += 1;
  }
  expect(counts.accepted).toBeGreaterThan(0);
  expect(counts.refused).toBeGreaterThan(0);
});

describe('a list with 50,000 wrong entries', () => {
  const many = Array.from({ length: 50_000 }, () => ({}));
  test.each<[string, z.ZodType, unknown]>([
    ['of its own', z.array(renderedPageSchema), many],
    ['in a site', siteModelSchema, { ...model, pages: many }],
    ['in a part that contains itself', siteModelSchema, { ...model, navigation: [{ ...group, children: many }] }],
    ['in one of several forms', z.union([z.object({ x: z.array(renderedPageSchema) }), z.object({})]), { x: many }],
  ])('costs one problem: %s', (_what, schema, value) => {
    const looked: unknown[] = [];
    const error = (issue: z.core.$ZodRawIssue): undefined => void looked.push(issue.code);
    stopsEarly(schema).safeParse(value, { error });
    expect(looked.length).toBeLessThan(20);
  });
});
