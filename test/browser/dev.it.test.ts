import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterEach, expect, test } from 'vitest';
import { openDev, type OpenDev } from '#services/cli/dev/open-dev.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { newFolder } from '../support/new-folder.ts';
import { suiteBrowser } from '../support/suite-browser.ts';

const description = (summary: string) =>
  JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Plants', version: '1' },
    servers: [{ url: 'https://plants.example' }],
    paths: {
      '/plants': {
        get: {
          summary,
          parameters: [{ name: 'limit', in: 'query', description: 'How many.', schema: { type: 'integer' } }],
          responses: { 200: { description: 'The plants.' } },
        },
      },
    },
  });

const docs = (name: string, more: object = {}) =>
  JSON.stringify({
    name,
    theme: 'mint',
    colors: { primary: '#0f766e' },
    navigation: {
      groups: [
        { group: 'Start', pages: ['index', 'long'] },
        { group: 'API', openapi: 'api.json', pages: ['GET /plants'] },
      ],
    },
    ...more,
  });

const picture = (width: number) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="40"><rect width="${width}" height="40"/></svg>`;

const long = (words: string, more = '') => `---
title: A long page
---
import Note1 from '/snippets/shared.mdx';

${Array.from({ length: 40 }, (_, at) => `Paragraph ${at} of the page, with enough words to fill a line or two of it.`).join('\n\n')}

## The part

${words}

<Tabs><Tab title="First">One</Tab><Tab title="Second">Two</Tab></Tabs>

<Accordion title="More">Inside</Accordion>

\`\`\`js Example
const a = 1;
\`\`\`

<Note1 />

![A plant](/images/plant.svg)
${more}
${Array.from({ length: 40 }, (_, at) => `Later paragraph ${at} of the page, with enough words to fill a line or two.`).join('\n\n')}
`;

const project = {
  'docs.json': docs('Plants'),
  'index.mdx': '---\ntitle: Start\n---\n\nThe first page.\n',
  'long.mdx': long('Words before.'),
  'snippets/shared.mdx': 'Shared words.\n',
  'api.json': description('List plants'),
  'images/plant.svg': picture(80),
  'own.css': '.mdx-content p { color: rgb(1, 2, 3); }\n',
};

