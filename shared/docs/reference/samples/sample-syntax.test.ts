import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import fc from 'fast-check';
import { parse as parseScript } from 'acorn';
import { beforeAll, describe, expect, test } from 'vitest';
import type * as TreeSitter from '@vscode/tree-sitter-wasm';
import { requestSamples } from './request-samples.ts';
import type { SampleField, SampleRequest } from './sample-request.ts';

/*
 * Parses samples with a parser of their language: every text of a description must be a string literal in them, and the code around it the same for
 * any request.
 */

const require = createRequire(import.meta.url);
const treeSitter = require('@vscode/tree-sitter-wasm') as typeof TreeSitter;
const folder = join(require.resolve('@vscode/tree-sitter-wasm'), '..');

const grammars: Readonly<Record<string, string>> = {
  cURL: 'bash',
  Python: 'python',
  JavaScript: 'javascript',
  PHP: 'php',
  Go: 'go',
  Java: 'java',
  Ruby: 'ruby',
  'C#': 'c-sharp',
};
const titles = Object.keys(grammars);
const parsers = new Map<string, InstanceType<typeof treeSitter.Parser>>();

beforeAll(async () => {
  await treeSitter.Parser.init();
  for (const [title, name] of Object.entries(grammars)) {
    const language = await treeSitter.Language.load(await readFile(join(folder, `tree-sitter-${name}.wasm`)));
    parsers.set(title, new treeSitter.Parser().setLanguage(language));
  }
});

type Node = NonNullable<ReturnType<InstanceType<typeof treeSitter.Parser>['parse']>>['rootNode'];

const texts =
  /^(?:string|raw_string|ansi_c_string|concatenation|string_literal|encapsed_string|interpreted_string_literal|raw_string_literal)$/;
/** Nodes that may be inside a string literal; anything else would be code. */
const insideTexts =
  /^(?:string_start|string_end|string_content|string_fragment|escape_sequence|multiline_string_fragment|string_literal_content|interpreted_string_literal_content|raw_string_literal_content|raw_string|raw_string_start|raw_string_end|raw_string_content|ansi_c_string|word|\W*)$/;

/** The code without its string literals: names and operators in order. Throws if a literal contains code. */
function codeOnly(node: Node): string[] {
  const { type, text } = node;
  if (texts.test(type)) {
    const pending = [...node.children];
    for (let part = pending.pop(); part; part = pending.pop()) {
      if (!insideTexts.test(part.type)) throw new Error(`${part.type} in the text ${text}`);
      if (part.type === 'word' && part.text !== "\\'") throw new Error(`${part.text} in the text ${text}`);
      pending.push(...part.children);
    }
    return ['a text'];
  }
  if (node.children.length === 0) return [text.replace('--data-raw', '--data')];
  // JavaScript allows the name of a member without quotes.
  if (type === 'pair') return ['a text', ...node.children.slice(1).flatMap((child) => (child ? codeOnly(child) : []))];
  return node.children.flatMap((child) => (child ? codeOnly(child) : []));
}

function parsed(title: string, code: string): string[] {
  if (title === 'JavaScript') parseScript(code, { ecmaVersion: 2024, sourceType: 'module' });
  const tree = parsers.get(title)?.parse(title === 'PHP' ? `<?php\n${code}` : code);
  if (!tree || tree.rootNode.hasError) throw new Error(`this is not valid ${title}:\n${code}`);
  const found = codeOnly(tree.rootNode);
  tree.delete();
  return found;
}

/** The one call in each sample that sends the request. */
const sends: Readonly<Record<string, string>> = {
  cURL: 'curl',
  Python: 'requests',
  JavaScript: 'fetch',
  PHP: 'curl_exec',
  Go: 'Do',
  Java: 'asString',
  Ruby: 'response',
  'C#': 'SendAsync',
};

const pieces = [
  ...`' " \\ \` $ @ < > ; = # & | % { } ( ) ? ! / : , .`.split(' '),
  ...[
    '\n',
    '\r',
    '\r\n',
    '\t',
    ' ',
    '\u2028',
    '\u2029',
    '\u0085',
    '\0',
    '\u001b[201~',
    '\u202e',
    '\ufeff',
    '\ud800',
    '😀',
    'é',
  ],
  ...[
    "'); system('id'); ('",
    '"); Evil(); ("',
    '$(id)',
    '${HOME}',
    '#{`id`}',
    '{{7*7}}',
    '`id`',
    '%0A',
    '\\u0022',
    '\\u000a',
    '"""',
    "'''",
    '""""',
  ],
  ...[
    '?>',
    '*/',
    '//',
    '--',
    'EOF',
    'JSON',
    '@/etc/passwd',
    '</etc/passwd',
    ';type=text/x',
    '__proto__',
    '\\',
    '\\\\',
    'null',
    '1',
    'a',
  ],
];
const hostile = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''));

