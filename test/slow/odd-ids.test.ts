import { Agent, request } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apiClient } from '#services/cli/api-client.ts';
import type { OpenApiDocument } from '#services/gateway/openapi.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { startInstallation, type TestInstallation } from '../support/start-installation.ts';

const minuteMs = 60_000;
const atOnce = 8;

/** Lengths on both sides of every limit that an id, a subject, a key of a bucket or the router has. */
const lengths = [1, 63, 64, 100, 101, 150, 200, 201, 254, 256, 300, 301, 4_000];
/** Path segments with a special meaning in subjects, keys, file systems or addresses, written unencoded. */
const oddTexts = [
  ...['.', '..', '%2e', '%2e%2e', '%2E%2e%2f..', '*', '%2a', '>', '%3e', 'a.b', 'a.*', 'a.%3e', '$KV.x', '_INBOX.x'],
  ...['%20', '%09', '%0d%0a', '%00', 'a%00b', '%7f', '%5c', '%2f', 'a%2fb', '%25', '%25%32%65', '%', '%zz', '%c3%28'],
  ...['%ed%a0%80', '%f0%9f%92%a5', '%e2%80%ae', '%3a', ':', '::1', '%3F', '%23', '__proto__', 'constructor', 'null'],
  ...['key_0000000000000000', 'se_0000000000000000000000', 'th_0000000000000000000000', '-1', '1e400', 'NaN', "'", '"'],
];

const agent = new Agent({ keepAlive: true, maxSockets: atOnce });

/** Sends a path unchanged. A URL made from it would be normalized to another path. */
function sendRaw(
  baseUrl: string,
  method: string,
  path: string,
  key: string,
): Promise<{ status: number; body: string }> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    const sent = request(
      { agent, hostname, port, method, path, headers: { authorization: `Bearer ${key}` } },
      (answer) => {
        const { statusCode: status = 0 } = answer;
        textOf(answer).then((body) => resolve({ status, body }), reject);
      },
    );
    sent.on('error', reject).end();
  });
}

describeWithServers(['nats-server'], 'any text in place of an id or a parameter', () => {
  let harness: TestInstallation;
  let document: OpenApiDocument;
  beforeAll(async () => {
    const unlimited = ['CHANGES_PER_HOUR', 'KEYS_PER_HOUR', 'LINKS_PER_HOUR', 'OPERATOR_PER_HOUR', 'STARTS_PER_HOUR'];
    harness = await startInstallation({
      processes: 'shared',
      environment: Object.fromEntries(unlimited.map((name) => [`BINDERY_LIMIT_${name}`, '1000000'])),
    });
    document = await apiClient(harness.installation.baseUrl, '').json<OpenApiDocument>('/openapi.json');
  }, 2 * minuteMs);
  afterAll(() => harness?.stop());

  test(
    'is answered with 400, 404 or the status of a valid one, and never with an internal error',
    async () => {
      const random = fc.sample(fc.string({ unit: 'binary', minLength: 1, maxLength: 300 }), { numRuns: 8, seed: 7 });
      const texts = [
        ...lengths.flatMap((length) => ['a'.repeat(length), `th_${'0'.repeat(length)}`]),
        '%c3%a9'.repeat(150),
        ...oddTexts,
        ...random.map((text) => encodeURIComponent(text.toWellFormed())),
      ];
      const asked = Object.entries(document.paths).flatMap(([path, methods]) =>
        Object.entries(methods).flatMap(([method, operation]) =>
          (operation.parameters ?? [])
            .filter((parameter) => parameter.in === 'path' || parameter.in === 'query')
            .flatMap((parameter) =>
              texts.map((text) => ({ method: method.toUpperCase(), path, operation, parameter, text })),
            ),
        ),
      );
      expect(asked.length).toBeGreaterThan(1_000);
      const problems: string[] = [];
      await inParallel(asked, atOnce, async ({ method, path, operation, parameter, text }) => {
        const others: Record<string, string> = { domain: harness.domain, org: harness.organization };
        const inPath = path.replaceAll(/\{([^}]+)\}/g, (_, name: string) =>
          parameter.in === 'path' && name === parameter.name ? text : (others[name] ?? 'x'),
        );
        const target = parameter.in === 'query' ? `${inPath}?${parameter.name}=${text}` : inPath;
        const isOperators = JSON.stringify(operation.security ?? []).includes('operator');
        const key = isOperators ? harness.installation.secrets.operatorToken : harness.adminKey;
        const { status, body } = await sendRaw(harness.installation.baseUrl, method, target, key);
        const isFailure = status >= 500 || status < 200 || (status >= 400 && !/"code":"[a-z_]+"/.test(body));
        const isTooLong = parameter.in === 'path' && /^[a-z0-9_]{301,}$/.test(text) && status < 400;
        if (isFailure || isTooLong)
          problems.push(`${method} ${target.slice(0, 200)} (${target.length}): ${status} ${body.slice(0, 200)}`);
      });
      expect(problems).toEqual([]);
    },
    5 * minuteMs,
  );
});
