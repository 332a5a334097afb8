import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import type { SiteViewsBody } from '#shared/interfaces/http/site-views.ts';
import { namesLoginsHeader, type ServedLogin, type ServedSite } from '#shared/interfaces/http/sites.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { byteRange } from '#shared/http/byte-range.ts';
import { onLoopback } from './on-loopback.ts';
import type { PiecedBundle } from './pieced-bundle.ts';

/** Key that the platform of tests accepts. */
const sitesKey = `svc_site_${'a'.repeat(36)}`;

export type Deployed = {
  /** Host names; by default `<domain>.localhost`, for a preview `<label>--<domain>.localhost`. */
  hosts?: string[];
  organization?: string;
  domain?: string;
  label?: string;
  liveSince?: string;
  /** Optional features of the site; none by default. */
  offers?: Pick<ServedSite, 'assistant' | 'counts'>;
  login?: ServedLogin;
  /** Protocol and port of its address; by default those of a host on its usual port. */
  at?: { protocol: 'http' | 'https'; port: number };
  bundle: Buffer;
  /** The pieces of the bundle, and the SHA-256 of its manifest, if the platform lists them. */
  pieces?: PiecedBundle['pieces'] | undefined;
  manifestSha256?: string | undefined;
};

/** Interval of comments, for hosts that give up a silent feed after a second. */
const heartbeatMs = 200;

/** A question of a reader, as the platform got it. */
type Question = { path: string; headers: IncomingHttpHeaders; body: unknown };

/** Handler of a test, which runs before that of the platform. */
type LinkAnswer = (served: ServedSite, response: ServerResponse) => 'answered' | undefined;

/**
 * A platform as hosts of many sites see it: the feed of sites, links and bundles (shared/interfaces/http/sites.ts). Tests deploy to it and inject
 * faults.
 */
