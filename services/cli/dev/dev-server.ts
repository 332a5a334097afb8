import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import { contentType } from '#services/docs-host/hosted-types.ts';
import { byteRange } from '#shared/http/byte-range.ts';
import { endSlowClients, headerTimeouts } from '#shared/http/slow-bodies.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { errorCode, messageOf } from '#shared/runtime/failures.ts';
import { browserScript, devFolder, withLiveScript } from './browser-scripts.ts';
import type { DevSite, SiteFile } from './dev-site.ts';
import { assistantConfig } from './assistant-config.ts';
import type { LocalAssistant } from './local-assistant.ts';
import type { DevTabs } from './dev-tabs.ts';

export type DevServer = { url: string; port: number; close(): Promise<void> };

export type ListenOptions = {
  /** The first port to try. */
  port: number;
  /** Address to listen on; by default only this machine. */
  host?: string | undefined;
  /** Answers the questions of readers. Without it, pages have no assistant. */
  assistant?: Pick<LocalAssistant, 'answer'> | undefined;
  /** Told about a request that failed by our own mistake. */
  onError: (error: unknown) => void;
};

const stalledAfterMs = 90_000;
/** Number of ports after the first one that are tried. */
const mostPorts = 100;
const ownNames = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Serves the site and the streams of its open pages. It listens on the first free port; on `localhost` it takes that port of both loopback addresses,
 * because a browser tries both. Rejects if no port is free, or the address is not one of this machine.
 */
export async function devServer(site: DevSite, tabs: DevTabs, options: ListenOptions): Promise<DevServer> {
  const { host, assistant, onError } = options;
  const names = host === undefined ? ownNames : [...ownNames, isIP(host) === 6 ? `[${host}]` : host.toLowerCase()];
  /** Listening on all addresses, each of them is allowed, but no name: a site of somebody else can give its name to any address. */
  const isOpen = host === '0.0.0.0' || host === '::';
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    if (!isAllowed(request.headers.host, names, isOpen)) {
      return plain(
        response,
        403,
        `This host name is not allowed. Open the site at localhost, or name the host by --host.`,
      );
    }
    if (isOfOtherSite(request.headers)) {
      return plain(response, 403, 'A page of another site asks for this file. Open it in the browser itself.');
    }
    if (
      assistant !== undefined &&
      request.method === 'POST' &&
      isOwnPage(request) &&
      assistant.answer(request, response)
    )
      return;
    answer(request, response, site, tabs, assistant !== undefined).catch((error: unknown) => {
      onError(error);
      if (response.headersSent) response.destroy();
      else plain(response, 500, `The request failed: ${messageOf(error)}`);
    });
  };
  const servers = await listen(host === undefined ? ['127.0.0.1', '::1'] : [host], options.port, handle);
  const port = (servers[0]?.address() as AddressInfo | undefined)?.port ?? options.port;
  const name = host === undefined || isOpen ? 'localhost' : isIP(host) === 6 ? `[${host}]` : host;
  return {
    url: `http://${name}:${port}`,
    port,
    async close() {
      tabs.close();
      await Promise.all(servers.map(closeServer));
    },
  };
}

