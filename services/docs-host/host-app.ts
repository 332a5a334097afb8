import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { readFile } from 'node:fs/promises';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { LRUCache } from 'lru-cache';
import { checkForwarded } from '#shared/http/forwarded-address.ts';
import { endSlowClients, headerTimeouts } from '#shared/http/slow-bodies.ts';
import { encodePath } from '#shared/docs/render/bundle-paths.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { fileAnswers, isKnown, type KeptBy, prefersMarkdown, revalidated, securityHeaders } from './answer-file.ts';
import { type AskedPlatform, askedPlatform, type DocsHostConfig } from './config.ts';
import type { EndedSessions } from './ended-sessions.ts';
import { type Asked, findFile } from './find-file.ts';
import { deploymentOf, hostConfigScript } from './host-config-script.ts';
import { configPath, isSearchIndex, mayBeVersioned } from './hosted-types.ts';
import { loginGate } from './login-gate.ts';
import { loginOf } from './login-settings.ts';
import { addPlatformRoutes } from './platform-proxy.ts';
import { fileOf } from './prepared-site.ts';
import type { ServedVersion, ServedVersions } from './served-versions.ts';
import { answerSentence } from './sentence-page.ts';
import { closeSlowest } from './slow-clients.ts';

const mostRemembered = 2_000;
const longestRemembered = 300;
const stalledAfterMs = 90_000;
const keptAliveMs = 75_000;
const mostHeaderBytes = 16 * 1024;

/** The site's server. It answers from the active version of `versions`, and does not listen yet. With a login, `ended` is required. */
export function hostApp(
  config: DocsHostConfig,
  versions: ServedVersions,
  logger: Logger,
  ended?: EndedSessions,
): FastifyInstance {
  const loggerInstance: FastifyBaseLogger = logger;
  const { trustProxy, basePath: base } = config;
  const platform = askedPlatform(config);
  const hasHealth = config.healthPort === undefined;
  const answer = siteAnswers(config, versions, platform, logger);
  const gate = loginGate(loginOf(config), ended, logger);
  const app = Fastify({
    // Readers' requests bypass Fastify, whose routing would take as long as the answer.
    serverFactory: (handler) =>
      createServer(
        {
          ...headerTimeouts,
          maxHeaderSize: mostHeaderBytes,
        },
        (request, response) => {
          // Health checks have no account, so they bypass the login.
          if (hasHealth && healthPaths.has(request.url ?? '')) return handler(request, response);
          const isReading = request.method === 'GET' || request.method === 'HEAD';
          const next = isReading ? answer : handler;
          if (gate === undefined) next(request, response);
          else gate(request, response, () => next(request, response));
        },
      ),
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: trustProxy.length === 0 ? false : trustProxy,
    requestIdHeader: false,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // Fastify rejects paths that it cannot parse; the host answers them.
    frameworkErrors: (_error, request, reply) => {
      reply.hijack();
      answerSentence(reply.raw, 400, 'The address cannot be read.', request.raw);
    },
  });
  const server: Server = app.server;
  // The keep-alive time is longer than that of proxies, so that no proxy sends a request into a closing connection.
  server.keepAliveTimeout = keptAliveMs;
  closeSlowest(server);
  endSlowClients(server, { stalledAfterMs });
  checkForwarded(app, trustProxy, logger);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.setErrorHandler((error: Error & { statusCode?: number }, request, reply) => {
    const status = error.statusCode ?? 500;
    if (status >= 500) request.log.error({ err: error }, 'a request failed');
    if (reply.raw.headersSent) reply.raw.destroy();
    else {
      reply.hijack();
      answerSentence(reply.raw, status, status >= 500 ? 'Something went wrong here.' : error.message, request.raw);
    }
  });
  if (platform !== undefined) {
    addPlatformRoutes(app, platform, base, config.siteUrl === undefined ? undefined : new URL(config.siteUrl).origin);
  }
  // Other methods are refused before their body is read.
  const onRequest = async ({ raw }: FastifyRequest, reply: FastifyReply): Promise<void> =>
    refuseMethod(raw, reply.hijack().raw);
  app.setNotFoundHandler({ preValidation: onRequest }, () => {});
  app.all('/*', { onRequest }, () => {});
  return app;
}

function refuseMethod(request: IncomingMessage, response: ServerResponse): void {
  response.setHeader('allow', 'GET, HEAD');
  answerSentence(response, 405, 'This site can only be read: use GET or HEAD.', request);
}

/** A path on this site; `//` and `/\\` lead to another host. */
const ownPath = /^\/(?![/\\])/;

/** Health paths, used if health has no port of its own. */
const healthPaths: ReadonlySet<string> = new Set(['/livez', '/readyz']);

const isGone = (request: IncomingMessage): boolean => request.socket.destroyed || request.destroyed;

