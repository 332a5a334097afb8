import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pino from 'pino';
import { expect, test, vi } from 'vitest';
import { collectTraces, tracingOf } from './tracing.ts';

// The program runs in its own process, because its tracer stays registered for all code that runs after it.
test('a collector that never answers does not keep a service from stopping', async () => {
  const asked: { isOpen: boolean }[] = [];
  const collector = createServer((request) => {
    const one = { isOpen: true };
    asked.push(one);
    request.socket.once('close', () => {
      one.isOpen = false;
    });
  }).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', endpoint);
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(line) });
  const stop = await collectTraces(['test'], process.env, logger);
  tracingOf('test').start('work').end();
  await stop();
  // The exporter alone would wait until it gives up the request.
  expect(asked).toEqual([{ isOpen: true }]);
  expect(lines.join('')).toContain('the collector did not accept the last spans');
  collector.closeAllConnections();
  collector.close();
});
