import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../source-files.ts';
import { type Passage, passagesOfComments, passagesOfPage, passagesOfSource } from './passages.ts';
import { problemsIn } from './plain-english.ts';

/*
 * Comments, messages and pages are read as a colleague would read them: whole sentences that begin with their subject. To see all that is wrong below
 * some folders:
 *
 *   BINDERY_WORDS=services/cli,shared/search npm test -- test/structure/words
 */

const read = process.env.BINDERY_WORDS?.split(',') ?? [
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'README.md',
  'SECURITY.md',
  'docker-compose.yml',
  'infra',
  'infra/charts',
  'infra/container',
  'infra/docs/concepts',
  'infra/docs/decisions',
  'infra/docs/index.mdx',
  'infra/docs/interfaces',
  'infra/docs/operate',
  'infra/docs/quickstart.mdx',
  'infra/observe',
  'infra/setup',
  'infra/supervisor',
  'services/bundler',
  'services/cli/commands',
  'services/cli/docs-reference',
  'services/cli/doctor',
  'services/cli/search-bench',
  'services/cli/timeline',
  'services/gateway',
  'services/housekeeper',
  'services/indexer',
  'services/link-signer',
  'services/orchestrator',
  'services/page-renderer',
  'services/projector',
  'services/publisher',
  'shared/aggregates',
  'shared/contracts',
  'shared/docs/format',
  'shared/docs/icons',
  'shared/docs/project',
  'shared/docs/reference',
  'shared/docs/render',
  'shared/docs/sandbox',
  'shared/embedding',
  'shared/export',
  'shared/http',
  'shared/interfaces',
  'shared/messaging',
  'shared/runtime',
  'shared/search',
  'shared/service',
  'shared/storage',
  'test',
];
/** Texts of others, translations, stored examples, and the examples of this check. */
const notOurs = /(^|\/)(node_modules|golden|__snapshots__)\/|\/languages\/(?!en\.)|^test\/structure\/words\//;

describe('plain words', () => {
  test.each(read)('%s', (name) => {
    const problems = filesOf(name).flatMap((file) =>
      passagesOf(file).flatMap((passage) =>
        problemsIn(passage).map(({ line, sentence, advice }) => `${file}:${line} "${sentence}": ${advice}`),
      ),
    );
    expect(problems).toEqual([]);
  });

  test.each<[Passage['kind'], string]>([
    ['comment', 'Of words that are not written yet.'],
    ['comment', 'Grace period. Whether it is over.'],
    ['comment', 'It reads what is there.'],
    ['paragraph', 'It ends by itself.'],
    ['string', 'Ask whoever runs it.'],
  ])('finds a %s such as "%s"', (kind, text) => {
    expect(problemsIn({ kind, line: 3, text })).toMatchObject([{ line: 3 }]);
  });

  test.each<[Passage['kind'], string]>([
    ['comment', 'Grace period for streams in flight at shutdown. After it they are aborted.'],
    ['paragraph', 'What is a bundle?'],
    ['paragraph', 'Not every page has one.'],
  ])('lets a %s such as "%s" be', (kind, text) => {
    expect(problemsIn({ kind, line: 1, text })).toEqual([]);
  });

  test('reads comments and messages of code, and nothing between backticks', () => {
    const source = '/** A `what is` of `x`. */\n// One\n// two.\nthrow new Error(`Set ${a} to one of the values.`);\n';
    expect(passagesOfSource('a.ts', source)).toEqual([
      { kind: 'comment', line: 1, text: 'A code of code.' },
      { kind: 'comment', line: 2, text: 'One\ntwo.' },
      { kind: 'string', line: 4, text: 'Set code to one of the values.' },
    ]);
    expect(passagesOfComments('#!/bin/sh\n# One\n# two.\nrun\n')).toEqual([
      { kind: 'comment', line: 2, text: 'One\ntwo.\n' },
    ]);
    expect(passagesOfComments('a {}\n/* Wide\n * screens. */\n')).toEqual([
      { kind: 'comment', line: 2, text: 'Wide\nscreens.' },
    ]);
    expect(passagesOfPage('a.mdx', '---\ntitle: A\n---\n\nUse `x` here.\n')).toEqual([
      { kind: 'paragraph', line: 5, text: 'Use code here.' },
    ]);
  });
});

function filesOf(name: string): string[] {
  if (/\.\w+$/.test(name)) return [name];
  return readdirSync(join(root, name), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
    .filter((file) => !notOurs.test(file));
}

function passagesOf(file: string): Passage[] {
  const source = readFileSync(join(root, file), 'utf8');
  if (/\.(ts|mts|mjs|js)$/.test(file)) return passagesOfSource(file, source);
  if (/\.mdx?$/.test(file)) return passagesOfPage(file, source);
  return /\.(css|ya?ml|sh|tpl)$|(^|\/)(Dockerfile|run)$/.test(file) ? passagesOfComments(source) : [];
}
