import { posix } from 'node:path';
import { Readable } from 'node:stream';
import { createGunzip, brotliDecompressSync, gunzipSync } from 'node:zlib';
import { buffer } from 'node:stream/consumers';
import { extract } from 'tar-stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signBundleLink } from '#services/cli/export-client.ts';
import { publishProject } from '#services/cli/publish-project.ts';
import { askHost } from '../support/ask-host.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { ownDocumentation } from '../support/docs-projects.ts';
import type { HostProcess } from '../support/host-process.ts';
import { liveSite, sitePathOnly, startSiteHost } from '../support/live-sites.ts';
import { startInstallation, type TestInstallation } from '../support/start-installation.ts';

const minuteMs = 60_000;
const waiting = { timeout: minuteMs, interval: 200 };
const configPath = '_bindery/config.js';

/** The files of a downloaded bundle by their paths, without its top folder. */
async function filesOf(bundle: Buffer): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  const archive = Readable.from([bundle]).pipe(createGunzip()).pipe(extract());
  for await (const entry of archive) {
    const body = await buffer(entry);
    if (entry.header.type === 'file') files.set(entry.header.name.split('/').slice(1).join('/'), body);
  }
  return files;
}

/** Attributes whose values are addresses of the site. */
const addresses = /^(href|src|poster|data-fonts|data-islands)$/;
/** Attributes of the first tag that tell scripts where the site is. */
const ofPlace = /^data-(root|files|page-end)$/;

/**
 * A page in which each address of the site is the path of its file. So a page of a bundle, with relative addresses, and the same page of a host, with
 * addresses that name bytes or have no extension, become equal, and nothing else does.
 */
function withPaths(html: string, file: string, files: ReadonlyMap<string, Buffer>): string {
  const pathOf = (written: string): string => {
    if (/^([a-z][a-z0-9+.-]*:|\/\/|#|\?|$)/i.test(written)) return written;
    const [, address = '', rest = ''] = /^([^?#]*)(.*)$/.exec(written) ?? [];
    const decoded = decodeURIComponent(address).replace(/^\/_bindery\/@[0-9a-f]{16}\//, '/');
    const path = posix
      .join(decoded.startsWith('/') ? '.' : posix.dirname(file), decoded.replace(/^\//, './'))
      .replace(/^\.$|^\.\/|\/$/, '');
    const found = [path, `${path}.html`, posix.join(path, 'index.html')].find((each) => files.has(each));
    return `{${found ?? path}}${rest}`;
  };
  return html.replaceAll(/<[a-z][^\s/>]*(?:\s+[^\s=>"/]+(?:="[^"]*")?)+\s*\/?>/gi, (tag) =>
    tag.replaceAll(/\s+([^\s=>"/]+)(?:="([^"]*)")?/g, (attribute, name: string, value: string | undefined) => {
      if (ofPlace.test(name)) return '';
      if (value === undefined || !addresses.test(name)) return attribute;
      return ` ${name}="${name === 'data-fonts' ? value.split(' ').map(pathOf).join(' ') : pathOf(value)}"`;
    }),
  );
}

test('two pages are equal with the paths of their files only if they lead to the same files', () => {
  const files = new Map(['index.html', 'a/b.html', 'x.png'].map((path) => [path, Buffer.alloc(0)]));
  const page = '<html data-root="../"><a class="c" href="../index.html#top">x</a><img src="../x.png"></html>';
  const served = `<html data-root="/" data-files="/f/"><a class="c" href="/#top">x</a><img src="/_bindery/@${'0'.repeat(16)}/x.png"></html>`;
  expect(withPaths(served, 'a/b.html', files)).toBe(withPaths(page, 'a/b.html', files));
  for (const other of [
    served.replace('/#top', '/a/b#top'),
    served.replace('x.png', 'y.png'),
    served.replace('>x<', '>y<'),
  ])
    expect(withPaths(other, 'a/b.html', files)).not.toBe(withPaths(page, 'a/b.html', files));
});

describeWithServers(['nats-server'], 'the files of a live site and those of its bundle', () => {
  let harness: TestInstallation;
  let host: HostProcess;

  beforeAll(async () => {
    harness = await startInstallation({ copies: sitePathOnly });
    host = await startSiteHost(harness);
    await publishProject(harness.admin, { domain: harness.domain, folder: ownDocumentation });
    await publishProject(harness.admin, {
      domain: harness.domain,
      folder: ownDocumentation,
      label: 'next-1',
      preview: true,
    });
    await liveSite(harness).open({ name: 'files' });
  }, 2 * minuteMs);
  afterAll(async () => {
    await host?.end();
    await harness?.stop();
  });

  const note =
    /<link rel="stylesheet" href="[^"]*\/_bindery\/preview\.css"><div class="bindery-preview-note"[^]*?<\/div>/;

  test.each([
    ['the live site', undefined, 'files.localhost', [configPath]],
    ['a preview', 'next-1', 'next-1--files.localhost', [configPath, 'robots.txt']],
  ] as const)(
    '%s: each file is served byte for byte, but for addresses in pages',
    async (_what, label, name, changed) => {
      await expect.poll(async () => (await askHost(host.url, name)).status, waiting).toBe(200);
      const deployment = (await liveSite(harness).deployments()).find(
        (each) => each.label === label && each.status === 'live',
      );
      const link = await signBundleLink(harness.admin, deployment?.jobId ?? '');
      const files = await filesOf(Buffer.from(await (await fetch(link.bundleUrl)).arrayBuffer()));
      expect(files.size).toBeGreaterThan(200);
      const counts = { pages: 0, redirects: 0, same: 0 };
      const different: string[] = [];
      for (const [path, body] of files) {
        const address = `/${path.split('/').map(encodeURIComponent).join('/')}`;
        const isPage = path.endsWith('.html');
        const asked = isPage ? address.replace(/(\/|^)index\.html$|\.html$/, '') || '/' : address;
        const served = await askHost(host.url, name, asked);
        const text = body.toString();
        if (isPage && /<meta http-equiv="refresh"/.test(text)) {
          counts.redirects += 1;
          if (served.status !== 308 && served.status !== 307) different.push(`${path}: ${served.status}`);
          continue;
        }
        if (served.status !== (path === '404.html' ? 404 : 200)) {
          different.push(`${path}: ${served.status}`);
          continue;
        }
        if (isPage) {
          counts.pages += 1;
          const shown = label === undefined ? served.text : served.text.replace(note, '');
          if (label !== undefined && shown === served.text) different.push(`${path} has no note`);
          if (withPaths(shown, path, files) !== withPaths(text, path, files)) different.push(path);
        } else if (!served.body.equals(body)) different.push(path);
        else counts.same += 1;
        for (const [encoding, decode] of [
          ['br', brotliDecompressSync],
          ['gzip', gunzipSync],
        ] as const) {
          const packed = await askHost(host.url, name, asked, { headers: { 'accept-encoding': encoding } });
          const plain = packed.headers['content-encoding'] === encoding ? decode(packed.body) : packed.body;
          if (!plain.equals(served.body)) different.push(`${path} in ${encoding}`);
        }
      }
      process.stdout.write(`${name}: ${JSON.stringify(counts)}\n`);
      expect(different.toSorted((a, b) => a.localeCompare(b))).toEqual(changed);
      expect(counts.pages).toBeGreaterThan(50);
      // The settings name the address of the site, and the host as the server of its questions.
      expect((await askHost(host.url, name, `/${configPath}`)).text).toContain(`"siteUrl": "http://${name}`);
    },
    3 * minuteMs,
  );
});
