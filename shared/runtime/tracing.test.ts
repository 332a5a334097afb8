import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { collectedTraceId, newTraceparent, traceparentOf, traceRequests, tracingOf } from './tracing.ts';

const parent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const tracing = tracingOf('test');

test('without a collector a trace is passed on unchanged', async () => {
  expect(tracing.start('work', { parent }).traceparent).toBe(parent);
  expect(await tracing.inSpan('work', { parent }, async (span) => span.traceparent)).toBe(parent);
});

test.each(['00-00000000000000000000000000000000-00f067aa0ba902b7-01', 'nonsense', '', undefined])(
  'the parent %j begins a new trace, which nobody collects',
  (wrong) => {
    const { traceparent } = tracing.start('work', { parent: wrong });
    expect(traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(tracing.start('work', { parent: wrong }).traceparent).not.toBe(traceparent);
    expect(collectedTraceId(traceparent)).toBeUndefined();
  },
);

test('logs name traces that are collected', () => {
  expect(collectedTraceId(parent)).toBe('4bf92f3577b34da6a3ce929d0e0e4736');
  expect(collectedTraceId(newTraceparent())).toBeUndefined();
});

test('a span does not change the failure of its work', async () => {
  const failing = tracing.inSpan('work', {}, () => Promise.reject(new Error('no')));
  await expect(failing).rejects.toThrow('no');
});

test('a request has the trace that its client sends; probes have none', async () => {
  const app = Fastify();
  traceRequests(app, tracing);
  const seen: string[] = [];
  app.get('/thing', async (request) => seen.push(traceparentOf(request)));
  await app.inject({ url: '/thing', headers: { traceparent: parent } });
  await app.inject({ url: '/thing', headers: { traceparent: 'nonsense' } });
  expect(seen).toEqual([parent, expect.stringMatching(/-00$/)]);
  await app.close();
});
