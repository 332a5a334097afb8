import { stat } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { newConsoleLink } from '#services/cli/console-link.ts';
import { firstLinkFile } from '#services/console/sign-in.ts';
import { describeWithServers } from '../../test/support/describe-with-servers.ts';
import { newFolder } from '../../test/support/new-folder.ts';
import { describeWithSmallDisk, mountSmallDisk } from '../../test/support/small-disk.ts';
import { lockFolder } from '#shared/storage/lock-folder.ts';
import { freePorts } from './free-ports.ts';
import { runInstallation } from './run-installation.ts';
import { serviceNames } from './services.ts';

const needed: ReadonlySet<string> = new Set(['projector', 'gateway']);

describeWithServers(['nats-server'], 'an installation that starts', () => {
  test('stops when its signal aborts, without waiting for its services, and leaves nothing running', async () => {
    const folder = newFolder();
    const told = new AbortController();
    const news: string[] = [];
    const starting = runInstallation({
      dataFolder: folder,
      host: '127.0.0.1',
      port: 0,
      processes: 'separate',
      // Node ends at once with this option.
      environment: { ...process.env, BINDERY_LOG_LEVEL: 'silent', NODE_OPTIONS: '--none-such' },
      copies: Object.fromEntries(serviceNames.filter((name) => !needed.has(name)).map((name) => [name, 0])),
      onNews: (line) => {
        news.push(line);
        if (line.startsWith('projector ended')) told.abort();
      },
      signal: told.signal,
    });
    await expect(starting).rejects.toMatchObject({ name: 'AbortError' });
    const lock = await lockFolder(folder);
    const natsUrl = /\((nats:.*)\)/.exec(news[0] ?? '')?.[1] ?? '';
    await expect(fetch(natsUrl.replace('nats:', 'http:'))).rejects.toThrow('fetch failed');
    await lock.release();
  });

  test('ends at once with the sentence about a wrong setting, and leaves nothing running', async () => {
    const folder = newFolder();
    const news: string[] = [];
    const starting = runInstallation({
      dataFolder: folder,
      host: '127.0.0.1',
      port: 0,
      processes: 'shared',
      environment: { ...process.env, BINDERY_LOG_LEVEL: 'error', BINDERY_ASSISTANT_PORT: 'abc' },
      onNews: (line) => news.push(line),
    });
    await expect(starting).rejects.toMatchObject({
      name: 'ConfigError',
      message: expect.stringMatching(
        /^BINDERY_ASSISTANT_PORT is wrong \(must be a whole number from 0 to 65535\): port of/,
      ),
    });
    expect(news.filter((line) => line.includes('started again'))).toEqual([]);
    await (await lockFolder(folder)).release();
  });

  test('runs the console, which a link of this machine opens once, with the rights of the operator', async () => {
    const folder = newFolder();
    const installation = await runInstallation({
      dataFolder: folder,
      host: '127.0.0.1',
      port: 0,
      consolePort: 0,
      processes: 'shared',
      // Settings for logins of sites are none of the console.
      environment: { ...process.env, BINDERY_LOG_LEVEL: 'error', BINDERY_OIDC_ISSUER: 'http://127.0.0.1:1' },
      copies: Object.fromEntries(serviceNames.filter((name) => !needed.has(name)).map((name) => [name, 0])),
      onNews: () => {},
    });
    try {
      const { consoleUrl = '', baseUrl } = installation;
      expect(await (await fetch(baseUrl)).json()).toMatchObject({ console: consoleUrl });
      const link = await newConsoleLink(folder, consoleUrl, new Date());
      expect((await stat(firstLinkFile(folder))).mode & 0o777).toBe(0o600);
      const opened = await fetch(link, { redirect: 'manual' });
      const [cookie = ''] = opened.headers.getSetCookie().map((each) => each.replace(/;.*/, ''));
      expect([opened.status, (await fetch(link, { redirect: 'manual' })).status]).toEqual([303, 403]);
      const page = async () => (await fetch(`${consoleUrl}/organizations`, { headers: { cookie } })).text();
      expect(await page()).toContain('<h1>Organizations</h1>');
      // A session lasts over a restart.
      await installation.restart(['console'], 'the code changed');
      expect(await page()).toContain('<h1>Organizations</h1>');
    } finally {
      await installation.stop();
    }
  });

  test('waits for the host of sites at its health port, and the port of the sites answers no health', async () => {
    const [healthPort = 0] = await freePorts(1);
    const installation = await runInstallation({
      dataFolder: newFolder(),
      host: '127.0.0.1',
      port: 0,
      sitesPort: 0,
      processes: 'separate',
      environment: {
        ...process.env,
        BINDERY_LOG_LEVEL: 'silent',
        BINDERY_DOCS_HOST_HEALTH_PORT: String(healthPort),
      },
      copies: Object.fromEntries(serviceNames.filter((name) => !needed.has(name)).map((name) => [name, 0])),
      onNews: () => {},
    });
    try {
      const statusAt = async (port: number | undefined) => (await fetch(`http://127.0.0.1:${port}/readyz`)).status;
      expect([await statusAt(healthPort), await statusAt(installation.sitesPort)]).toEqual([200, 404]);
    } finally {
      await installation.stop();
    }
  });
});

describeWithSmallDisk('an installation on a disk that is full', () => {
  test('does not start, and says which disk is full', async () => {
    const disk = mountSmallDisk(1);
    disk.fill();
    const starting = runInstallation({
      dataFolder: disk.folder,
      host: '127.0.0.1',
      port: 0,
      processes: 'shared',
      environment: process.env,
      onNews: () => {},
    });
    try {
      const sentence = `The disk of the data folder ${disk.folder} is full. Make room there, then start again.`;
      await expect(starting).rejects.toThrow(sentence);
    } finally {
      disk.remove();
    }
  });
});
