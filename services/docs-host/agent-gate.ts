import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '#shared/runtime/telemetry.ts';
import type { oidcProvider } from '#shared/login/oidc-provider.ts';
import { answerJson, mcpPath } from './agent-answers.ts';
import { type OidcLogin } from './login-settings.ts';
import { mayRead } from './may-read.ts';
import { type Gate, pathOf } from './reader-gate.ts';

const metadataPath = '/.well-known/oauth-protected-resource';

/** The endpoint of a site whose readers log in at a provider. */
type AgentEndpoint = {
  /** Path of the site. */
  base: string;
  /** The origin under which a request reaches the site. */
  originAt: (request: IncomingMessage) => string;
  /** The readers who may read. */
  rules: Pick<OidcLogin, 'groups' | 'emailDomains'>;
  /** Scopes that the login of readers asks for. */
  scopes: string;
  provider: Pick<ReturnType<typeof oidcProvider>, 'accountOfToken' | 'issuer' | 'onUnreachable'>;
  logger: Logger;
};

/**
 * The login of agents at the endpoint of a site, as the authorization of the Model Context Protocol has it: the endpoint is a protected resource of OAuth,
 * which names the provider in its metadata (RFC 9728), and takes access tokens that the provider issued for its address, for readers who may read the site.
 * Without a token, `others` decides, as for a page of the site.
 */
export function agentGate(endpoint: AgentEndpoint, others: Gate) {
  const { base, originAt, rules, provider, logger } = endpoint;
  const path = base + mcpPath;
  // Refresh tokens are a matter between client and provider.
  const scopes = endpoint.scopes.split(' ').filter((scope) => scope !== '' && scope !== 'offline_access');
  const resourceOf = (request: IncomingMessage): string => originAt(request) + path;

  function refuse(request: IncomingMessage, response: ServerResponse, error?: string): void {
    const parts = {
      ...(error !== undefined && { error: 'invalid_token', error_description: `The token ${error}` }),
      resource_metadata: `${originAt(request)}${metadataPath}${path}`,
      scope: scopes.join(' '),
    };
    const challenge = Object.entries(parts).map(([name, value]) => `${name}="${value.replaceAll(/["\\]/g, '')}"`);
    answerJson(
      request,
      response,
      401,
      error === undefined
        ? { error: 'Agents need an access token of the login of this site.', code: 'missing_token' }
        : { error: `The token ${error}.`, code: 'invalid_token' },
      { 'www-authenticate': `Bearer ${challenge.join(', ')}` },
    );
  }

  async function describe(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const described = {
      resource: resourceOf(request),
      authorization_servers: [await provider.issuer()],
      scopes_supported: scopes,
      bearer_methods_supported: ['header'],
    };
    answerJson(request, response, 200, described, { 'access-control-allow-origin': '*' });
  }

  async function check(
    token: string,
    request: IncomingMessage,
    response: ServerResponse,
    letIn: () => void,
  ): Promise<void> {
    const account = await provider.accountOfToken(token, resourceOf(request));
    if (request.socket.destroyed) return;
    if ('refused' in account) {
      logger.info(`a token of an agent ${account.refused}`);
      return refuse(request, response, account.refused);
    }
    if (mayRead(account, rules)) return letIn();
    logger.info({ reader: account.sub }, 'a reader with a token is in no group and no domain that may read');
    const error = 'The account of this token may not read this site.';
    answerJson(request, response, 403, { error, code: 'access_denied' });
  }

  const gate: Gate = (request, response, letIn) => {
    const asked = pathOf(request);
    const failed = (error: unknown): void => {
      provider.onUnreachable(error);
      if (response.headersSent || request.socket.destroyed) return void response.destroy();
      const said = { error: 'The login cannot be reached now. Try again later.', code: 'unavailable' };
      answerJson(request, response, 503, said, { 'retry-after': '10' });
    };
    const isReading = request.method === 'GET' || request.method === 'HEAD';
    if (isReading && (asked === metadataPath + path || asked === metadataPath))
      return void describe(request, response).catch(failed);
    // A browser sends the preflight of a request without its token.
    if (asked === path && request.method === 'OPTIONS') return letIn();
    const token = asked === path ? bearerOf(request) : undefined;
    if (token === undefined) others(request, response, letIn);
    else check(token, request, response, letIn).catch(failed);
  };

  return {
    gate,
    /** Refuses a request for the endpoint that `others` does not let in. False for other requests. */
    refuses(request: IncomingMessage, response: ServerResponse): boolean {
      if (pathOf(request) !== path) return false;
      refuse(request, response);
      return true;
    },
  };
}

const bearerOf = ({ headers: { authorization = '' } }: IncomingMessage): string | undefined =>
  /^Bearer +(\S*)$/i.exec(authorization)?.[1];