/** A text of the same kind without special characters: its first character and content decide how it is sent. */
const harmless = (text: string): string => (text.includes('=') ? 'a=b' : 'a');

const entry = fc.record({ name: hostile, value: hostile, type: fc.option(hostile, { nil: undefined }) });
const requests = fc.record({
  path: hostile,
  query: fc.array(entry, { maxLength: 2 }),
  headers: fc.array(entry, { maxLength: 2 }),
  cookies: fc.array(entry, { maxLength: 1 }),
  fields: fc.array(entry, { maxLength: 3 }),
  mimeType: fc.constantFrom(
    'application/json',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'x/y\'); f("',
    'none',
  ),
  method: fc.constantFrom('GET', 'POST', 'DELETE', 'HEAD', 'QUERY'),
});
type Made = typeof requests extends fc.Arbitrary<infer Value> ? Value : never;

/** The request with its texts, each passed through `write`. */
function requestOf(made: Made, write: (text: string) => string): SampleRequest {
  const pair = ({ name, value }: { name: string; value: string }, at: number): [string, string] => [
    write(name) + at,
    `${write(value)}v`,
  ];
  const fields = made.fields.map(
    ({ name, value, type }, at): SampleField => ({
      name: `${write(name)}${at}`,
      value: write(value),
      ...(type !== undefined && { mimeType: type === '1' ? 'text/csv' : write(type) }),
    }),
  );
  const isForm = /form/.test(made.mimeType);
  const json = JSON.stringify(Object.fromEntries(fields.map(({ name, value }) => [name, [value, { [name]: value }]])));
  const text = made.mimeType === 'application/json' ? json : write(made.path);
  return {
    method: made.method,
    url: `https://a.example/${write(made.path)}`,
    query: made.query.map(pair),
    headers: made.headers.map(({ value }, at) => [`X-${at}`, `v${write(value)}`]),
    cookies: made.cookies.map(pair),
    body:
      made.mimeType === 'none'
        ? undefined
        : { mimeType: made.mimeType, text: isForm ? '' : text, ...(isForm && { fields }) },
  };
}

describe.each(titles)('%s', (title) => {
  const codeFor = (request: SampleRequest): string | undefined =>
    requestSamples(request).find((sample) => sample.title === title)?.code;

  test('has the same code for a hostile request as for any other, with texts in the same places', () => {
    fc.assert(
      fc.property(requests, (made) => {
        const written = codeFor(requestOf(made, (text) => text));
        const plain = codeFor(requestOf(made, harmless)) ?? '';
        if (title === 'cURL' && written === undefined) {
          expect(JSON.stringify(made)).toContain('\\u0000');
          return;
        }
        const code = parsed(title, written ?? '');
        // Removes options for addresses with brackets, which a plain address does not need.
        const without = (parts: string[]) => parts.filter((part) => part !== '--globoff' && !/^\\?\s*$/.test(part));
        expect(without(code)).toEqual(without(parsed(title, plain)));
        expect(code.filter((part) => part === sends[title]).length).toBeGreaterThan(0);
      }),
      { numRuns: 150, seed: 32 },
    );
  });

  test.each(["x'); system('id'); ('", 'a\n"""\n); Evil(); (\n"""\n', "a\n'''\nJSON\nEOF", '{{x}} ${y} #{z} $(w) `v`'])(
    'has %j in a body of any type as one text',
    (text) => {
      for (const mimeType of [
        'text/plain',
        'application/xml',
        'application/x-ndjson',
        "x/y'); system('ct'); ('",
        'application/json',
      ]) {
        const request = { method: 'POST', url: 'https://a.example', query: [], headers: [], cookies: [] };
        const of = (body: string) => {
          const type = mimeType.includes("'") && body === 'a' ? 'x/y z' : mimeType;
          const sent = mimeType === 'application/json' ? JSON.stringify({ [body]: body }) : body;
          return parsed(title, codeFor({ ...request, body: { mimeType: type, text: sent } }) ?? '');
        };
        expect(of(text)).toEqual(of('a'));
      }
    },
  );
});
