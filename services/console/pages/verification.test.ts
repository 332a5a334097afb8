import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Verifications } from '#services/projector/verifications.ts';
import { escapeHtml } from '#shared/docs/render/html.ts';
import { verificationSchema } from '#shared/interfaces/http/verification.ts';
import { directoryLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { type ConsoleHarness, consoleHarness } from '../../../test/support/console-harness.ts';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  operatorToken,
  type TestOrganization,
} from '../../../test/support/gateway-harness.ts';
import { memoryProjector } from '../../../test/support/memory-projector.ts';

const script = '<script>alert(1)</script>';

let gateway: GatewayHarness;
let acme: TestOrganization;
let site: ConsoleHarness;
let projector: Verifications;

beforeAll(async () => {
  gateway = await gatewayHarness({}, async (parts) => {
    const made = await memoryProjector(parts);
    projector = made.verifications;
    return made;
  });
  acme = await createOrganization(gateway);
  await createOrganization(gateway, 'Globex', 'enterprise', { domain: 'blog' });
  await gateway.bus.projected();
  site = await consoleHarness(gateway);
});
afterAll(async () => {
  await site.close();
  await gateway.close();
});

const asked = async (path: string, key: string, payload?: object) => {
  const method = payload === undefined ? 'GET' : 'POST';
  const answer = await gateway.app.inject({ method, url: path, headers: bearer(key), ...(payload && { payload }) });
  return { status: answer.statusCode, body: answer.json() };
};

test('a person starts the verification, and the page shows what the interface says', async () => {
  const visitor = await site.signedIn(acme.adminKey);
  const before = await visitor.get('/o/acme/audit/verification');
  expect(before.html).toContain('The logs have not been verified here yet');
  const started = await visitor.send('/o/acme/audit/verification');
  expect([started.status, started.location]).toEqual([303, '/o/acme/audit/verification']);
  await projector.idle();
  const { html } = await visitor.get('/o/acme/audit/verification');
  expect(html).toContain('The verification was started.');
  const { status, body } = await asked('/v1/audit/verification', acme.adminKey);
  expect(status).toBe(200);
  const { result, running } = verificationSchema.parse(body);
  expect([running, result?.whole]).toEqual([undefined, true]);
  expect(html).toContain(`Asked by</dt><dd>${acme.adminKeyId}`);
  for (const { stream, headsSha256, headCount, heads } of result?.streams ?? []) {
    expect(html).toContain(`<code>${stream}</code>`);
    if (headCount > 0) expect(html).toContain(headsSha256);
    for (const { subject, hash } of heads) {
      expect(html).toContain(`<code>${subject}</code>`);
      expect(html).toContain(hash);
    }
  }
  expect(html).toContain(directoryLogSubject('acme'));
  expect(html).not.toContain('globex');
  const again = await visitor.send('/o/acme/audit/verification');
  expect((await visitor.get(again.location ?? '')).html).toContain('the result of the last hour stands');
  const anew = await visitor.send('/o/acme/audit/verification', { again: 'true' });
  expect((await visitor.get(anew.location ?? '')).html).toContain('The verification was started.');
  await projector.idle();
});

test('failed checks are named with their meaning, and what they name is text', async () => {
  const document = (await gateway.bus.verifications.get('org.acme'))?.document;
  const [first, ...others] = document?.result?.streams ?? [];
  if (document?.result === undefined || first === undefined) throw new Error('The test before has verified the logs.');
  const problem = {
    problem: 'changed',
    subject: script,
    sequence: 7,
    revision: 2,
    message: `It has ${script}.`,
  } as const;
  const streams = [{ ...first, problemCount: 101, problems: [problem] }, ...others];
  await gateway.bus.verifications.put('org.acme', {
    ...document,
    failed: {
      ...{ askedAt: document.result.askedAt, askedBy: { kind: 'person', id: script } },
      ...{ failedAt: document.result.askedAt, reason: script },
    },
    result: { ...document.result, whole: false, problemCount: 101, streams },
  });
  const { html } = await (await site.signedIn(acme.adminKey)).get('/o/acme/audit/verification');
  expect(html).not.toContain(script);
  expect(html.split(escapeHtml(script)).length).toBeGreaterThan(4);
  expect(html).toContain('101 checks failed');
  expect(html).toContain('The first 1 of 101.');
  expect(html).toContain('The stored bytes are not those that were written.');
  expect(html).not.toContain('Replay the export.');
});

test('while one runs, the page says so and reads again', async () => {
  const at = gateway.clock.time.toISOString();
  const askedBy = { kind: 'person', id: 'ada' } as const;
  await gateway.bus.verifications.put('org.acme', {
    running: { state: 'running', id: '1', askedBy, stream: 'EXPORTS', histories: 1234, askedAt: at, beatAt: at },
  });
  const { html } = await (await site.signedIn(acme.adminKey)).get('/o/acme/audit/verification');
  expect(html).toContain('1,234 histories');
  expect(html).toContain('hx-trigger="every 1s"');
  expect(html).not.toContain('Verify now');
  await gateway.bus.verifications.put('org.acme', {});
});

test('all logs are for operators, and viewers start none', async () => {
  const operator = await site.signedIn(operatorToken);
  await operator.get('/installation/verification');
  expect((await operator.send('/installation/verification')).status).toBe(303);
  await projector.idle();
  const { html } = await operator.get('/installation/verification');
  for (const organization of ['acme', 'globex']) expect(html).toContain(directoryLogSubject(organization));
  expect((await (await site.signedIn(acme.adminKey)).get('/installation/verification')).status).toBe(404);
  expect((await asked('/v1/installation/verification', acme.adminKey, {})).body.code).toBe('wrong_key_kind');
  const made = await asked('/v1/api-keys', acme.adminKey, { kind: 'admin', scopes: ['read'] });
  await gateway.bus.projected();
  const viewer = await site.signedIn(made.body.key);
  expect((await viewer.get('/o/acme/audit/verification')).html).not.toContain('Verify now');
  expect((await asked('/v1/audit/verification', made.body.key, {})).body.code).toBe('missing_scope');
});

test('without a projector the page says how to verify the logs', async () => {
  const alone = await gatewayHarness();
  const { adminKey } = await createOrganization(alone);
  await alone.bus.projected();
  const without = await consoleHarness(alone);
  const { status, html } = await (await without.signedIn(adminKey)).get('/o/acme/audit/verification');
  expect(status).toBe(200);
  expect(html).toContain('not known');
  expect(html).toContain('bindery -- audit verify --organization');
  await without.close();
  await alone.close();
});
