import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { expect, onTestFinished, test } from 'vitest';
import { docsSchema, docsSchemaFile } from '#shared/docs/format/docs-schema.ts';
import { starterProject } from './starter-project.ts';
import { withSchema, writeSchema } from './write-project.ts';

test.each([true, false])(
  'a new project names its schema, which accepts it and is no part of the site (api: %s)',
  (api) => {
    const files = withSchema(starterProject({ name: 'Acme', colour: '#0f766e', api }));
    const docs = JSON.parse(String(files.get('docs.json'))) as { $schema: string };
    expect(files.get(docs.$schema.replace('./', ''))).toBe(docsSchemaFile.text());
    expect(files.get('.mintignore')).toBe('docs.schema.json\n');
    expect(new Ajv({ strict: false }).validate(docsSchema(), docs)).toBe(true);
  },
);

test('an ignore file that a project has already keeps its lines', () => {
  const files = withSchema(new Map([['.mintignore', 'drafts\n']]));
  expect(files.get('.mintignore')).toBe('drafts\ndocs.schema.json\n');
});

test('the schema is written into a project that is there, and replaced by a newer one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bindery-schema-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await expect(writeSchema(folder)).rejects.toThrow('has no docs.json');
  await writeFile(join(folder, 'docs.json'), '{}');
  await writeFile(join(folder, docsSchemaFile.name), 'old');
  await writeSchema(folder);
  expect(await readFile(join(folder, docsSchemaFile.name), 'utf8')).toBe(docsSchemaFile.text());
});
