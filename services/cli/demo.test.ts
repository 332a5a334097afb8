import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { onLoopback } from '../../test/support/on-loopback.ts';
import { localInstallationSchema } from './connection.ts';
import { askDemo } from './demo.ts';

test('a language model that does not answer is named, and stops nothing', async () => {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/event-stream');
    response.end(
      `data: ${JSON.stringify({ type: 'error', errorText: 'The language model refused the request.' })}\n\n`,
    );
  });
  const { url: baseUrl, close } = await onLoopback(server);
  try {
    const said: string[] = [];
    const local = localInstallationSchema.parse({
      ...{ baseUrl, organization: 'demo', domain: 'demo' },
      ...{ adminKey: 'svc_a', assistantKey: 'svc_dsc_a', operatorToken: 'operator' },
    });
    await askDemo(local, (line = '') => said.push(line));
    expect(said.join('\n')).toMatch(/The language model refused the request\.[^]*BINDERY_MISTRAL_API_KEY/);
  } finally {
    await close();
  }
});
