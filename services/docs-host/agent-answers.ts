import type { IncomingMessage, ServerResponse } from 'node:http';
import { isOriginOf } from '#shared/http/own-origin.ts';
import { programVersion } from '#shared/runtime/program-version.ts';
import { securityHeaders } from './answer-file.ts';

/** Path of the endpoint for agents (MCP), below the path of the site. */
export const mcpPath = '/mcp';

const longestAge = 3_600;

/**
 * Lets a tool for developers on the reader's own machine, which is a page of another origin, read the answers of the endpoint. Other pages get no such header.
 */
export function allowTools({ headers: { origin } }: IncomingMessage, response: ServerResponse): void {
  response.setHeader('vary', 'Origin');
  if (origin === undefined || !isOriginOf(origin, [])) return;
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-expose-headers', 'www-authenticate, retry-after, ratelimit, ratelimit-policy');
}

/** Headers of the answer to a preflight of the endpoint. Clients send headers of the protocol and of their own. */
export const preflightHeaders = ({ headers }: Pick<IncomingMessage, 'headers'>): Record<string, string> => ({
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers':
    headers['access-control-request-headers'] ?? 'authorization, content-type, mcp-protocol-version',
  'access-control-max-age': String(longestAge),
});

/** A site that answers agents. `url`: its address without a slash at the end. `login`: the kind of login in front of it. */
type AgentSite = { name: string; url: string; login: string | undefined };

/**
 * Answers a GET or HEAD about the endpoint for agents: its description, or the refusal of the stream that it does not have. False for other addresses,
 * and for those where the site has a file, unless a client asks for the stream. `path`: below the path of the site.
 */
export function answerAboutAgents(
  path: string,
  hasFile: boolean,
  site: AgentSite,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  if (path === mcpPath) {
    const wantsStream = /text\/event-stream/.test(request.headers.accept ?? '');
    if (hasFile && !wantsStream) return false;
    const error = 'This address answers agents (Model Context Protocol) and accepts only POST.';
    answerJson(request, response, 405, { error, code: 'method_not_allowed' }, { allow: 'POST' });
    return true;
  }
  const described = hasFile ? undefined : descriptionsOf(site)[path];
  if (described === undefined) return false;
  // Descriptions are for programs of any origin.
  answerJson(request, response, 200, described, { 'access-control-allow-origin': '*' });
  return true;
}

/** The descriptions by their paths, in the form that clients of documentation sites look for, and as the card of a server. */
function descriptionsOf({ name, url, login }: AgentSite): Readonly<Record<string, object>> {
  const endpoint = url + mcpPath;
  const authentication = login === undefined ? 'none' : login === 'password' ? 'basic' : 'oauth2';
  const server = {
    name: login === undefined ? 'public' : 'authenticated',
    url: endpoint,
    transport: 'http',
    authentication,
  };
  const found = { version: '1.0.0', transport: 'http', url: endpoint, servers: [server] };
  const card = {
    name: `${reversed(url)}/docs`,
    title: name,
    description: `The documentation of ${name}: search, pages and navigation.`.slice(0, 100),
    version: programVersion,
    websiteUrl: url,
    remotes: [{ type: 'streamable-http', url: endpoint }],
  };
  return {
    '/.well-known/mcp': found,
    '/.well-known/mcp.json': found,
    '/.well-known/mcp/server-card.json': card,
    '/.well-known/mcp/server-cards.json': { servers: [card] },
    '/mcp/server-card': card,
  };
}

/** The name of a host with its parts reversed, as cards name their owners: `docs.acme.com` → `com.acme.docs`. */
const reversed = (url: string): string => (URL.parse(url)?.hostname ?? 'localhost').split('.').toReversed().join('.');

/** Answers with JSON. A refused body is not read, so its connection ends. */
export function answerJson(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  const text = Buffer.from(JSON.stringify(body));
  const hasBody = request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined;
  response
    .writeHead(status, {
      ...securityHeaders,
      ...headers,
      'content-type': 'application/json; charset=utf-8',
      'content-length': text.length,
      'cache-control': status === 200 ? `private, max-age=${longestAge}` : 'no-store',
      ...(hasBody && { connection: 'close' }),
    })
    .end(request.method === 'HEAD' ? undefined : text);
}
