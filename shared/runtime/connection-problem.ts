import { errorCode, messageOf } from './failures.ts';

/** OpenSSL error codes for a certificate that no authority trusted by Node has signed. */
const untrustedCodes = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/;
const noTlsCodes = new Set(['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG']);

/**
 * The reason why a server cannot be reached, as the end of a sentence without a full stop. For an untrusted certificate it names the
 * variable to set: by default `NODE_EXTRA_CA_CERTS`, else the setting of the certificate file for this server only. Pure.
 */
export function connectionProblem(error: unknown, authoritiesVariable = 'NODE_EXTRA_CA_CERTS'): string {
  const causes = causesOf(error);
  const codes = causes.map((each) => errorCode(each) ?? '');
  if (codes.some((code) => noTlsCodes.has(code))) return 'it does not speak TLS';
  const said = messageOf(causes.at(-1))
    // Removes Node's own advice, which is about its command line.
    .replace(/; if the root CA is installed locally.*$/, '')
    .replace(/\.$/, '');
  if (codes.some((code) => untrustedCodes.test(code)))
    return `its certificate is not trusted (${said}). If your own authority signed it, set ${authoritiesVariable} to a file with the certificates (PEM) of that authority`;
  return said || codes.find((code) => code !== '') || 'no connection';
}

/** An error and its causes, outermost first. */
function causesOf(error: unknown): unknown[] {
  const causes = [error];
  for (let cause = error; cause instanceof Error && cause.cause !== undefined; cause = cause.cause) {
    if (causes.includes(cause.cause)) break;
    causes.push(cause.cause);
  }
  return causes;
}
