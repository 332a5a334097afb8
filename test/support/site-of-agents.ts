import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { vi } from 'vitest';
import { freePorts } from '#infra/supervisor/free-ports.ts';
import { docsHostSettings } from '#services/docs-host/config.ts';
import { start } from '#services/docs-host/main.ts';
import { loadConfig } from '#shared/runtime/config.ts';
import { createLogger } from '#shared/runtime/telemetry.ts';
import { type AgentGateway, agentGateway } from './agent-gateway.ts';
import { exampleBundle } from './example-bundle.ts';
import { bearer } from './gateway-harness.ts';
import { newFolder } from './new-folder.ts';

const generous = {
  BINDERY_LIMIT_ASSISTANT_PER_HOUR: '1000000',
  BINDERY_LIMIT_ASSISTANT_PER_ADDRESS_PER_DAY: '1000000',
};

/** A site that answers agents through a gateway. Only writers may read it, who log in at a provider where clients register themselves. */
export async function siteOfAgents() {
  const gateway: AgentGateway = await agentGateway(generous);
  const { key } = (
    await gateway.app.inject({
      ...{ method: 'POST', url: '/v1/api-keys', headers: bearer(gateway.acme.adminKey) },
      payload: { kind: 'assistant', name: 'host', scopes: ['read', 'proxy'] },
    })
  ).json<{ key: string }>();
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const clients = [
    { client_id: 'docs', client_secret: 'the-secret-of-the-client', redirect_uris: [`${url}/_bindery/login`] },
  ];
  const provider = fork(
    join(import.meta.dirname, 'oidc-provider.mjs'),
    [JSON.stringify({ clients, resources: true })],
    { stdio: ['ignore', 'pipe', 'ignore', 'ipc'] },
  );
  const [line] = (await once(provider.stdout ?? provider, 'data')) as [Buffer];
  const { issuer } = JSON.parse(String(line)) as { issuer: string };
  const folder = newFolder();
  const file = join(folder, 'site.tar.gz');
  await writeFile(file, await exampleBundle('one'));
  const config = loadConfig(docsHostSettings, {
    BINDERY_DATA: folder,
    BINDERY_DOCS_HOST_PORT: String(port),
    BINDERY_BUNDLE_PATH: file,
    BINDERY_PLATFORM_URL: gateway.url,
    BINDERY_DOCS_DOMAIN: 'docs',
    BINDERY_ASK_KEY: key,
    BINDERY_LOGIN: 'oidc',
    BINDERY_OIDC_ISSUER: issuer,
    BINDERY_OIDC_CLIENT_ID: 'docs',
    BINDERY_OIDC_CLIENT_SECRET: 'the-secret-of-the-client',
    BINDERY_LOGIN_SESSION_SECRET: 'a-secret-of-32-characters-or-more',
    BINDERY_LOGIN_GROUPS: 'writers',
    BINDERY_SITE_URL: url,
  });
  const host = await start(config, createLogger('docs-host', 'docs-host-test', { write: () => {} }));
  // Hooks of tests have no `expect.poll`.
  await vi.waitUntil(async () => ((await (await fetch(`${url}/readyz`)).json()) as { ready: boolean }).ready, {
    timeout: 60_000,
    interval: 50,
  });
  return {
    gateway,
    endpoint: `${url}/mcp`,
    async close(): Promise<void> {
      await host.stop();
      provider.kill();
      await gateway.close();
    },
  };
}

/** Logs a person in at the provider, as the forms in a browser do. Returns the address to which the provider sends the browser back. */
export async function logInAt(authorization: URL, name: string): Promise<URL> {
  const cookies = new Map<string, string>();
  let [to, form]: [URL, URLSearchParams | undefined] = [authorization, undefined];
  for (let steps = 0; steps < 20; steps += 1) {
    const cookie = [...cookies].map(([cookieName, value]) => `${cookieName}=${value}`).join('; ');
    const answer: Response = await fetch(to, {
      ...{ redirect: 'manual', headers: { cookie }, method: form === undefined ? 'GET' : 'POST' },
      ...(form !== undefined && { body: form }),
    });
    for (const set of answer.headers.getSetCookie()) {
      const [cookieName = '', value = ''] = (set.split(';')[0] ?? '').split('=');
      cookies.set(cookieName, value);
    }
    const location = answer.headers.get('location');
    const page = await answer.text();
    if (location !== null) {
      to = new URL(location, to);
      form = undefined;
      if (to.origin !== authorization.origin) return to;
      continue;
    }
    const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1];
    if (prompt === undefined)
      throw new Error(`the provider has no form at ${to.href}: ${answer.status} ${page.slice(0, 500)}`);
    form = new URLSearchParams({ prompt, login: name, password: 'any' });
  }
  throw new Error('the provider does not let anybody in');
}