export async function sitesPlatform() {
  const sites = new Map<string, ServedSite>();
  const bundles = new Map<string, Buffer>();
  /** The lists of pieces, and the SHA-256s of the manifests, by the SHA-256 of the bundle. */
  const pieceLists = new Map<string, { list: string; manifestSha256: string }>();
  let sentBytes = 0;
  const feeds = new Set<ServerResponse>();
  const requests: string[] = [];
  const questions: Question[] = [];
  const batches: SiteViewsBody[] = [];
  let deployments = 0;
  const state = {
    /** Answer of the feed instead of its events. */
    feed: undefined as ((response: ServerResponse) => void) | undefined,
    /** Answer to a request for a link, or for a bundle. */
    link: undefined as LinkAnswer | undefined,
    bundle: undefined as LinkAnswer | undefined,
    /** Changes the bytes of an answer with a range, or the list of pieces. */
    changed: (bytes: Buffer): Buffer => bytes,
    changedList: (list: string): string => list,
    /** False: ranges are ignored. */
    hasRanges: true,
    /** Answer to questions of readers. */
    found: '[]',
    /** Status of the answer to batches, instead of taking them. */
    views: undefined as number | undefined,
    /** False: no comments are sent, and new connections get no events. */
    isSilent: false,
    /** True: a platform of an earlier version, without logins of sites. */
    isOlder: false,
  };
  const send = (to: ServerResponse, event: string, data: object): void =>
    void to.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  const broadcast = (event: string, data: object): void => {
    if (!state.isSilent) for (const feed of feeds) send(feed, event, data);
  };

  async function answer(
    { method = '', url: path = '', headers }: IncomingMessage,
    body: () => Promise<unknown>,
    response: ServerResponse,
  ) {
    if (method === 'GET' && path === '/v1/sites/feed') {
      if (state.feed !== undefined) return state.feed(response);
      response.writeHead(200, {
        'content-type': 'text/event-stream',
        ...(state.isOlder ? {} : { [namesLoginsHeader]: '1' }),
      });
      response.write(': hello\n\n');
      feeds.add(response);
      response.once('close', () => feeds.delete(response));
      if (state.isSilent) return undefined;
      for (const { login, ...served } of sites.values())
        send(response, 'site', state.isOlder || login === undefined ? served : { ...served, login });
      return send(response, 'whole', {});
    }
    if (method === 'POST' && path === '/v1/sites/links') {
      const { site, jobId } = (await body()) as { site: string; jobId: string };
      const served = sites.get(site);
      if (served === undefined || served.jobId !== jobId)
        return void response.writeHead(404).end('{"error":"There is no such deployment.","code":"not_found"}');
      if (state.link?.(served, response) === 'answered') return undefined;
      const { sha256, sizeBytes } = served;
      const bundleUrl = `${listening.url}/bundles/${site}/${sha256}`;
      const listed = pieceLists.get(sha256);
      const pieces = listed && {
        url: `${listening.url}/pieces/${sha256}`,
        sha256: sha256Of(listed.list),
        manifestSha256: listed.manifestSha256,
      };
      const link = { jobId, bundleUrl, expiresAt: '2030-01-01T00:00:00.000Z', sizeBytes, sha256, pieces };
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(link));
    }
    if (path.startsWith('/v1/sites/readers/') && path.endsWith('/stream')) {
      questions.push({ path, headers, body: method });
      if (method === 'DELETE') return void response.writeHead(204).end();
      return void response.writeHead(200, { 'content-type': 'text/event-stream' }).end('id: 1\ndata: [DONE]\n\n');
    }
    if (method === 'POST' && path.startsWith('/v1/sites/readers/')) {
      questions.push({ path, headers, body: await body() });
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(state.found);
    }
    if (method === 'POST' && path === '/v1/sites/views') {
      if (state.views !== undefined) return void response.writeHead(state.views).end('{"error":"No.","code":"no"}');
      batches.push((await body()) as SiteViewsBody);
      return void response.writeHead(200, { 'content-type': 'application/json' }).end('{"accepted":1,"refused":0}');
    }
    const listed = pieceLists.get(/^\/pieces\/([0-9a-f]+)$/.exec(path)?.[1] ?? '');
    if (listed !== undefined) return void response.end(state.changedList(listed.list));
    const [, name = '', sha256 = ''] = /^\/bundles\/(.+)\/([0-9a-f]+)$/.exec(path) ?? [];
    const served = sites.get(name);
    const bundle = bundles.get(sha256);
    if (served === undefined || bundle === undefined) return void response.writeHead(404).end();
    if (state.bundle?.(served, response) === 'answered') return undefined;
    const range = state.hasRanges ? byteRange(headers.range, bundle.length) : undefined;
    if (range !== undefined && range !== 'unsatisfiable') {
      const { start, end } = range;
      sentBytes += end - start + 1;
      const contentRange = `bytes ${start}-${end}/${bundle.length}`;
      return void response
        .writeHead(206, { 'content-range': contentRange, etag: `"${sha256}"` })
        .end(state.changed(bundle.subarray(start, end + 1)));
    }
    sentBytes += bundle.length;
    return void response.writeHead(200, { 'content-length': bundle.length }).end(bundle);
  }

  let comments = 0;
  const beat = setInterval(() => {
    if (state.isSilent) return;
    comments += 1;
    for (const feed of feeds) feed.write(': still here\n\n');
  }, heartbeatMs);
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    requests.push(`${method} ${url}`);
    if (!/^\/(bundles|pieces)\//.test(url) && headers.authorization !== `Bearer ${sitesKey}`) {
      response.writeHead(401).end('{"error":"This key is not valid.","code":"unauthenticated"}');
      return;
    }
    answer(request, () => json(request), response).catch(() => response.destroy());
  });
  const listening = await onLoopback(server);

  return {
    url: listening.url,
    /** Methods and paths of all requests. */
    requests,
    questions,
    /** Batches of page views and searches that it has taken. */
    batches,
    downloads: (): number => requests.filter((each) => each.startsWith('GET /bundles/')).length,
    /** Bytes of bundles that were sent. */
    sentBytes: (): number => sentBytes,
    state,
    sites,
    /** Settings of a host that serves the sites of this platform. */
    env: { BINDERY_SITES: 'platform', BINDERY_PLATFORM_URL: listening.url, BINDERY_SITES_KEY: sitesKey },
    /** Makes a bundle the live one of a site or preview, and announces it in the feed. */
    deploy(deployed: Deployed): ServedSite {
      const { organization = 'acme', domain = 'docs', label, bundle, hosts, liveSince, login, offers } = deployed;
      const { pieces, manifestSha256 } = deployed;
      const { protocol, port } = deployed.at ?? { protocol: 'http', port: 8090 };
      deployments += 1;
      const sha256 = sha256Of(bundle);
      bundles.set(sha256, bundle);
      if (pieces !== undefined && manifestSha256 !== undefined)
        pieceLists.set(sha256, { list: JSON.stringify({ version: 1, pieces }), manifestSha256 });
      const name = label === undefined ? domain : `${label}--${domain}`;
      const all = hosts ?? [`${name}.localhost`];
      const site = [organization, domain, ...(label === undefined ? [] : [label])].join('/');
      const served: ServedSite = {
        site,
        organization,
        domain,
        ...(label !== undefined && { label }),
        address: `${protocol}://${all[0]}:${port}`,
        hosts: all,
        deployment: deployments,
        jobId: `se_${String(deployments).padStart(22, '0')}`,
        contentVersion: `cv_${sha256.slice(0, 32)}`,
        sha256,
        sizeBytes: bundle.length,
        liveSince: liveSince ?? new Date().toISOString(),
        ...offers,
        ...(login !== undefined && { login }),
      };
      sites.set(site, served);
      broadcast('site', served);
      return served;
    },
    /** Changes the login of a site, without a new version. */
    setLogin(site: string, login: ServedLogin | undefined): void {
      const { login: _, ...served } = sites.get(site) ?? {};
      const changed = { ...served, ...(login !== undefined && { login }) } as ServedSite;
      sites.set(site, changed);
      broadcast('site', changed);
    },
    end(site: string): void {
      sites.delete(site);
      broadcast('gone', { site });
    },
    /** Writes text into each connection of the feed. */
    write(text: string): void {
      for (const feed of feeds) feed.write(text);
    },
    /** Ends the connections of the feed. */
    dropFeeds(): void {
      for (const feed of feeds) feed.destroy();
    },
    connections: () => feeds.size,
    /** Number of comments that were sent. */
    comments: () => comments,
    close(): Promise<void> {
      clearInterval(beat);
      return listening.close();
    },
  };
}

export type SitesPlatform = Awaited<ReturnType<typeof sitesPlatform>>;
