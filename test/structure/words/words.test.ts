import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../source-files.ts';
import {
  type Passage,
  passagesOfComments,
  passagesOfPage,
  passagesOfSource,
  passagesOfText,
  passagesOfTexts,
} from './passages.ts';
import { problemsIn } from './plain-english.ts';

/*
 * Comments, messages and pages are read as a colleague would read them: whole sentences that begin with their subject. To see all that is wrong below
 * some folders:
 *
 *   BINDERY_WORDS=services/cli,shared/search npm test -- test/structure/words
 */

const read = process.env.BINDERY_WORDS?.split(',') ?? [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  '.ci/run',
  'docker-compose.yml',
  'infra',
  'services',
  'shared',
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
    ['comment', 'The commit is stored all the same.'],
    ['paragraph', 'Nobody needs the file any more.'],
    ['paragraph', 'It is kept for good.'],
    ['comment', 'It is made anew.'],
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
    expect(passagesOfTexts('{\n  "next": "Next",\n  "a": "Open \\"it\\" in the editor"\n}\n')).toEqual([
      { kind: 'string', line: 3, text: 'Open "it" in the editor' },
    ]);
    expect(passagesOfText('It runs in {{ .Release.Namespace }}.\n\nIs it ready?\n  kubectl get pods\n')).toEqual([
      { kind: 'paragraph', line: 1, text: 'It runs in code.\n' },
      { kind: 'paragraph', line: 3, text: 'Is it ready?\n' },
    ]);
  });

  test('reads the rest of a sentence that code builds, but no short list of names', () => {
    expect(passagesOfSource('a.ts', 'throw new Error(`${name} is what it has in the end`);\n')).toEqual([
      { kind: 'string', line: 1, text: 'code is what it has in the end' },
    ]);
    expect(passagesOfSource('a.ts', "const names = 'a b c d';\n")).toEqual([]);
    expect(passagesOfSource('a.test.ts', "test('says what is wrong with its query', run);\n")).toEqual([]);
  });
});

function filesOf(name: string): string[] {
  if (statSync(join(root, name)).isFile()) return [name];
  return readdirSync(join(root, name), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
    .filter((file) => !notOurs.test(file));
}

function passagesOf(file: string): Passage[] {
  const source = readFileSync(join(root, file), 'utf8');
  if (/\.(ts|mts|mjs|js)$/.test(file)) return passagesOfSource(file, source);
  if (/\.mdx?$/.test(file)) return passagesOfPage(file, source);
  if (file.endsWith('.txt')) return passagesOfText(source);
  if (/\/languages\/\w+\.json$/.test(file)) return passagesOfTexts(source);
  const hasHashComments = file.endsWith('Dockerfile') || (!basename(file).includes('.') && source.startsWith('#!'));
  return /\.(css|ya?ml|sh|tpl)$/.test(file) || hasHashComments ? passagesOfComments(source) : [];
}
