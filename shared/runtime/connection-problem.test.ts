import { expect, test } from 'vitest';
import { connectionProblem } from './connection-problem.ts';

const coded = (message: string, code: string) => Object.assign(new Error(message), { code });
const unverified = coded(
  'unable to verify the first certificate; if the root CA is installed locally, try running Node.js with --use-system-ca',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
);

test('a certificate that is not trusted says which variable names the authority, also as a cause', () => {
  const sentence =
    'its certificate is not trusted (unable to verify the first certificate). If your own authority signed it, set NODE_EXTRA_CA_CERTS to a file with the certificates (PEM) of that authority';
  expect(connectionProblem(unverified)).toBe(sentence);
  expect(connectionProblem(new TypeError('fetch failed', { cause: unverified }))).toBe(sentence);
  expect(connectionProblem(unverified, 'BINDERY_REDIS_CA_FILE')).toContain('set BINDERY_REDIS_CA_FILE to a file');
});

test('a server without TLS is named as such, without the words of OpenSSL', () => {
  const noise = coded('40AD41ED1E7F0000:error:0A00010B:SSL routines:\n', 'ERR_SSL_WRONG_VERSION_NUMBER');
  expect(connectionProblem(new TypeError('fetch failed', { cause: noise }))).toBe('it does not speak TLS');
});

test('anything else is the first reason', () => {
  const refused = coded('connect ECONNREFUSED 127.0.0.1:1', 'ECONNREFUSED');
  expect(connectionProblem(new Error('away', { cause: refused }))).toBe('connect ECONNREFUSED 127.0.0.1:1');
  expect(connectionProblem(coded('', 'ECONNRESET'))).toBe('ECONNRESET');
  expect(connectionProblem('gone.')).toBe('gone');
});
