import { expect, test } from 'vitest';
import { previewTable } from './housekeeping.ts';

test('what would be removed, by organization and kind', () => {
  const content = { organization: 'acme', domain: 'docs', contentVersion: `cv_${'1'.repeat(32)}` };
  const table = previewTable([
    { organization: 'acme', objects: { segments: { objects: 12, bytes: 3456 } }, contents: [content] },
    { organization: 'beta', objects: { bundles: { objects: 1, bytes: 7 } }, contents: [] },
  ]);
  expect(table.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
    ['organization', 'what', 'count', 'bytes'],
    ['acme', 'segments', '12', '3456'],
    ['acme', 'content versions', '1'],
    ['beta', 'bundles', '1', '7'],
  ]);
  expect(previewTable([])).toBe('Nothing would be removed.');
});
