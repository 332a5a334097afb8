import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isSpec } from '#shared/docs/project/project-files.ts';
import { corpusFolder, isThere } from '../support/docs-projects.ts';
import { checkExamples } from '../support/made-examples.ts';

const isThereToRead = isThere(corpusFolder, 'the corpus of real projects');
const descriptions = isThereToRead
  ? readdirSync(corpusFolder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(json|ya?ml)$/.test(entry.name))
      .map((entry) => relative(corpusFolder, join(entry.parentPath, entry.name)))
      .filter((path) => {
        const bytes = readFileSync(join(corpusFolder, path));
        return isSpec(bytes, path) && !/asyncapi/.test(bytes.toString('utf8', 0, 500));
      })
  : [];

describe.skipIf(!isThereToRead)('generated examples of real projects', () => {
  test.each(descriptions)('%s: each is valid by its schema, and none is missing', (path) => {
    const bytes = readFileSync(join(corpusFolder, path));
    const { count, invalid, unmade, unread } = checkExamples(bytes, path.endsWith('json') ? 'api.json' : 'api.yaml');
    expect(count).toBeGreaterThan(0);
    expect({ invalid, unmade, unread }).toEqual({ invalid: [], unmade: [], unread: [] });
  });
});
