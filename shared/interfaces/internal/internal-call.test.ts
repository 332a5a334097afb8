import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import pino from 'pino';
import { afterEach, expect, test } from 'vitest';
import { testCaller } from '../../../test/support/make-commit.ts';
import { serviceMetrics } from '#shared/runtime/metrics.ts';
import { type Caller, callerHeader } from './caller.ts';
import { linkSigner } from './link-signer.ts';
import { toApiError } from '#shared/http/errors.ts';
import { callService } from './internal-client.ts';
import { answerCall, internalApp, serviceTokenHeader } from './internal-server.ts';

const serviceToken = 'the-service-token-of-tests';
const jobId = `se_${'a'.repeat(22)}`;

let app: FastifyInstance;
afterEach(() => app.close());

/** A link-signer that records its callers. */
function noting(callers: Caller[]): FastifyInstance {
  app = internalApp('link-signer', {
    callerTokens: { gateway: serviceToken },
    logger: pino({ level: 'silent' }),
    checks: {},
    draining: () => false,
    metrics: serviceMetrics('test'),
  });
  answerCall(app, linkSigner.signLink, async ({ caller }) => {
    callers.push(caller);
    return { body: { jobId, bundleUrl: 'x', expiresAt: 'x', sizeBytes: 1, sha256: 'x' } };
  });
  return app;
}

const callAs = (caller: object) =>
  app.inject({
    method: 'POST',
    url: linkSigner.signLink.path,
    headers: { [serviceTokenHeader]: serviceToken, [callerHeader]: JSON.stringify(caller) },
    payload: { jobId },
  });

test('a call of an older gateway, without the organization whose groups count, is answered', async () => {
  const callers: Caller[] = [];
  noting(callers);
  const { trustedGroups: _, ...older } = testCaller;
  expect((await callAs(older)).statusCode).toBe(200);
  expect(callers).toEqual([{ ...testCaller, trustedGroups: [] }]);
});

test('an unreadable caller is not reported as an error of the client', async () => {
  const callers: Caller[] = [];
  noting(callers);
  const answer = await callAs({ ...testCaller, organizationPlan: 'unheard-of' });
  expect([answer.statusCode, answer.json().code]).toEqual([500, 'internal']);
  expect(callers).toEqual([]);
});

test.each<[string, (reply: FastifyReply) => unknown, string]>([
  ['that is not as declared', () => ({ url: 'of an older form' }), 'internal'],
  ['that is no JSON', () => '<html>', 'internal'],
  ['that breaks off', breakOff, 'unavailable'],
])('an answer %s is not reported as an error of the client', async (_name, reply, code) => {
  app = Fastify();
  app.post(linkSigner.signLink.path, (_request, to) => reply(to));
  const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 });
  const answer = await callService(
    linkSigner.signLink,
    { baseUrl, serviceToken },
    { caller: testCaller, signal: new AbortController().signal, body: { jobId } },
  );
  const error = await answer.json().catch((thrown: unknown) => thrown);
  expect(toApiError(error).code).toBe(code);
});

function breakOff(reply: FastifyReply): FastifyReply {
  reply.hijack();
  reply.raw.writeHead(200, { 'content-length': '100' });
  reply.raw.write('{', () => reply.raw.destroy());
  return reply;
}