function siteAnswers(
  config: DocsHostConfig,
  versions: ServedVersions,
  platform: AskedPlatform | undefined,
  logger: Logger,
) {
  const { basePath: base } = config;
  // Behind a login, no shared cache may store an answer.
  const keptBy = loginOf(config).kind === 'none' ? 'public' : 'private';
  const answerFile = fileAnswers(config.memoryMegabytes * 1_000_000, keptBy);
  const scripts = new WeakMap<ServedVersion, Promise<Buffer>>();
  /** Cache of resolved addresses for each version. */
  const found = new WeakMap<ServedVersion, LRUCache<string, Asked>>();

  /** `config.js`, made once for each version. */
  function configOf(version: ServedVersion): Promise<Buffer> {
    const made = scripts.get(version);
    if (made !== undefined) return made;
    const file = version.paths.get(configPath);
    const read = file === undefined ? Promise.resolve('') : readFile(fileOf(version.folder, configPath, file), 'utf8');
    const script = read.then((text) => {
      if (platform !== undefined && deploymentOf(text, version.site.manifest, config) === 'air-gapped')
        logger.warn(
          'BINDERY_ASK_KEY is set, but the bundle was exported as "air-gapped": its pages call no server. For search and assistant set BINDERY_SITE_DEPLOYMENT=client-hosted, or export it with that deployment type.',
        );
      return Buffer.from(hostConfigScript(text, version.site.manifest, config, platform));
    });
    scripts.set(version, script);
    // A failure is not cached, because it may be temporary, such as too many open files.
    script.catch(() => scripts.delete(version));
    return script;
  }

  return (request: IncomingMessage, response: ServerResponse): void => {
    const failed = (error: unknown): void => {
      if (isGone(request)) return;
      logger.error({ err: error }, 'a file could not be sent');
      if (response.headersSent) response.destroy();
      else answerSentence(response, 500, 'Something went wrong here.', request);
    };
    try {
      answer(request, response)?.catch(failed);
    } catch (error) {
      failed(error);
    }
  };

  function answer(request: IncomingMessage, response: ServerResponse): void | Promise<void> {
    const { url = '/' } = request;
    // The request is answered from this version to the end, even if another becomes active meanwhile.
    const version = versions.active();
    const asked = find(url, version);
    if (asked.kind === 'refused') return answerSentence(response, 400, asked.reason, request);
    if (version === undefined) {
      response.setHeader('retry-after', '10');
      const sentence = 'There is no version of this site here yet. Try again in a minute.';
      return answerSentence(response, 503, sentence, request, ownPath.test(url) ? url : `${base}/`);
    }
    if (asked.kind === 'missing' && url === '/favicon.ico') {
      // Browsers request it on sites without an icon, so its absence is not a broken link.
      response.writeHead(204, { ...securityHeaders, 'cache-control': `${keptBy}, max-age=86400` }).end();
      return;
    }
    return answerAsked(asked, version, request, response);
  }

  function find(url: string, version: ServedVersion | undefined): Asked {
    const known = version && (found.get(version) ?? new LRUCache<string, Asked>({ max: mostRemembered }));
    const before = known?.get(url);
    if (before !== undefined) return before;
    const asked = findFile(url, {
      base,
      has: (path) => version?.paths.has(path) ?? false,
      redirects: version?.site.redirects ?? {},
      isPermanent: version?.isPermanent ?? (() => false),
      wildcard: version?.wildcard ?? (() => undefined),
    });
    // Addresses of missing pages are not cached, because anybody can invent them.
    if (version !== undefined && known !== undefined && asked.kind !== 'missing' && url.length <= longestRemembered) {
      found.set(version, known.set(url, asked));
    }
    return asked;
  }

  function answerAsked(
    asked: Asked,
    version: ServedVersion,
    request: IncomingMessage,
    response: ServerResponse,
  ): void | Promise<void> {
    if (asked.kind === 'redirect') return redirect(response, asked, keptBy);
    if (asked.kind === 'versioned') {
      const { digest, path } = asked;
      const found = mayBeVersioned(path) ? versions.find(digest, path) : undefined;
      if (found !== undefined) return answerFile(request, response, { ...found, path }, { caching: 'immutable' });
      // Scripts of earlier bundles request the index this way; only the index of the active version exists.
      if (isSearchIndex(path) && version.paths.has(path))
        return redirect(response, { kind: 'redirect', to: `${base}/${encodePath(path)}`, permanent: false }, keptBy);
    }
    if (asked.kind === 'file') {
      const { path } = asked;
      const file = version.paths.get(path);
      if (path === configPath)
        return configOf(version).then((script) => answerScript(script, request, response, keptBy));
      const twin =
        path.endsWith('.html') && prefersMarkdown(request.headers) ? `${path.slice(0, -'.html'.length)}.md` : undefined;
      const markdown = twin === undefined ? undefined : version.paths.get(twin);
      if (twin !== undefined && markdown !== undefined)
        return answerFile(request, response, { version, path: twin, file: markdown }, { caching: 'revalidate' });
      if (file !== undefined) return answerFile(request, response, { version, path, file }, { caching: 'revalidate' });
    }
    const page = version.paths.get('404.html');
    if (page === undefined) return answerSentence(response, 404, 'There is no such page.', request);
    return answerFile(
      request,
      response,
      { version, path: '404.html', file: page },
      { status: 404, caching: 'revalidate' },
    );
  }
}

function answerScript(body: Buffer, request: IncomingMessage, response: ServerResponse, keptBy: KeptBy): void {
  const name = sha256Of(body).slice(0, 16);
  const known = request.headers['if-none-match'];
  const headers = {
    ...securityHeaders,
    etag: `"${name}"`,
    'cache-control': revalidated[keptBy],
    'content-type': 'text/javascript; charset=utf-8',
  };
  if (known !== undefined && isKnown(known, name)) response.writeHead(304, headers).end();
  else
    response
      .writeHead(200, { ...headers, 'content-length': body.length })
      .end(request.method === 'HEAD' ? undefined : body);
}

function redirect(
  response: ServerResponse,
  { to, permanent }: Extract<Asked, { kind: 'redirect' }>,
  keptBy: KeptBy,
): void {
  // Permanent redirects also change with the site, so browsers ask again after an hour.
  const caching = permanent ? `${keptBy}, max-age=3600` : revalidated[keptBy];
  response
    .writeHead(permanent ? 308 : 307, {
      ...securityHeaders,
      location: to,
      'cache-control': caching,
      'content-length': 0,
    })
    .end();
}
