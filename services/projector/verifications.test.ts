import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { verificationSchema } from '#shared/interfaces/http/verification.ts';
import { accessSubject, directoryLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import type { LogAudit } from '#shared/messaging/verify/log-audit.ts';
import { createOrganization, type GatewayHarness, gatewayHarness } from '../../test/support/gateway-harness.ts';
import { accessRecord, testAuditKey } from '../../test/support/make-commit.ts';
import { memoryLogAudit } from '../../test/support/memory-log-audit.ts';
import { testLogger } from '../../test/support/test-logger.ts';
import { waitUntil } from '../../test/support/wait-until.ts';
import { type VerificationParts, type Verifications, verifications } from './verifications.ts';

const ada = { kind: 'person', id: 'ada@acme.test' } as const;
const hourMs = 3_600_000;

let gateway: GatewayHarness;
let acme: string;
let stop: AbortController;
/** Ends the gate that a reader of logs waits at. */
let open: () => void;
let gate: Promise<void>;

beforeEach(async () => {
  gateway = await gatewayHarness();
  acme = (await createOrganization(gateway)).id;
  await createOrganization(gateway, 'Globex', 'enterprise', { domain: 'blog' });
  await gateway.bus.access.record(accessRecord({ organization: acme, time: gateway.clock.time.toISOString() }));
  await gateway.bus.projected();
  stop = new AbortController();
  open = () => {};
  gate = Promise.resolve();
});
afterEach(() => gateway.close());

const shut = () => {
  gate = new Promise((resolve) => {
    open = resolve;
  });
};

/** A projector of the harness. `log`: how its logs differ. */
function aProjector(log: Partial<LogAudit> = {}, parts: Partial<VerificationParts> = {}): Verifications {
  const { bus, objectStore, clock } = gateway;
  const logs = memoryLogAudit(bus);
  const stored: LogAudit['stored'] = async (stream, subject) => {
    await gate;
    return await logs.stored(stream, subject);
  };
  return verifications({
    ...{ bus, objectStore, clock, auditKey: testAuditKey, logger: testLogger, stopping: stop.signal, beatMs: 20 },
    openLogs: async () => ({ ...logs, stored, ...log }),
    ...parts,
  });
}

const asked = { askedBy: ada, again: false };

test("an organization's logs are verified with their anchors, and no other organization's", async () => {
  const projector = aProjector();
  expect(await projector.read({ organization: acme })).toEqual({ organization: acme });
  const started = await projector.start({ organization: acme }, asked);
  const askedAt = gateway.clock.time.toISOString();
  expect(started).toEqual({ organization: acme, running: { state: 'waiting', askedAt, askedBy: ada } });
  await projector.idle();
  const { result, ...rest } = verificationSchema.strict().parse(await projector.read({ organization: acme }));
  expect(rest).toEqual({ organization: acme });
  expect(result).toMatchObject({ askedAt, askedBy: ada, whole: true, problemCount: 0 });
  const subject = directoryLogSubject(acme);
  const messages = await gateway.bus.directory.texts(subject);
  const directory = result?.streams.find(({ stream }) => stream === 'DIRECTORY');
  expect(directory).toMatchObject({
    ...{ histories: 1, commits: messages.length, anchored: 1, problems: [], headCount: 1 },
    first: { subject, sequence: messages[0]?.sequence },
    last: { subject, sequence: messages.at(-1)?.sequence },
    heads: [{ subject, revision: messages.length }],
  });
  expect(result?.streams.find(({ stream }) => stream === 'ACCESS')).toMatchObject({ commits: 1, anchored: 1 });
  expect(JSON.stringify(result)).not.toContain('globex');
  await projector.start({}, asked);
  await projector.idle();
  const all = await projector.read({});
  expect(all.result?.streams.find(({ stream }) => stream === 'DIRECTORY')).toMatchObject({ histories: 2, anchored: 2 });
});

test('a changed byte and a history of another key are problems of the result', async () => {
  const subject = directoryLogSubject(acme);
  const logs = memoryLogAudit(gateway.bus);
  const stored: LogAudit['stored'] = async (stream, of) => {
    const messages = await logs.stored(stream, of);
    return of === subject ? messages.map((each) => ({ ...each, text: each.text.replace('Acme', 'Acne') })) : messages;
  };
  const projector = aProjector({ stored }, { auditKey: 'the-audit-key-of-another-installation' });
  await projector.start({ organization: acme }, asked);
  await projector.idle();
  const { result } = await projector.read({ organization: acme });
  expect(result?.whole).toBe(false);
  const kinds = new Set(result?.streams.flatMap(({ problems }) => problems.map(({ problem }) => problem)));
  expect(kinds).toContain('changed');
  expect(kinds).toContain('unanchored');
  expect(result?.streams.every(({ anchored }) => anchored === 0)).toBe(true);
});

test('one runs at a time for the same logs, also in two projectors, and the others wait for their turn', async () => {
  shut();
  const [one, other] = [aProjector(), aProjector()];
  await one.start({ organization: acme }, asked);
  await waitUntil(async () => (await other.read({ organization: acme })).running?.state === 'running');
  const put = vi.spyOn(gateway.bus.verifications, 'put');
  const again = await other.start({ organization: acme }, { askedBy: { kind: 'key', id: 'key_1' }, again: true });
  expect(again.running).toMatchObject({ state: 'running', askedBy: ada });
  await one.start({}, asked);
  expect((await one.read({})).running?.state).toBe('waiting');
  expect(put.mock.calls.filter(([, document]) => document.running?.askedBy.id === 'key_1')).toEqual([]);
  open();
  await one.idle();
  expect((await one.read({})).result?.whole).toBe(true);
});

test('the result of the last hour is kept while there are no newer messages', async () => {
  const projector = aProjector();
  const finishedAt = async () => (await projector.read({ organization: acme })).result?.finishedAt;
  const verified = async (again = false) => {
    const { running } = await projector.start({ organization: acme }, { askedBy: ada, again });
    await projector.idle();
    return running !== undefined;
  };
  expect(await verified()).toBe(true);
  const first = await finishedAt();
  gateway.clock.time = new Date(gateway.clock.time.getTime() + 1_000);
  expect(await verified()).toBe(false);
  expect(await finishedAt()).toBe(first);
  expect(await verified(true)).toBe(true);
  gateway.clock.time = new Date(gateway.clock.time.getTime() + hourMs);
  expect(await verified()).toBe(true);
  expect(await verified()).toBe(false);
  const subject = accessSubject(acme, `se_${'b'.repeat(22)}`);
  const time = gateway.clock.time.toISOString();
  await gateway.bus.access.record(
    accessRecord({ id: 'another', organization: acme, jobId: subject.split('.')[2] ?? '', time }),
  );
  await gateway.bus.projected();
  expect(await verified()).toBe(true);
});

test('a failure is shown with its reason, and the result before it stays', async () => {
  const projector = aProjector();
  await projector.start({ organization: acme }, asked);
  await projector.idle();
  let opened = 0;
  const openLogs = async () => {
    opened += 1;
    // The first one is opened to see if there are newer messages.
    if (opened > 1) throw new Error('the stream CONTENT is missing');
    return memoryLogAudit(gateway.bus);
  };
  const failing = aProjector({}, { openLogs });
  await failing.start({ organization: acme }, { askedBy: ada, again: true });
  await failing.idle();
  const { failed, result, running } = await failing.read({ organization: acme });
  expect(running).toBeUndefined();
  expect(failed).toMatchObject({ askedBy: ada, reason: 'the stream CONTENT is missing' });
  expect(result?.whole).toBe(true);
});

test('a mark and a result of a clock that was ahead do not stand for as long as it was ahead', async () => {
  const ahead = 24 * hourMs;
  const set = (ms: number) => (gateway.clock.time = new Date(gateway.clock.time.getTime() + ms));
  shut();
  const dying = aProjector({}, { beatMs: 1_000_000 });
  set(ahead);
  await dying.start({ organization: acme }, asked);
  await waitUntil(async () => (await dying.read({ organization: acme })).running?.state === 'running');
  set(-ahead);
  const next = aProjector();
  const { running } = await next.start({ organization: acme }, asked);
  expect(running?.askedAt).toBe(gateway.clock.time.toISOString());
  open();
  await Promise.all([next.idle(), dying.idle()]);
  set(ahead);
  await next.start({ organization: acme }, { askedBy: ada, again: true });
  await next.idle();
  set(-ahead);
  expect((await next.start({ organization: acme }, asked)).running).toBeDefined();
  await next.idle();
});

test('a projector that stops ends its verification, and one that died is replaced after a minute', async () => {
  shut();
  const stopped = aProjector();
  await stopped.start({ organization: acme }, asked);
  await waitUntil(async () => (await stopped.read({ organization: acme })).running?.state === 'running');
  stop.abort();
  open();
  await stopped.idle();
  expect((await stopped.read({ organization: acme })).failed?.reason).toBe(
    'The projector that verified the logs was stopped.',
  );

  stop = new AbortController();
  shut();
  const dying = aProjector({}, { beatMs: 1_000_000 });
  await dying.start({ organization: acme }, asked);
  await waitUntil(async () => (await dying.read({ organization: acme })).running?.state === 'running');
  gateway.clock.time = new Date(gateway.clock.time.getTime() + 61_000);
  const next = aProjector();
  const { running, failed } = await next.read({ organization: acme });
  expect([running, failed?.reason]).toEqual([undefined, 'The projector that verified the logs has ended.']);
  await next.start({ organization: acme }, asked);
  open();
  await Promise.all([next.idle(), dying.idle()]);
  // The late outcome of the first one is refused, because the other has taken over.
  expect((await next.read({ organization: acme })).result?.askedAt).toBe(gateway.clock.time.toISOString());
});