describeWithServers(['chromium'], 'a site while its author writes', () => {
  const { newContext } = suiteBrowser();
  const running: OpenDev[] = [];
  afterEach(async () => {
    for (const dev of running.splice(0)) await dev.close();
  });

  async function start(files: Record<string, string> = project, options: { port?: number; folder?: string } = {}) {
    const folder = options.folder ?? newFolder();
    const write = (path: string, text: string): void => {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    };
    for (const [path, text] of Object.entries(files)) write(path, text);
    const errors: unknown[] = [];
    const dev = await openDev(folder, { port: options.port ?? 0, onError: (error) => errors.push(error) });
    running.push(dev);
    return { dev, folder, write, url: dev.server.url, errors };
  }

  async function open(address: string): Promise<{ page: Page; problems: string[] }> {
    const context = await newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && problems.push(message.text()));
    await page.goto(address, { waitUntil: 'load' });
    await expect.poll(() => page.evaluate('Boolean(window.Idiomorph && window.binderyDevParts)')).toBe(true);
    await page.evaluate('window.isSamePage = true');
    return { page, problems };
  }
  const isSame = (page: Page) => page.evaluate('window.isSamePage === true');

  test('shows a saved text in place: scroll, chosen tab and open parts stay', async () => {
    const { write, url } = await start();
    const { page, problems } = await open(`${url}/long`);
    await page.getByRole('tab', { name: 'Second' }).click();
    await page.getByText('More', { exact: true }).click();
    const scroll = await page.evaluate('scrollY');
    expect(scroll).toBeGreaterThan(200);
    write('long.mdx', long('Words after.'));
    await page.getByText('Words after.').waitFor();
    expect(await page.evaluate('scrollY')).toBe(scroll);
    expect(await page.getByRole('tab', { name: 'Second' }).getAttribute('aria-selected')).toBe('true');
    expect(await page.getByText('Inside').isVisible()).toBe(true);
    expect(await page.locator('.code-block-copy-button').count()).toBe(1);
    expect(await isSame(page)).toBe(true);
    expect(problems).toEqual([]);
  });

  test('sets up components that are new or have another structure', async () => {
    const { write, url } = await start();
    const { page, problems } = await open(`${url}/long`);
    await page.getByRole('tab', { name: 'Second' }).click();
    const tabs = '<Tabs><Tab title="First">One</Tab><Tab title="Second">Two</Tab><Tab title="Third">Three</Tab></Tabs>';
    write('long.mdx', long('Words.', '\n```sh New\necho new\n```\n').replace(/<Tabs>.*<\/Tabs>/, tabs));
    await page.getByText('echo new').waitFor();
    expect(await page.locator('.code-block-copy-button').count()).toBe(2);
    expect(await page.getByRole('tab', { name: 'Second' }).getAttribute('aria-selected')).toBe('true');
    await page.getByRole('tab', { name: 'Third' }).click();
    await expect.poll(() => page.locator('.tab-panel[data-active]').innerText()).toContain('Three');
    write('long.mdx', long('Words.', '\n## Another part\n'));
    await page.locator('.table-of-contents').getByText('Another part').waitFor();
    expect(await page.getByText('echo new').count()).toBe(0);
    expect(await isSame(page)).toBe(true);
    expect(problems).toEqual([]);
  });

  test('follows snippets, docs.json, API descriptions, pictures and style sheets', async () => {
    const { write, url } = await start();
    const { page, problems } = await open(`${url}/long`);
    write('snippets/shared.mdx', 'Other shared words.\n');
    await page.getByText('Other shared words.').waitFor();
    write('docs.json', docs('Trees', { colors: { primary: '#b91c1c' } }).replace('"Start"', '"Begin"'));
    await page.locator('.site-name', { hasText: 'Trees' }).waitFor();
    await page.locator('.sidebar-group-header', { hasText: 'Begin' }).waitFor();
    write('images/plant.svg', picture(160));
    const plant = page.getByAltText('A plant');
    await expect.poll(() => plant.evaluate((one: { naturalWidth?: number }) => one.naturalWidth)).toBe(160);
    await expect.poll(() => plant.getAttribute('width')).toBe('160');
    write('own.css', '.mdx-content p { color: rgb(4, 5, 6); }\n');
    const color = () => page.evaluate("getComputedStyle(document.querySelector('.mdx-content p')).color");
    await expect.poll(color).toBe('rgb(4, 5, 6)');
    expect(await isSame(page)).toBe(true);
    const operation = page.locator('.sidebar-link', { hasText: 'List plants' });
    await operation.click();
    await page.getByText('How many.').first().waitFor();
    write('api.json', description('List plants').replace('How many.', 'The number of plants.'));
    await page.getByText('The number of plants.').first().waitFor();
    expect(problems).toEqual([]);
  });

  test('keeps what a reader has typed into the form of an operation', async () => {
    const { write, url } = await start();
    const { page, problems } = await open(`${url}/index`);
    await page.locator('.sidebar-link', { hasText: 'List plants' }).click();
    await page.evaluate('window.isSamePage = true');
    await page.locator('.try-operation').click();
    await page.locator('dialog input').first().fill('12');
    write('api.json', description('List plants').replace('How many.', 'The number of plants.'));
    await page.getByText('The number of plants.').first().waitFor({ state: 'attached' });
    expect(await page.locator('dialog input').first().inputValue()).toBe('12');
    expect(await isSame(page)).toBe(true);
    expect(problems).toEqual([]);
  });

  test('shows what is wrong where it was written, and the last good site, until it is repaired', async () => {
    const { write, url } = await start();
    const { page } = await open(`${url}/long`);
    const problem = page.locator('bindery-problems section');
    write('docs.json', docs('Plants').replace('"theme":"mint",', '"theme":"mint",,'));
    await problem.waitFor();
    expect(await problem.innerText()).toMatch(/docs\.json:1:\d+\s+docs\.json is not valid JSON/);
    expect(await page.locator('bindery-problems .caret').count()).toBe(1);
    write('long.mdx', long('Words of the last good site.'));
    await page.getByText('Words of the last good site.').waitFor();
    write('docs.json', docs('Plants'));
    await problem.waitFor({ state: 'detached' });
    write('long.mdx', long('Words.\n\n<Note>never closed'));
    await problem.filter({ hasText: '<Note> is never closed' }).waitFor();
    expect(await page.locator('bindery-problems .here').innerText()).toContain('<Note>never closed');
    write('long.mdx', long('Words again.'));
    await page.getByText('Words again.').waitFor();
    await page.locator('bindery-problems').waitFor({ state: 'detached' });
    expect(await isSame(page)).toBe(true);
  });

  test('follows new, renamed and removed pages, also with Windows line ends', async () => {
    const { write, url, folder } = await start();
    const { page } = await open(`${url}/long`);
    const other = await (await newContext()).newPage();
    await other.goto(`${url}/new`);
    await other.getByText('404').waitFor();
    write('new.mdx', '---\r\ntitle: A new page\r\n---\r\n\r\nIts words.\r\n');
    await other.getByText('Its words.').waitFor();
    renameSync(join(folder, 'new.mdx'), join(folder, 'renamed.mdx'));
    await other.waitForURL(`${url}/renamed.html`);
    await other.getByText('Its words.').waitFor();
    rmSync(join(folder, 'renamed.mdx'));
    await other.getByText('404').waitFor();
    rmSync(join(folder, 'snippets'), { recursive: true });
    await page.locator('bindery-problems .pill').waitFor();
    expect(await isSame(page)).toBe(true);
  });

  test('connects again after the server was restarted, in all open pages', async () => {
    const first = await start();
    const { page } = await open(`${first.url}/long`);
    const { page: second } = await open(`${first.url}/index`);
    await running.splice(0)[0]?.close();
    first.write('long.mdx', long('Words while it was away.'));
    first.write('index.mdx', '---\ntitle: Start\n---\n\nOther first words.\n');
    await start({}, { folder: first.folder, port: first.dev.server.port });
    await page.getByText('Words while it was away.').waitFor();
    await second.getByText('Other first words.').waitFor();
    expect(await isSame(page)).toBe(true);
  });

  test('finds words of all pages, and of those that changed', async () => {
    const { write, url } = await start();
    const { page, problems } = await open(`${url}/index`);
    await page.keyboard.press('/');
    await page.locator('.search-dialog input').fill('later paragraph');
    await page.locator('.search-dialog').getByText('A long page').first().waitFor();
    write('long.mdx', long('Zanthoxylum grows here.'));
    await page.reload();
    await page.keyboard.press('/');
    await page.locator('.search-dialog input').fill('zanthoxylum');
    await page.locator('.search-dialog').getByText('A long page').first().waitFor();
    expect(problems).toEqual([]);
  });
});
