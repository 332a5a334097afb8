import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newFolder } from '../../test/support/new-folder.ts';
import { programNames } from './services.ts';
import { servicesOfFile, watchCode } from './watch-code.ts';

test.each([
  ['services/gateway/auth/check-key.ts', ['gateway']],
  ['services/gateway/auth/check-key.test.ts', []],
  ['services/cli/start.ts', []],
  ['services/docs-host/main.ts', ['docs-host']],
  ['services/console/assets/console.css', ['console']],
  ['shared/docs/render/site/theme/code.css', programNames],
  ['shared/messaging/bus.contract.ts', []],
  ['shared/search/notes.txt', []],
])('%s is run by the right services', (file, services) => {
  expect(servicesOfFile(file)).toEqual(services);
});

test('a burst of changes is told once, with all services that it concerns', async () => {
  const root = newFolder();
  for (const folder of ['services/gateway', 'services/indexer', 'services/cli', 'shared'])
    mkdirSync(join(root, folder), { recursive: true });
  const told = new Promise((resolve) => {
    const watching = watchCode(root, (services, file) => {
      watching.close();
      resolve({ services, file });
    });
  });
  for (const file of ['services/cli/start.ts', 'services/indexer/main.ts', 'services/gateway/main.ts'])
    writeFileSync(join(root, file), '1');
  expect(await told).toEqual({ services: ['indexer', 'gateway'], file: 'services/indexer/main.ts' });
});
