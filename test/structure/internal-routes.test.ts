import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import type { FastifyInstance } from 'fastify';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assistantApp } from '#services/assistant/assistant-app.ts';
import { housekeeperApp } from '#services/housekeeper/housekeeper-app.ts';
import { linkSignerApp } from '#services/link-signer/link-signer-app.ts';
import { projectorApp } from '#services/projector/projector-app.ts';
import { orchestratorApp } from '#services/orchestrator/orchestrator-app.ts';
import { publisherApp } from '#services/publisher/publisher-app.ts';
import { serviceMetrics } from '#shared/runtime/metrics.ts';
import type { InternalCall, InternalCaller } from '#shared/interfaces/internal/internal-call.ts';
import { internalCalls } from '#shared/interfaces/internal/internal-calls.ts';
import { serviceTokenHeader } from '#shared/interfaces/internal/internal-server.ts';
import { sourceFiles } from './source-files.ts';

const callerTokens = { gateway: 'what-the-gateway-shows', housekeeper: 'what-the-housekeeper-shows' };
const options = () => ({
  callerTokens,
  logger: pino({ level: 'silent' }),
  checks: {},
  draining: () => false,
  metrics: serviceMetrics('test'),
});

/** Handlers that do nothing. */
const nothing = {} as never;
const apps: Record<InternalCall['service'], () => FastifyInstance> = {
  assistant: () => assistantApp({ bus: {} } as never, options()),
  'link-signer': () => linkSignerApp(nothing, options()),
  projector: () => projectorApp(nothing, options()),
  publisher: () => publisherApp(nothing, options()),
  orchestrator: () => orchestratorApp(nothing, options()),
  housekeeper: () => housekeeperApp(nothing, options()),
};

const hex = (character: string) => `%${character.charCodeAt(0).toString(16)}`;

/** Spellings of an address that are or may be treated as the same. */
const spellings: readonly ((path: string) => string)[] = [
  (path) => path,
  (path) => `${path}?x=1`,
  (path) => `${path}?`,
  (path) => `${path}#x`,
  (path) => path.replace('i', hex),
  (path) => path.replaceAll(/[a-z]/g, hex),
  (path) => path.replace('internal', 'Internal'),
  (path) => path.toUpperCase(),
  (path) => path.replace('/internal/', '/internal%2F'),
  (path) => path.replace('/internal/', '/internal//'),
  (path) => `/${path}`,
  (path) => `/.${path}`,
  (path) => `/x/..${path}`,
  (path) => `/%2e${path}`,
  (path) => `${path}/`,
  (path) => `${path};x=1`,
  (path) => path.slice(1),
  (path) => path.replaceAll('/', '\\'),
  (path) => `http://127.0.0.1${path}`,
  (path) => `HTTP://any.test:80${path}?x=1`,
  (path) => `http://127.0.0.1${path.replace('n', hex)}`,
];

/** Routes of the router, such as `GET /livez`. */
function routesOf(app: FastifyInstance): string[] {
  const parents: string[] = [];
  return app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', path = '', methods] = /^([│├└─\s]*)(\S+)(?: \((.+)\))?/u.exec(line) ?? [];
      const depth = Math.floor(indent.length / 4);
      parents.splice(depth - 1, parents.length, path);
      return methods?.split(', ').map((method) => `${method} ${parents.join('')}`) ?? [];
    });
}

test('cover every service that answers internal calls', () => {
  const rooms = [...sourceFiles()]
    .filter(
      ([file, source]) => file.startsWith('services/') && !file.endsWith('.test.ts') && /\binternalApp\(/.test(source),
    )
    .map(([file]) => file.split('/')[1] ?? '');
  expect(rooms.toSorted(), 'add each service that makes an internalApp() to `apps` of this file').toEqual(
    Object.keys(apps).toSorted(),
  );
});

describe.each(Object.keys(apps) as InternalCall['service'][])('%s', (service) => {
  let app: FastifyInstance;
  beforeAll(async () => {
    app = apps[service]();
    await app.listen({ host: '127.0.0.1', port: 0 });
  });
  afterAll(() => app.close());

  /** Status and code of the answer to a request line that no client library has normalized. */
  async function answer(method: string, target: string, token?: string): Promise<string> {
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
    const shown = token === undefined ? '' : `${serviceTokenHeader}: ${token}\r\n`;
    socket.end(`${method} ${target} HTTP/1.1\r\nhost: x\r\n${shown}content-length: 0\r\nconnection: close\r\n\r\n`);
    let text = '';
    socket.on('data', (chunk) => {
      text += String(chunk);
    });
    await once(socket, 'close');
    return `${/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]} ${/"code":"(\w+)"/.exec(text)?.[1] ?? ''}`.trim();
  }

  const calls = internalCalls.filter((call) => call.service === service);
  test.each(calls.map((call) => [`${call.method} ${call.path}`, call] as const))(
    '%s needs the token of its caller, in every spelling of its address',
    async (name, { method, path, callers }) => {
      const advice = `the ${service} does not answer the call ${name}: answer it by answerCall() where its internalApp() is made`;
      expect(app.hasRoute({ method, url: path }), advice).toBe(true);
      const tokens = (Object.keys(callerTokens) as InternalCaller[]).filter((caller) => callers.includes(caller));
      const others = Object.entries(callerTokens).flatMap(([caller, token]) =>
        tokens.some((one) => one === caller) ? [] : [token],
      );
      const serviceToken = callerTokens[tokens[0] ?? 'gateway'];
      for (const caller of tokens) {
        expect(await answer(method, path.replaceAll(/:\w+/g, 'x'), callerTokens[caller])).toBe('500 internal');
      }
      const address = path.replaceAll(/:\w+/g, `cv_${'0'.repeat(32)}`);
      let matched = 0;
      for (const spell of spellings) {
        const target = spell(address);
        // With the token, the route fails with "internal", because the request names no caller. Without the token, the service refuses the request
        // before.
        const isRoute = (await answer(method, target, serviceToken)) === '500 internal';
        if (isRoute) matched += 1;
        for (const token of [undefined, 'x', serviceToken.slice(0, -1), ...others]) {
          const refused = await answer(method, target, token);
          expect(`${target}: ${refused}`).toMatch(isRoute ? /: 401 invalid_key$/ : /: (404 not_found|400)$/);
        }
      }
      expect(matched).toBeGreaterThanOrEqual(8);
    },
  );

  test('has no routes but its calls and its health', async () => {
    const declared = calls.filter((call) => call.service === service).map(({ method, path }) => `${method} ${path}`);
    const health = ['livez', 'readyz', 'metrics'].flatMap((name) => [`GET /${name}`, `HEAD /${name}`]);
    expect(routesOf(app).toSorted()).toEqual([...declared, ...health].toSorted());
    expect(() => apps[service]().get('/internal/secret', async () => 'x')).toThrow(
      'GET /internal/secret is not a declared call',
    );
    expect(() => apps[service]().get('/secret', async () => 'x')).toThrow('GET /secret is not a declared call');
  });
});
