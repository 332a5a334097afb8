import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { brokenRules } from './broken-rules.ts';
import { root, sourceFiles } from './source-files.ts';

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
};
const dependencies = new Set(Object.keys(manifest.dependencies));

/** The dependencies, with libraries that the examples import. */
const installed = new Set([...dependencies, '@elastic/elasticsearch', 'ioredis']);

describe('who may import whom', () => {
  test('every file obeys the rules', () => {
    const sources = sourceFiles();
    expect(sources.has('services/gateway/main.ts')).toBe(true);
    expect([...sources].flatMap(([file, source]) => brokenRules(file, source, dependencies))).toEqual([]);
  });

  test.each([
    ['services/gateway/main.ts', `import { plan } from '#services/orchestrator/plan.ts';`, 'may not import each other'],
    [
      'services/gateway/main.ts',
      `export type { Plan } from '#services/orchestrator/plan.ts';`,
      'may not import each other',
    ],
    [
      'services/gateway/main.ts',
      `const { plan } = await import('#services/orchestrator/plan.ts');`,
      'may not import each other',
    ],
    [
      'services/gateway/main.ts',
      `import {\n  type Installation,\n} from '#infra/supervisor/installation.ts';`,
      'only services/cli',
    ],
    ['shared/messaging/leases.ts', `import { start } from '#services/gateway/main.ts';`, 'shared may import only'],
    ['infra/supervisor/start.ts', `import { start } from '#services/gateway/main.ts';`, 'may not import services'],
    [
      'shared/messaging/log/event-log.ts',
      `import { connect } from '@nats-io/transport-node';`,
      'only shared/messaging/nats may',
    ],
    ['shared/storage/folder.ts', `import { S3Client } from '@aws-sdk/client-s3';`, 'only shared/storage/s3* may'],
    [
      'services/assistant/search.ts',
      `import { Client } from '@elastic/elasticsearch';`,
      'only shared/search/elasticsearch* may',
    ],
    ['services/gateway/limits.ts', `import { Redis } from 'ioredis';`, 'only shared/http/rate-limit-redis* may'],
    ['services/gateway/main.ts', `import { test } from 'vitest';`, 'not among the dependencies'],
    ['services/gateway/main.ts', `import { cases } from './keys.contract.ts';`, 'is for tests'],
    [
      'services/gateway/main.ts',
      `import { now } from '../../shared/runtime/clock.ts';`,
      'across folders write #shared/runtime/clock.ts',
    ],
    [
      'services/gateway/main.ts',
      `import { keys } from '#services/gateway/keys.ts';`,
      'inside a folder write ./keys.ts',
    ],
    [
      'shared/aggregates/content/decide.ts',
      `import type { ApiKey } from '#shared/aggregates/directory/directory.ts';`,
      'may not import another aggregate',
    ],
    ['shared/aggregates/thread/thread.ts', `import type { Bus } from '#shared/messaging/bus.ts';`, 'is pure'],
    [
      'shared/messaging/bus.ts',
      `import { decide } from '#shared/aggregates/export-job/decide.ts';`,
      'only services may import a decide.ts',
    ],
    [
      'shared/aggregates/thread/thread.ts',
      `export const asked = event('Asked', z.object({}));`,
      'shapes of its events',
    ],
    ['infra/supervisor/start.ts', `import { settings } from '#services/gateway/config.ts';`, 'may not import services'],
    ['services/gateway/main.ts', `export default 1;`, 'default export'],
    ['services/gateway/index.ts', '', 'barrel'],
    ['services/gateway/apiKeys.ts', '', 'kebab-case'],
    ['shared/utils/text.ts', '', 'says nothing'],
  ])('%s with %j is found', (file, source, rule) => {
    expect(brokenRules(file, source, installed)).toEqual([expect.stringContaining(rule)]);
  });

  test.each([
    [
      'services/cli/run.ts',
      `import { start } from '#services/gateway/main.ts';\nimport { up } from '#infra/supervisor/up.ts';`,
    ],
    ['shared/messaging/nats/event-log.ts', `import { connect } from '@nats-io/transport-node';`],
    ['shared/storage/s3-object-store.ts', `import { S3Client } from '@aws-sdk/client-s3';`],
    [
      'services/gateway/main.ts',
      `import { join } from 'node:path';\nimport { keys } from './keys.ts';\nimport { z } from 'zod';`,
    ],
    ['services/gateway/keys.it.test.ts', `import { start } from '#services/orchestrator/main.ts';`],
  ])('%s with %j is good', (file, source) => {
    expect(brokenRules(file, source, installed)).toEqual([]);
  });
});
