import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { localInstallationSchema } from './connection.ts';
import { askDemo } from './demo.ts';

test('a language model that does not answer is named, and stops nothing', async () => {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/event-stream');
    response.end(
      `data: ${JSON.stringify({ type: 'error', errorText: 'The language model refused the request.' })}\n\n`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const said: string[] = [];
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const local = localInstallationSchema.parse({
      ...{ baseUrl, organization: 'demo', domain: 'demo' },
      ...{ adminKey: 'svc_a', assistantKey: 'svc_dsc_a', operatorToken: 'operator' },
    });
    await askDemo(local, (line = '') => said.push(line));
    expect(said.join('\n')).toMatch(/The language model refused the request\.[^]*BINDERY_MISTRAL_API_KEY/);
  } finally {
    server.close();
  }
});
