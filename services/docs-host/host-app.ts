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
import { withoutJsonSchemas } from '#shared/http/without-json-schemas.ts';
import { encodePath, pageAddress } from '#shared/docs/render/bundle-paths.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { allowTools, answerAboutAgents, mcpPath } from './agent-answers.ts';
import {
  contentHeaders,
  fileAnswers,
  isKnown,
  type KeptBy,
  prefersMarkdown,
  revalidated,
  securityHeaders,
} from './answer-file.ts';
import { type AskedPlatform, askedPlatform, type DocsHostConfig } from './config.ts';
import type { EndedSessions } from '#shared/login/ended-sessions.ts';
import { contentFile } from './content-folder.ts';
import { type Asked, findFile } from './find-file.ts';
import { deploymentOf, hostConfigScript } from './host-config-script.ts';
import { configPath, isSearchIndex, mayBeVersioned } from './hosted-types.ts';
import { loginGate } from './login-gate.ts';
import { loginOf, sitesLoginsOf } from './login-settings.ts';
import { addPlatformRoutes, type AskedSite, askedOfSites, isAnswerOfChat, oneAsked } from './platform-proxy.ts';
import { isPageView, referrerOf } from './page-views.ts';
import { previewHeaders } from './preview-note.ts';
import { readerAddresses } from './reader-address.ts';
import { type Gate, pathOf } from './reader-gate.ts';
import type { ServedVersion, ServedVersions } from './served-versions.ts';
import { type ClosedSite, type NamedSites, siteGates } from './site-gates.ts';
import { answerSentence } from './sentence-page.ts';
import type { SiteCounts } from './site-counts.ts';
import type { SitesPlatform } from './sites-settings.ts';
import type { HostedFile, VersionList } from './version-list.ts';
import { DamagedVersion, type VersionLists } from './version-lists.ts';
import { closeSlowest } from './slow-clients.ts';
import { answerWidget, isWidget } from './widget-script.ts';

const mostRemembered = 8_000;
const longestRemembered = 300;
const stalledAfterMs = 90_000;
const keptAliveMs = 75_000;
const mostHeaderBytes = 16 * 1024;

/** A site of the host, with all that answering its requests needs. */
export type HostedSite = ClosedSite & {
  versions: Pick<ServedVersions, 'active' | 'older'>;
  /** Address of the site, for its pages; undefined: that of the bundle. */
  readonly siteUrl: string | undefined;
  readonly isPreview: boolean;
  /** The site of the platform that its pages ask through this host; undefined if they do not ask. */
  readonly asks: AskedSite | undefined;
  /** Caches that may store answers. Shared caches must not, if the site has a login. */
  readonly keptBy: KeptBy;
  /** The identity and host names of the site, if its page views and searches are counted. */
  readonly counted: { site: string; hosts: readonly string[] } | undefined;
  /** Called with the id of a version that is damaged. */
  onDamaged(version: string): void;
};

/** The answer to a request for a host name without a site. */
export type NoSite = { status: 400 | 404 | 421; sentence: string };

/** The sites of a host. */
export type HostedSites = NamedSites & {
  lists: VersionLists;
  /**
   * The site of a request, or the reason why there is none; `login` for the name where readers of all sites return from the provider. An address in the
   * target of the request is replaced by its path.
   */
  at(request: IncomingMessage): HostedSite | NoSite | 'login';
  /** True if health checks are answered only for host names without a site. */
  areNamed: boolean;
  /** The platform that pages of sites ask through this host; undefined: each site has settings of its own. */
  platform?: SitesPlatform;
  /** Counts of the sites whose page views and searches are counted. */
  counts?: SiteCounts;
};

/** A host that serves one site for every request. */
export function oneSite(
  versions: ServedVersions,
  lists: VersionLists,
  { siteUrl, keptBy = 'public' }: { siteUrl?: string | undefined; keptBy?: KeptBy } = {},
): HostedSites {
  // Every byte is checked at the start, so later damage is answered as any other failure.
  const about = { id: '', login: undefined, siteUrl, keptBy, isPreview: false, asks: undefined, counted: undefined };
  const site: HostedSite = { ...about, versions, onDamaged() {} };
  return { lists, at: () => site, areNamed: false, nameOf: () => undefined, named: () => undefined };
}

