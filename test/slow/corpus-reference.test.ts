import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isJsonObject, type JsonValue } from '#shared/docs/project/json-values.ts';
import { isSpec } from '#shared/docs/project/project-files.ts';
import { openSlice } from '#shared/docs/reference/open-slice.ts';
import { operationsOf } from '#shared/docs/reference/operations.ts';
import { parseSpecification } from '#shared/docs/reference/parse-specification.ts';
import { sliceOperation } from '#shared/docs/reference/slice-operation.ts';
import { shapeOf } from '#shared/docs/reference/schema-shape.ts';
import { corpusFolder, isThere } from '../support/docs-projects.ts';
import { checkExamples } from '../support/made-examples.ts';
import { testProject } from '#shared/docs/render/test-project.ts';

const isThereToRead = isThere(corpusFolder, 'the corpus of real projects');
const specifications = isThereToRead
  ? readdirSync(corpusFolder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(json|ya?ml)$/.test(entry.name))
      .map((entry) => relative(corpusFolder, join(entry.parentPath, entry.name)))
      .filter((path) => {
        const bytes = readFileSync(join(corpusFolder, path));
        return isSpec(bytes, path) && !/asyncapi/.test(bytes.toString('utf8', 0, 500));
      })
  : [];

describe.skipIf(!isThereToRead)('the specifications of real projects', () => {
  test.each(specifications)('%s: each generated example is valid by its schema, and none is missing', (path) => {
    const bytes = readFileSync(join(corpusFolder, path));
    const { count, invalid, unmade, unread } = checkExamples(bytes, path.endsWith('json') ? 'api.json' : 'api.yaml');
    expect(count).toBeGreaterThan(0);
    expect({ invalid, unmade, unread }).toEqual({ invalid: [], unmade: [], unread: [] });
  });

  test.each(specifications)('%s: a page for each operation', { timeout: 120_000 }, async (specificationPath) => {
    const bytes = readFileSync(join(corpusFolder, specificationPath));
    const file = specificationPath.endsWith('json') ? 'api.json' : 'api.yaml';
    const specification = parseSpecification(bytes, file);
    const operations = operationsOf(specification).filter(({ isExcluded }) => !isExcluded);
    const { model, render } = await testProject({
      'docs.json': JSON.stringify({
        name: 'Test',
        theme: 'mint',
        colors: { primary: '#0f766e' },
        navigation: {
          tabs: [
            { tab: 'Guide', pages: ['index'] },
            { tab: 'API', openapi: file },
          ],
        },
      }),
      'index.mdx': 'Hello',
      [file]: bytes,
    });
    expect(model.pages).toHaveLength(operations.length + 1);
    expect(model.operations).toHaveLength(operations.length);
    const htmlOf = new Map<unknown, string>();
    for (const { path: page, reference, frontmatter } of model.pages) {
      if (reference === undefined) continue;
      const { files } = render(page);
      const [html = '', markdown] = files.map(({ body }) => Buffer.from(body).toString());
      htmlOf.set(frontmatter['openapi'], html);
      const prose = html.replaceAll(/<code[\s\S]*?<\/code>/g, '');
      expect([page, /\[object Object\]|\$ref/.exec(prose)?.[0]]).toEqual([page, undefined]);
      expect([page, /\[object Object\]/.exec(markdown ?? '')?.[0]]).toEqual([page, undefined]);
    }
    for (const operation of operations) {
      const slice = openSlice(sliceOperation(specification, operation).text);
      const { method, path } = operation;
      const fields = htmlOf.get(`${file} ${method} ${path}`)?.split('<div class="field"') ?? [];
      for (const name of requiredAtTop(slice)) {
        const field = fields.find(
          (each) => each.includes(`id="${name.id.toLowerCase()}"`) || each.includes(`id="${name.id}"`),
        );
        expect([path, name.id, field?.includes('field-required')]).toEqual([path, name.id, true]);
      }
    }
  });
});

/** Required top-level fields of a JSON body of the request. */
function requiredAtTop(slice: ReturnType<typeof openSlice>): { id: string }[] {
  const body = slice?.operation?.written['requestBody'];
  const content: JsonValue | undefined = isJsonObject(body) ? body['content'] : undefined;
  const [media] = isJsonObject(content) ? Object.values(content) : [];
  if (slice === undefined || !isJsonObject(media)) return [];
  const shape = shapeOf(slice.document, media['schema']);
  return shape.properties
    .filter(({ isRequired, schema }) => isRequired && !shapeOf(slice.document, schema).isReadOnly)
    .map(({ name }) => ({ id: `body-${name}` }));
}
