import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apiClient } from '#services/cli/api-client.ts';
import { askQuestion } from '#services/cli/commands/ask.ts';
import { whenSearched } from '#services/cli/publish-project.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { startInstallation, type TestInstallation } from '../support/start-installation.ts';
import { type CollectedSpan, startTraceCollector } from '../support/start-trace-collector.ts';

const ownDocumentation = join(import.meta.dirname, '../../infra/docs');

describeWithServers(['nats-server'], 'traces of an installation with a collector', () => {
  let collector: Awaited<ReturnType<typeof startTraceCollector>>;
  let harness: TestInstallation;
  let contentVersion: string;

  beforeAll(async () => {
    collector = await startTraceCollector();
    harness = await startInstallation({ environment: collector.environment });
    ({ contentVersion } = await harness.publish(ownDocumentation));
  });
  afterAll(async () => {
    await harness?.stop();
    await collector?.stop();
  });

  const lines = (spans: readonly CollectedSpan[]): string[] =>
    [...new Set(spans.map(({ service, name }) => `${service}: ${name}`))].sort();

  /** Returns the trace with a span `name` once it has exactly these lines: each service sends its spans at its own time. */
  async function wholeTrace(name: string, expected: readonly string[]): Promise<CollectedSpan[]> {
    const trace = () => {
      const traceId = collector.spans.find((span) => span.name === name)?.traceId;
      return collector.spans.filter((span) => span.traceId === traceId);
    };
    await expect.poll(() => lines(trace())).toEqual(expected);
    return trace();
  }

  test('an export is one trace, from the request over each chunk to the bundle', async () => {
    const { job } = await harness.exportSite();
    const spans = await wholeTrace('export', [
      'bindery-bundler: join bundle',
      'bindery-gateway: POST /v1/static-export/jobs',
      'bindery-orchestrator: export',
      'bindery-orchestrator: plan',
      'bindery-page-renderer: render chunk',
      'bindery-page-renderer: render closing files',
    ]);
    const root = spans.find(({ parentSpanId }) => parentSpanId === '');
    const others = spans.filter((span) => span !== root);
    expect(root).toMatchObject({ name: 'POST /v1/static-export/jobs' });
    expect(others.every(({ parentSpanId }) => parentSpanId === root?.spanId)).toBe(true);
    expect(others.every(({ attributes }) => attributes['bindery.jobId'] === job.jobId)).toBe(true);
    const chunks = others.filter(({ name }) => name === 'render chunk');
    expect(new Set(chunks.map(({ attributes }) => attributes['bindery.taskId'])).size).toBe(chunks.length);
    expect(spans.some(({ isFailed }) => isFailed)).toBe(false);
  });

  test('a question is one trace, from the request to the last token', async () => {
    await whenSearched(harness.admin, harness.domain, contentVersion);
    const reader = apiClient(harness.installation.baseUrl, harness.assistantKey);
    await askQuestion(reader, harness.domain, 'What is a bundle?');
    const spans = await wholeTrace('POST /discovery/v2/assistant/:domain/message', [
      'bindery-assistant: POST /internal/message',
      'bindery-assistant: answer',
      'bindery-assistant: search',
      'bindery-gateway: POST /discovery/v2/assistant/:domain/message',
    ]);
    const whole = spans.find(({ service }) => service === 'bindery-gateway') as CollectedSpan;
    const answer = spans.find(({ name }) => name === 'answer') as CollectedSpan;
    expect(answer.startNanos > whole.startNanos && answer.endNanos < whole.endNanos).toBe(true);
    expect(answer.attributes).toMatchObject({ 'bindery.domain': harness.domain, 'bindery.finishReason': 'stop' });
  });
});
