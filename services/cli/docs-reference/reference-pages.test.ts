import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { referencePages } from './reference-pages.ts';

const docs = join(import.meta.dirname, '../../../infra/docs');

const pages = await referencePages();

test.each(Object.entries(pages))('%s is up to date (else run npm run docs:reference)', (path, text) => {
  expect(readFileSync(join(docs, path), 'utf8')).toBe(text);
});

test('every page is in the navigation', () => {
  const navigation = readFileSync(join(docs, 'docs.json'), 'utf8');
  for (const path of Object.keys(pages)) expect(navigation).toContain(`"${path.replace('.mdx', '')}"`);
});

test('the page of dependencies names every package that services use, and no other', () => {
  const { dependencies } = JSON.parse(readFileSync(join(docs, '../../package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const rows = readFileSync(join(docs, 'operate/dependencies.mdx'), 'utf8').match(/^\| .*? \|/gm) ?? [];
  const named = rows.flatMap((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, name]) => name));
  expect(new Set(named)).toEqual(new Set(Object.keys(dependencies)));
});
