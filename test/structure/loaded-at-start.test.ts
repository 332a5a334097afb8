import { describe, expect, test } from 'vitest';
import { serviceNames } from '#infra/supervisor/services.ts';
import { importsOf } from './broken-rules.ts';
import { sourceFiles } from './source-files.ts';

/** Packages that only some installations or only child processes use. Each takes one to ten megabytes of every process that loads it. */
const loadedOnDemand = new Set([
  '@ai-sdk/mistral',
  '@ai-sdk/openai-compatible',
  '@aws-sdk/client-s3',
  '@elastic/elasticsearch',
  '@modelcontextprotocol/server',
  '@opentelemetry/sdk-node',
  '@resvg/resvg-wasm',
  '@scalar/openapi-upgrader',
  'acorn',
  'ai',
  'hast-util-from-html',
  'ioredis',
  'js-yaml',
  'katex',
  'mdast-util-from-markdown',
  'oxc-minify',
  'oxc-transform',
  're2js',
  'react',
  'refractor',
  'satteri',
  'undici',
]);

const sources = sourceFiles();

/** The packages that a file loads with all that it imports, by the files that import them. Imports of types and dynamic imports load nothing. */
function packagesLoadedBy(entry: string): Map<string, string> {
  const found = new Map<string, string>();
  const files = new Set([entry]);
  // A set may grow while it is walked.
  for (const file of files) {
    for (const { path, package: name, typeOnly, dynamic } of importsOf(file, sources.get(file) ?? '')) {
      if (typeOnly || dynamic) continue;
      if (path !== undefined) files.add(path);
      if (name !== undefined) found.set(name, file);
    }
  }
  return found;
}

describe('a service that starts', () => {
  test.each(serviceNames)('%s loads no package that it may never use', (name) => {
    const packages = packagesLoadedBy(`services/${name}/main.ts`);
    expect(packages.has('zod')).toBe(true);
    expect([...packages].filter(([loaded]) => loadedOnDemand.has(loaded))).toEqual([]);
  });

  test('leaves the parsers of pages to its child processes', () => {
    const packages = packagesLoadedBy('services/indexer/read-page-child.ts');
    expect([...packages.keys()]).toEqual(expect.arrayContaining(['js-yaml', 'katex', 'refractor', 'satteri']));
  });
});
