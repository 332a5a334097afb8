import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readArchive } from '#shared/export/bundle/read-archive.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { exportPathOnly, startInstallation, type TestInstallation } from '../support/start-installation.ts';

const budgets = { packedBytes: 1e8, unpackedBytes: 1e9, entries: 1e5, ratio: 1e4 };

const operation = (id: string, schema: string, more: object = {}) => ({
  operationId: id,
  summary: `Summary of ${id}`,
  responses: {
    200: {
      description: 'ok',
      content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } },
    },
  },
  ...more,
});
const project: Record<string, string> = {
  'docs.json': JSON.stringify({
    name: 'Parts',
    theme: 'mint',
    colors: { primary: '#0055aa' },
    navigation: {
      tabs: [
        { tab: 'Home', pages: ['index', 'plans/secret'] },
        { tab: 'API', openapi: 'openapi.json' },
        { tab: 'Hushed tab', pages: ['plans/hushed-tab', 'plans/link'] },
      ],
    },
  }),
  'index.mdx': '---\ntitle: Start\n---\n\n![Open](/images/open.svg)\n',
  'plans/secret.mdx': '---\ntitle: Plan\ngroups: ["admins"]\n---\n\n![Plan](/images/hushed-plan.svg)\n',
  'plans/hushed-tab.mdx':
    '---\ntitle: Tab\ngroups: ["admins"]\nicon: no-such-hushed-icon\nopenapi: "hushed.json GET /a"\n---\n',
  'plans/link.mdx': '---\ntitle: Hushed link\nurl: https://hushed.example\ngroups: ["admins"]\n---\n',
  'plans/toml.mdx': '---toml\ngroups = ["admins"]\n---\n\nHushed words.\n',
  'plans/tagged.mdx': '---\ntitle: Tagged\ngroups: !x ["admins"]\n---\n\nHushed words.\n',
  'hushed.json': JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Hushed', version: '1' },
    paths: { '/a': { get: operation('hushedAlone', 'Nothing') } },
  }),
  'images/open.svg': '<svg xmlns="http://www.w3.org/2000/svg"><circle r="1"/></svg>',
  'images/hushed-plan.svg': '<svg xmlns="http://www.w3.org/2000/svg"><text>hushed</text></svg>',
  'openapi.json': JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Parts', version: '1' },
    paths: {
      '/open': {
        get: operation('openOperation', 'Open', {
          callbacks: {
            told: { '{$url}': { post: operation('secretOperation', 'SecretAnswer', { 'x-excluded': true }) } },
          },
        }),
      },
      '/secret': {
        get: operation('secretOperation', 'SecretAnswer', { 'x-excluded': true, security: [{ hushedKey: [] }] }),
      },
      '/admins': { get: operation('hushedOperation', 'HushedAnswer', { 'x-mint': { groups: ['admins'] } }) },
    },
    components: {
      schemas: { Open: { type: 'object' }, SecretAnswer: { type: 'object' }, HushedAnswer: { type: 'object' } },
      securitySchemes: { hushedKey: { type: 'apiKey', in: 'header', name: 'hushed' } },
    },
  }),
};

describeWithServers(['nats-server'], 'content with groups', () => {
  let harness: TestInstallation;
  beforeAll(async () => {
    harness = await startInstallation({ processes: 'shared', copies: exportPathOnly });
    for (const [path, text] of Object.entries(project)) {
      const file = join(harness.folder, 'project', path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
    await harness.publish(join(harness.folder, 'project'));
  });
  afterAll(() => harness?.stop());

  /** The texts of the files of a bundle for these groups. */
  async function bundleFor(groups: string[]): Promise<Map<string, string>> {
    const { link } = await harness.exportSite({ groups });
    const answer = await fetch(link.bundleUrl);
    const files = new Map<string, string>();
    if (answer.body === null) throw new Error('the bundle is empty');
    for await (const { path, body } of readArchive(Readable.fromWeb(answer.body), budgets))
      files.set(path, (await buffer(body)).toString());
    return files;
  }

  test('is in no file of a bundle for other groups, and in the bundle for its group', async () => {
    const open = await bundleFor([]);
    const names = [...open.keys()].map((path) => path.slice(path.indexOf('/') + 1));
    expect(names).toEqual(expect.arrayContaining(['openapi.json', 'images/open.svg', 'llms-full.txt', 'index.md']));
    const telling = [...open].filter(([path, text]) => /secret(Operation|Answer)|hushed/i.test(`${path} ${text}`));
    expect(telling.map(([path]) => path)).toEqual([]);
    const own = await bundleFor(['admins']);
    const file = (name: string) => [...own].find(([path]) => path.endsWith(`/${name}`))?.[1] ?? '';
    expect(file('images/hushed-plan.svg')).toContain('hushed');
    expect(file('openapi.json')).toContain('hushedOperation');
    expect([...own].filter(([, text]) => /secret(Operation|Answer)/.test(text)).map(([path]) => path)).toEqual([]);
  });
});