async function listen(
  addresses: readonly string[],
  first: number,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Server[]> {
  for (let port = first; port <= Math.min(first + mostPorts, 65_535); port += 1) {
    const servers: Server[] = [];
    try {
      for (const address of addresses) {
        const server = createServer(headerTimeouts, handle);
        endSlowClients(server, { stalledAfterMs });
        // The second address takes the port that the first one got.
        const wanted = (servers[0]?.address() as AddressInfo | undefined)?.port ?? port;
        await once(server.listen({ host: address, port: wanted, exclusive: true }), 'listening').then(
          () => servers.push(server),
          (error: unknown) => {
            // A machine may have no second loopback address.
            const isMissing = ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(String(errorCode(error)));
            if (!isMissing || address !== '::1') throw error;
          },
        );
      }
      return servers;
    } catch (error) {
      await Promise.all(servers.map(closeServer));
      if (errorCode(error) !== 'EADDRINUSE') throw notListening(error, addresses[0] ?? '', port);
    }
  }
  throw new Error(`Port ${first} and the ${mostPorts} ports after it are in use. Name another one by --port.`);
}

/** The reason why nothing can listen at an address, as a sentence. */
function notListening(error: unknown, address: string, port: number): Error {
  const texts: Readonly<Record<string, string>> = {
    EADDRNOTAVAIL: `${address} is not an address of this machine. Name one of its addresses by --host, or leave the option out.`,
    ENOTFOUND: `The name ${address} has no address. Name an address of this machine by --host, or leave the option out.`,
    EACCES: `Port ${port} needs the rights of an administrator. Name one from 1024 on by --port.`,
  };
  const text = texts[String(errorCode(error))];
  return text === undefined ? new Error(messageOf(error), { cause: error }) : new Error(text, { cause: error });
}

const closeServer = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

/** Refuses names of other sites. A page of another site could otherwise give its name to this address, and read the project. Pure. */
export function isAllowed(host: string | undefined, names: readonly string[], isOpen = false): boolean {
  const name = host?.replace(/:\d+$/, '').toLowerCase();
  if (name === undefined) return false;
  return names.includes(name) || (isOpen && isIP(name.replace(/^\[|\]$/g, '')) !== 0);
}

/**
 * True for a request that a page of another site makes, except the opening of a page, which that site cannot read. Such a page could otherwise include
 * the search index as its own script, and read the words of the project. Browsers name the site at `localhost`; programs name none. Pure.
 */
export function isOfOtherSite(headers: IncomingMessage['headers']): boolean {
  const site = headers['sec-fetch-site'] ?? 'none';
  return site !== 'none' && site !== 'same-origin' && headers['sec-fetch-mode'] !== 'navigate';
}

/** True for requests of pages of this server, and of programs that are no browser. */
function isOwnPage({ headers }: IncomingMessage): boolean {
  return headers.origin === undefined || headers.origin === `http://${headers.host}`;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  site: DevSite,
  tabs: DevTabs,
  hasAssistant: boolean,
): Promise<void> {
  const { method, url = '/' } = request;
  if (method !== 'GET' && method !== 'HEAD') return plain(response, 405, 'Only GET and HEAD are answered.');
  const asked = URL.parse(url, 'http://localhost');
  if (asked === null) return plain(response, 400, 'The address is not a path of the site.');
  const { pathname, searchParams } = asked;
  if (pathname === `/${devFolder}events`) {
    const tab = tabs.add(response, {
      page: searchParams.get('page') ?? undefined,
      target: searchParams.get('target') ?? '/',
      key: searchParams.get('key') ?? '',
    });
    return site.update(tab);
  }
  if (pathname.startsWith(`/${devFolder}`)) {
    const text = await browserScript(pathname.slice(devFolder.length + 1));
    if (text === undefined) return plain(response, 404, 'There is no such script.');
    return send(request, response, { kind: 'file', path: pathname, body: text });
  }
  const file = await site.answer(url);
  const isConfig = hasAssistant && file.kind === 'file' && file.path === '_bindery/config.js';
  return send(
    request,
    response,
    isConfig ? { ...file, body: Buffer.from(file.body).toString() + assistantConfig } : file,
  );
}

function send(request: IncomingMessage, response: ServerResponse, file: SiteFile): void {
  switch (file.kind) {
    case 'refused':
      return plain(response, 400, file.reason);
    case 'redirect':
      response.writeHead(307, { ...headers, location: file.to }).end();
      return;
    case 'missing': {
      const html = file.body === undefined ? waitingPage : Buffer.from(file.body).toString();
      response.writeHead(file.body === undefined ? 503 : 404, { ...headers, 'content-type': htmlType });
      response.end(withLiveScript(html));
      return;
    }
    case 'file':
      return sendFile(request, response, file);
  }
}

/** The last one forbids pages of other sites to include a file, also where the browser does not name the site that asks. */
const headers = {
  'cache-control': 'no-cache',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
};
const htmlType = 'text/html; charset=utf-8';

function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  { path, body, page }: Extract<SiteFile, { kind: 'file' }>,
): void {
  const bytes = Buffer.from(page === undefined ? body : withLiveScript(String(body), page));
  const etag = `"${sha256Of(bytes).slice(0, 24)}"`;
  const about = { ...headers, 'content-type': contentType(path), etag, 'accept-ranges': 'bytes' };
  if (request.headers['if-none-match'] === etag) {
    response.writeHead(304, about).end();
    return;
  }
  // Browsers seek in films only if parts are answered.
  const range = request.method === 'GET' ? byteRange(request.headers.range, bytes.length) : undefined;
  if (range === 'unsatisfiable') {
    response.writeHead(416, { ...headers, 'content-range': `bytes */${bytes.length}` }).end();
    return;
  }
  const { start, end } = range ?? { start: 0, end: bytes.length - 1 };
  response.writeHead(range === undefined ? 200 : 206, {
    ...about,
    'content-length': end - start + 1,
    ...(range !== undefined && { 'content-range': `bytes ${start}-${end}/${bytes.length}` }),
  });
  response.end(request.method === 'HEAD' ? undefined : bytes.subarray(start, end + 1));
}

function plain(response: ServerResponse, status: number, sentence: string): void {
  response.writeHead(status, { ...headers, 'content-type': 'text/plain; charset=utf-8' }).end(`${sentence}\n`);
}

/** Shown while the project has never been readable. Its script shows the reason, and loads the page again when there is a site. */
const waitingPage = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Waiting for docs.json</title></head>
<body><main><h1>There is no site yet</h1><p>The project cannot be read. The page is loaded again when it can.</p></main></body>
</html>
`;