/** The server of all sites. It answers from their active versions, and does not listen yet. With a login, and for sites of a platform, `ended` is required. */
export function hostApp(
  config: DocsHostConfig,
  sites: HostedSites,
  logger: Logger,
  ended?: EndedSessions,
): FastifyInstance {
  const asksOf = (request: IncomingMessage): AskedSite | undefined => {
    const site = sites.at(request);
    if (site === 'login' || !('versions' in site) || site.asks === undefined) return undefined;
    const { asks, counted } = site;
    const { counts } = sites;
    if (counted === undefined || counts === undefined) return asks;
    return { ...asks, onSearch: (query, isEmpty, reader) => counts.searched(counted.site, query, isEmpty, reader) };
  };
  const loggerInstance: FastifyBaseLogger = logger;
  const { trustProxy, basePath: base } = config;
  const platform = askedPlatform(config);
  const hasHealth = config.healthPort === undefined;
  const answer = siteAnswers(config, sites, platform, logger);
  const failedWidget = (response: ServerResponse, error: unknown): void => {
    logger.error({ err: error }, 'the widget could not be sent');
    response.destroy();
  };
  const gates = sites.areNamed ? gatesOfSites() : undefined;
  const gateOfOne = sites.areNamed ? undefined : loginGate(loginOf(config), ended, logger, platform !== undefined);

  function gatesOfSites() {
    if (ended === undefined) throw new Error('the logins of sites need a store of ended sessions');
    return siteGates(sitesLoginsOf(config), sites, { ended, logger, addressOf: readerAddresses(trustProxy) });
  }
  const app = Fastify({
    ...withoutJsonSchemas,
    // Readers' requests bypass Fastify, whose routing would take as long as the answer.
    serverFactory: (handler) =>
      createServer(
        {
          ...headerTimeouts,
          maxHeaderSize: mostHeaderBytes,
        },
        (request, response) => {
          const site = sites.at(request);
          if (site === 'login') return gates?.atLogin(request, response);
          const isSite = 'versions' in site;
          // Health checks have no account, so they bypass the login.
          if (hasHealth && healthPaths.has(request.url ?? '') && !(isSite && sites.areNamed))
            return handler(request, response);
          if (!isSite) return answerSentence(response, site.status, site.sentence, request);
          if (site.isPreview)
            for (const [name, value] of Object.entries(previewHeaders)) response.setHeader(name, value);
          const isReading = request.method === 'GET' || request.method === 'HEAD';
          // The script has nothing of the site, so it needs no login.
          if (isReading && isWidget(request.url ?? '', base))
            return void answerWidget(request, response, base).catch((error: unknown) => failedWidget(response, error));
          if (pathOf(request) === base + mcpPath) allowTools(request, response);
          const isOfChat =
            (platform !== undefined || site.asks !== undefined) && isAnswerOfChat(pathOf(request).slice(base.length));
          const next =
            isReading && !isOfChat ? () => answer(site, request, response) : () => handler(request, response);
          const gate: Gate | undefined = gates === undefined ? gateOfOne : gates.of(site);
          if (gate === undefined) next();
          else gate(request, response, next);
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
  // Longer than the keep-alive time of usual proxies, so that no proxy sends a request into a closing connection.
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
    addPlatformRoutes(app, oneAsked(platform, base, config.siteUrl));
  }
  if (sites.platform !== undefined) addPlatformRoutes(app, askedOfSites(sites.platform, asksOf));
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

/** A resolved address, with its file if it names one. */
type Resolved = { asked: Asked; file?: HostedFile | undefined };

function siteAnswers(
  config: DocsHostConfig,
  { lists, counts }: HostedSites,
  platform: AskedPlatform | undefined,
  logger: Logger,
) {
  const { basePath: base } = config;
  const answerFile = fileAnswers(config.memoryMegabytes * 1_000_000);
  type MadeScript = { siteUrl: string | undefined; domain: string | undefined; script: Promise<Buffer> };
  const scripts = new WeakMap<VersionList, MadeScript>();
  /** Cache of resolved addresses, by the id of their version. */
  const found = new LRUCache<string, Resolved>({ max: mostRemembered });

  /** Cache of `config.js`, by version, address of the site, and the platform that its pages ask. */
  function configOf({ siteUrl, asks }: HostedSite, version: ServedVersion, list: VersionList): Promise<Buffer> {
    const made = scripts.get(list);
    const asked = asks ?? platform;
    if (made !== undefined && made.siteUrl === siteUrl && made.domain === asked?.domain) return made.script;
    const file = list.file(configPath);
    const read = file === undefined ? Promise.resolve('') : readFile(contentFile(version.content, file.sha256), 'utf8');
    const script = read.then((text) => {
      if (file !== undefined && !version.isChecked && sha256Of(text) !== file.sha256)
        throw new DamagedVersion(version.id, configPath);
      if (platform !== undefined && deploymentOf(text, list.manifest, config) === 'air-gapped')
        logger.warn(
          'BINDERY_ASK_KEY is set, but the bundle was exported as "air-gapped": its pages call no server. For search and assistant set BINDERY_SITE_DEPLOYMENT=client-hosted, or export it with that deployment type.',
        );
      return Buffer.from(hostConfigScript(text, list.manifest, { ...config, siteUrl }, asked));
    });
    scripts.set(list, { siteUrl, domain: asked?.domain, script });
    // A failure is not cached, because it may be temporary, such as too many open files.
    script.catch(() => scripts.delete(list));
    return script;
  }

  return (site: HostedSite, request: IncomingMessage, response: ServerResponse): void => {
    // The request is answered from this version to the end, even if another becomes active meanwhile.
    const version = site.versions.active();
    const failed = (error: unknown): void => {
      if (error instanceof DamagedVersion) site.onDamaged(error.version);
      if (isGone(request)) return;
      logger.error({ err: error }, 'a file could not be sent');
      if (response.headersSent) response.destroy();
      else if (error instanceof DamagedVersion) answerLater(request, response, 'This site is being repaired.');
      else answerSentence(response, 500, 'Something went wrong here.', request);
    };
    try {
      answer(site, version, request, response)?.catch(failed);
    } catch (error) {
      failed(error);
    }
  };

  function answerLater(request: IncomingMessage, response: ServerResponse, sentence: string): void {
    const { url = '/' } = request;
    response.setHeader('retry-after', '10');
    answerSentence(response, 503, `${sentence} Try again in a minute.`, request, ownPath.test(url) ? url : `${base}/`);
  }

  function answer(
    site: HostedSite,
    version: ServedVersion | undefined,
    request: IncomingMessage,
    response: ServerResponse,
  ): void | Promise<void> {
    if (version === undefined) {
      const asked = findFile(request.url ?? '/', { base, ...emptySite });
      if (asked.kind === 'refused') return answerSentence(response, 400, asked.reason, request);
      return answerLater(request, response, 'There is no version of this site here yet.');
    }
    const list = lists.of(version);
    return list instanceof Promise
      ? list.then((read) => answerFrom(site, version, read, request, response))
      : answerFrom(site, version, list, request, response);
  }

  function answerFrom(
    site: HostedSite,
    version: ServedVersion,
    list: VersionList,
    request: IncomingMessage,
    response: ServerResponse,
  ): void | Promise<void> {
    const { url = '/' } = request;
    const { keptBy } = site;
    const { asked, file } = resolved(url, version, list);
    if (isAnsweredForAgents(site, url, file !== undefined, request, response)) return;
    switch (asked.kind) {
      case 'refused':
        return answerSentence(response, 400, asked.reason, request);
      case 'redirect':
        return redirect(response, asked, list, keptBy);
      case 'versioned':
        return answerVersioned(asked, file, site, version, list, request, response);
      case 'file':
        if (file !== undefined) return answerAsked(asked.path, file, site, version, list, request, response);
        return answerMissing(site, version, list, request, response);
      case 'missing':
        if (url !== '/favicon.ico') return answerMissing(site, version, list, request, response);
        // Browsers request it on sites without an icon, so its absence is not a broken link.
        response.writeHead(204, { ...securityHeaders, 'cache-control': `${keptBy}, max-age=86400` }).end();
    }
  }

  /** Answers addresses about the endpoint for agents, on a site whose pages ask through this host. */
  function isAnsweredForAgents(
    { asks, siteUrl, login }: HostedSite,
    url: string,
    hasFile: boolean,
    request: IncomingMessage,
    response: ServerResponse,
  ): boolean {
    const asked = asks ?? platform;
    const path = url.split('?')[0] ?? '';
    if (asked === undefined || !path.startsWith(`${base}/`)) return false;
    const at = siteUrl ?? `http://${request.headers.host ?? 'localhost'}${base}`;
    const loginKind = login?.kind ?? (config.login === 'none' ? undefined : config.login);
    const described = { name: asked.domain, url: at.replace(/\/+$/, ''), login: loginKind };
    return answerAboutAgents(path.slice(base.length), hasFile, described, request, response);
  }

  function resolved(url: string, version: ServedVersion, list: VersionList): Resolved {
    const key = `${version.id} ${url}`;
    const before = found.get(key);
    if (before !== undefined) return before;
    const asked = findFile(url, { ...list, base });
    const next: Resolved = {
      asked,
      file: asked.kind === 'file' ? list.file(asked.path) : asked.kind === 'versioned' ? named(asked, list) : undefined,
    };
    // Addresses of missing files are not cached, because anybody can invent them.
    const isThere = asked.kind === 'redirect' || next.file !== undefined;
    if (isThere && url.length <= longestRemembered) found.set(key, next);
    return next;
  }

  function answerVersioned(
    asked: Extract<Asked, { kind: 'versioned' }>,
    file: HostedFile | undefined,
    site: HostedSite,
    version: ServedVersion,
    list: VersionList,
    request: IncomingMessage,
    response: ServerResponse,
  ): void | Promise<void> {
    const { path } = asked;
    const { keptBy } = site;
    const answer = { caching: 'immutable', keptBy } as const;
    if (file !== undefined) return answerFile(request, response, { version, path, file }, answer);
    const older = mayBeVersioned(path) ? site.versions.older() : [];
    if (older.length === 0) return otherwise();
    return findIn(older, asked).then((found) =>
      found === undefined ? otherwise() : answerFile(request, response, { ...found, path }, answer),
    );

    function otherwise(): void | Promise<void> {
      // Scripts of earlier bundles request the index this way; only the index of the active version exists.
      if (isSearchIndex(path) && list.has(path))
        return redirect(
          response,
          { kind: 'redirect', to: `${base}/${encodePath(path)}`, permanent: false },
          list,
          keptBy,
        );
      return answerMissing(site, version, list, request, response);
    }
  }

  /** The file in the first of these versions that has it. A version that cannot be read has none. */
  async function findIn(versions: readonly ServedVersion[], asked: Extract<Asked, { kind: 'versioned' }>) {
    for (const version of versions) {
      const list = await Promise.resolve(lists.of(version)).catch(() => undefined);
      const file = list && named(asked, list);
      if (file !== undefined) return { version, file };
    }
    return undefined;
  }

  function answerAsked(
    path: string,
    file: HostedFile,
    site: HostedSite,
    version: ServedVersion,
    list: VersionList,
    request: IncomingMessage,
    response: ServerResponse,
  ): void | Promise<void> {
    const { keptBy } = site;
    if (path === configPath)
      return configOf(site, version, list).then((script) => answerScript(script, request, response, keptBy));
    const twin =
      path.endsWith('.html') && prefersMarkdown(request.headers) ? `${path.slice(0, -'.html'.length)}.md` : undefined;
    const markdown = twin === undefined ? undefined : list.file(twin);
    const { contentVersion } = list.manifest;
    const answer = { caching: 'revalidate', contentVersion, keptBy } as const;
    if (twin !== undefined && markdown !== undefined)
      return answerFile(request, response, { version, path: twin, file: markdown }, answer);
    const answered = answerFile(request, response, { version, path, file }, answer);
    const { counted } = site;
    if (counted === undefined || counts === undefined || !file.isPage || !isPageView(request)) return answered;
    const onAnswered = (): void => {
      if (response.statusCode !== 200 && response.statusCode !== 304) return;
      counts.viewed(counted.site, pageAddress(path.slice(0, -'.html'.length)), referrerOf(request, counted.hosts));
    };
    if (answered === undefined) return onAnswered();
    return answered.then(onAnswered);
  }

  function answerMissing(
    { keptBy }: HostedSite,
    version: ServedVersion,
    list: VersionList,
    request: IncomingMessage,
    response: ServerResponse,
  ): void | Promise<void> {
    const file = list.file('404.html');
    if (file === undefined) return answerSentence(response, 404, 'There is no such page.', request);
    const found = { version, path: '404.html', file };
    const { contentVersion } = list.manifest;
    return answerFile(request, response, found, { status: 404, caching: 'revalidate', contentVersion, keptBy });
  }
}

/** A version without files. */
const emptySite = { has: () => false, redirect: () => undefined, wildcard: () => undefined };

/** The file for an address that names bytes: by the file's own digest, or by the token of a version. */
function named({ digest, path }: Extract<Asked, { kind: 'versioned' }>, list: VersionList): HostedFile | undefined {
  const file = mayBeVersioned(path) ? list.file(path) : undefined;
  return file !== undefined && (file.digest === digest || list.token === digest) ? file : undefined;
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
  { manifest: { contentVersion } }: VersionList,
  keptBy: KeptBy,
): void {
  // Permanent redirects also change with the site, so browsers ask again after an hour.
  const caching = permanent ? `${keptBy}, max-age=3600` : revalidated[keptBy];
  response
    .writeHead(permanent ? 308 : 307, {
      ...securityHeaders,
      ...contentHeaders(contentVersion),
      location: to,
      'cache-control': caching,
      'content-length': 0,
    })
    .end();
}
