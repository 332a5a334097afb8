import { buildConsole } from '#services/console/build-console.ts';
import { consoleSettings } from '#services/console/config.ts';
import { endedSessionsInFolder } from '#shared/login/ended-sessions-folder.ts';
import { endedSessions } from '#shared/login/ended-sessions.ts';
import { loadConfig } from '#shared/runtime/config.ts';
import { type GatewayHarness, personTokenKey } from './gateway-harness.ts';
import { newFolder } from './new-folder.ts';
import { testLogger } from './test-logger.ts';

export type ConsoleHarness = {
  /** Address of the console. */
  url: string;
  /** Folder with the file of a link that signs in. */
  dataFolder: string;
  /** A browser without scripts, which signed in with a credential; without one it has no session. */
  signedIn(credential?: string): Promise<Visitor>;
  close(): Promise<void>;
};

type Visited = { status: number; html: string; location: string | undefined; headers: Headers };

type Visitor = {
  cookies: Map<string, string>;
  get(path: string, headers?: Record<string, string>): Promise<Visited>;
  /** Sends a form as the page of its session would, with its token. */
  send(path: string, fields?: Record<string, string>, headers?: Record<string, string>): Promise<Visited>;
};

/** A console in front of a gateway that listens. */
export async function consoleHarness(
  gateway: GatewayHarness,
  env: Record<string, string> = {},
): Promise<ConsoleHarness> {
  const dataFolder = newFolder();
  const platformUrl = gateway.app.server.listening
    ? `http://127.0.0.1:${(gateway.app.server.address() as { port: number }).port}`
    : await gateway.app.listen({ port: 0, host: '127.0.0.1' });
  const config = loadConfig(consoleSettings, {
    BINDERY_DATA: dataFolder,
    BINDERY_PLATFORM_URL: platformUrl,
    BINDERY_CONSOLE_SECRET: 'the-secret-of-sessions-of-the-console-in-tests',
    BINDERY_PERSON_TOKEN_KEY: personTokenKey,
    ...env,
  });
  const ended = endedSessions(endedSessionsInFolder(`${dataFolder}/ended`), testLogger);
  const app = await buildConsole(config, { ended, logger: testLogger, clock: gateway.clock, health: undefined });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });

  function visitor(): Visitor {
    const cookies = new Map<string, string>();
    const visit = async (path: string, options: RequestInit = {}): Promise<Visited> => {
      const headers = new Headers(options.headers);
      if (cookies.size > 0) headers.set('cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '));
      const response = await fetch(url + path, { ...options, headers, redirect: 'manual' });
      for (const cookie of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
        if (value === '') cookies.delete(name);
        else cookies.set(name, value);
      }
      return {
        status: response.status,
        html: await response.text(),
        location: response.headers.get('location') ?? undefined,
        headers: response.headers,
      };
    };
    let token = '';
    return {
      cookies,
      async get(path, headers = {}) {
        const visited = await visit(path, { headers });
        token = /name="token" value="([^"]+)"/.exec(visited.html)?.[1] ?? token;
        return visited;
      },
      send: (path, fields = {}, headers = {}) =>
        visit(path, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin', ...headers },
          body: new URLSearchParams({ token, ...fields }).toString(),
        }),
    };
  }

  return {
    url,
    dataFolder,
    async signedIn(credential) {
      const each = visitor();
      if (credential === undefined) return each;
      const { status, html } = await each.send('/sign-in', { credential });
      if (status !== 303) throw new Error(`signing in was answered with ${status}: ${html}`);
      // The start page has the token of forms.
      const start = await each.get('/');
      await each.get(start.location ?? '/');
      return each;
    },
    close: () => app.close(),
  };
}
