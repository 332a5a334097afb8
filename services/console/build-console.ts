import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { LRUCache } from 'lru-cache';
import { html, type SafeHtml } from '#shared/docs/render/html.ts';
import { disconnectSignal } from '#shared/http/client-connection.ts';
import { checkForwarded } from '#shared/http/forwarded-address.ts';
import { endSlowClients, headerTimeouts } from '#shared/http/slow-bodies.ts';
import { organizationListSchema, whoamiSchema } from '#shared/interfaces/http/directory.ts';
import { hasRole, type PersonRole } from '#shared/interfaces/http/person-token.ts';
import type { EndedSessions, SessionState } from '#shared/login/ended-sessions.ts';
import { addHealthRoutes, type Health } from '#shared/runtime/health-routes.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { type Clock, randomBase62 } from '#shared/runtime/time-and-ids.ts';
import { accountSignIn, signedOutPath } from './account-sign-in.ts';
import { addAssetRoutes } from './assets.ts';
import { accountsOf, type ConsoleConfig } from './config.ts';
import type { ConsoleForm, ConsoleRoute, Refused, View, Visit } from './page.ts';
import { consoleRoutes } from './console-routes.ts';
import { liveUpdates } from './live.ts';
import { lastOrganization, sentences } from './page-cookies.ts';
import { openPlatform, PlatformRefusal } from './platform.ts';
import {
  type ConsoleSessions,
  consoleSessions,
  type Identity,
  organizationsOf,
  roleIn,
  type Session,
  type SignIn,
} from './sessions.ts';
import { confirmation, sure } from './pieces/confirmation.ts';
import { unlessSilent } from './pieces/part.ts';
import { plainPage, shellPage } from './shell.ts';
import { signInRoutes } from './sign-in.ts';

const mostFormBytes = 256 * 1024;
const longestParameter = 300;
const stalledAfterMs = 90_000;
/** Cache time of the names of organizations, which stand beside each page. */
const keptMs = 3_000;
const mostKept = 1_000;

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Nothing runs but the console's own scripts, no site frames it, and no address of it leaves as a referrer. */
const securityHeaders = {
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};
const pageHeaders = { ...securityHeaders, 'cache-control': 'no-store' };

export type ConsoleParts = { ended: EndedSessions; logger: Logger; clock: Clock; health: Health | undefined };

/** The server of the console with its pages. It does not listen yet. */
export async function buildConsole(config: ConsoleConfig, parts: ConsoleParts): Promise<FastifyInstance> {
  const { ended, logger, clock, health } = parts;
  const loggerInstance: FastifyBaseLogger = logger;
  const { trustProxy } = config;
  const isSecure = config.consoleUrl?.startsWith('https:') === true;
  const accounts = accountsOf(config);
  const sessions = consoleSessions({ ...config, isSecure, grants: accounts?.grants ?? [] }, ended);
  const platform = openPlatform(config, clock);
  const live = liveUpdates(platform, logger);
  const said = sentences(config.sessionSecret, isSecure);
  const last = lastOrganization(isSecure);
  const names = namesBeside();
  const app = Fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: mostFormBytes,
    http: headerTimeouts,
    routerOptions: { maxParamLength: longestParameter, ignoreTrailingSlash: true },
    trustProxy: trustProxy.length === 0 ? false : trustProxy,
    requestIdHeader: false,
    genReqId: () => `con_${randomBase62(22)}`,
    forceCloseConnections: true,
    // Refusals of the framework come before the hooks.
    frameworkErrors: (_error, _request, reply) => void sendMissing(reply.headers(pageHeaders)),
  });
  endSlowClients(app.server, { stalledAfterMs });
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(pageHeaders);
  });
  checkForwarded(app, trustProxy, logger);
  if (health !== undefined) addHealthRoutes(app, 'console', health);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
    done(null, fieldsIn(String(body))),
  );
  addAssetRoutes(app);

  const sendPage = (reply: FastifyReply, status: number, text: string) =>
    reply.code(status).header('content-type', 'text/html; charset=utf-8').send(text);
  /** `session`: a person who signed in, who may have no page but this one. */
  const sendSentence = (
    reply: FastifyReply,
    status: number,
    title: string,
    content: SafeHtml | string,
    session?: Session | SessionState,
  ) =>
    sendPage(
      reply,
      status,
      plainPage(
        title,
        html`<h1>${title}</h1><p>${content}</p><p><a href="/">To the start of the console</a></p>${typeof session === 'object' ? wayOn(session.identity, tokenField(session)) : ''}`,
      ),
    );
  const tokenField = (session: Session): SafeHtml =>
    html`<input type="hidden" name="token" value="${sessions.formToken(session)}">`;

  /** Refuses a form of another site: browsers say where a request comes from. */
  function refuseForeign(request: FastifyRequest): void {
    const { 'sec-fetch-site': site, origin, host } = request.headers;
    const isOwn =
      site === undefined ? origin === undefined || URL.parse(origin)?.host === host : site === 'same-origin';
    if (!isOwn) throw new PlatformRefusal('The form was sent by another site.', { status: 403, code: 'foreign_form' });
  }

  async function signedIn(reply: FastifyReply, signIn: SignIn, to: string): Promise<FastifyReply> {
    const cookie = await sessions.begin(signIn);
    if (cookie !== undefined) return reply.header('set-cookie', cookie).redirect(ownPath(to), 303);
    return sendSentence(
      reply,
      403,
      'Your account is in too many groups',
      'A browser cannot store a session with so many. Ask the people who run the console to give access to fewer groups.',
    );
  }

  /** Ends the sessions of a key that the gateway refuses in any case. */
  async function endIfPossible(session: Session): Promise<void> {
    try {
      await sessions.end(session, 'all');
    } catch (error) {
      logger.warn({ err: error }, 'the end of the sessions of a key could not be stored');
    }
  }

  const askToSignIn = (request: FastifyRequest, reply: FastifyReply) =>
    reply.redirect(`/sign-in?to=${encodeURIComponent(request.method === 'GET' ? request.url : '/')}`, 303);

  app.setErrorHandler(async (error: FastifyError | PlatformRefusal, request, reply) => {
    if (error instanceof PlatformRefusal) {
      const session = await sessions.of(request.raw);
      const isRefused = error.code === 'invalid_key' || error.code === 'expired_key';
      const isOver = isRefused && typeof session === 'object' && session.identity.kind === 'key';
      if (isOver && request.method === 'GET') {
        await endIfPossible(session);
        last.forget(reply);
        return askToSignIn(request, reply.header('set-cookie', sessions.forgotten));
      }
      const status = isRefused ? 404 : error.status >= 400 && error.status < 500 ? error.status : 502;
      // A refused person: the organization does not exist, or the gateway and the console differ in their key or clock. The sentence says which.
      const title = isRefused && !isOver ? 'The platform does not let you in' : (titles[status] ?? refusedTitle);
      return sendSentence(
        reply,
        status,
        title,
        html`${isOver ? 'There is no such page.' : error.message}${error.requestId === undefined ? '' : html` <span class="quiet">Request ${error.requestId}</span>`}`,
        session,
      );
    }
    const status = error.statusCode ?? 500;
    if (status >= 500) logger.error({ err: error, requestId: request.id }, 'a request failed');
    return sendSentence(
      reply,
      status,
      status >= 500
        ? 'This did not work'
        : status === 413
          ? 'The form is too large'
          : 'The browser sent something else than a form',
      status >= 500
        ? html`It is a fault of the console. <span class="quiet">Request ${request.id}</span>`
        : 'Go back and try again.',
    );
  });
  const sendMissing = (reply: FastifyReply, session?: Session | SessionState) =>
    sendSentence(
      reply,
      404,
      titles[404] ?? refusedTitle,
      'Its address may be wrong, or the page belongs to another organization.',
      session,
    );
  const sendUnknown = (reply: FastifyReply) =>
    sendSentence(
      reply.header('retry-after', '10'),
      503,
      'Your session cannot be checked now',
      'Try again in a moment.',
    );
  app.setNotFoundHandler(async (request, reply) => sendMissing(reply, await sessions.of(request.raw)));

  app.get('/', async (request, reply) => {
    const session = await sessions.of(request.raw);
    if (session === 'unknown') return sendUnknown(reply);
    if (session === 'ended') return askToSignIn(request, reply);
    const { identity } = session;
    if (identity.kind === 'person' && identity.isOperator)
      return reply.redirect(await startOfOperator(session, request, reply), 303);
    const [first] = organizationsOf(identity);
    return first === undefined ? sendMissing(reply, session) : reply.redirect(`/o/${first}`, 303);
  });

  signInRoutes(app, {
    platform,
    clock,
    config,
    hasAccounts: accounts !== undefined,
    refuseForeign,
    signedIn,
    sendPage,
  });
  if (accounts !== undefined) accountSignIn(app, { ...accounts, config, isSecure, logger, signedIn, sendSentence });
  for (const which of ['this', 'all'] as const)
    app.post(which === 'this' ? '/sign-out' : '/sign-out/everywhere', async (request, reply) => {
      refuseForeign(request);
      const session = await sessions.of(request.raw);
      if (typeof session === 'object') requireToken(sessions, session, request);
      // The browser forgets the session in any case: the next person at this machine must not have it.
      void reply.header('set-cookie', sessions.forgotten);
      last.forget(reply);
      if (session === 'ended') return reply.redirect('/sign-in', 303);
      try {
        if (session === 'unknown') throw new Error('the ended sessions cannot be read');
        await sessions.end(session, which);
      } catch (error) {
        logger.error({ err: error }, 'a sign-out could not be stored');
        return sendSentence(
          reply,
          503,
          'This browser is signed out',
          'The end of the session could not be stored, so a copy of its cookie elsewhere may still work. Sign in again in a moment, and choose “Sign out everywhere”.',
        );
      }
      const isAccount = session.identity.kind === 'person' && session.identity.isAccount;
      return reply.redirect(isAccount && accounts !== undefined ? signedOutPath : '/sign-in', 303);
    });

  for (const route of consoleRoutes) addRoute(route);
  await app.after();
  return app;

  function addRoute(route: ConsoleRoute): void {
    const url = `${route.of === 'installation' ? '' : '/o/:org'}${route.path === '/' ? '' : route.path}`;
    const isForm = route.kind === 'form' || (route.kind === 'stream' && route.isForm === true);
    const needed = route.role ?? (route.of === 'installation' ? 'operator' : isForm ? 'editor' : 'viewer');
    const guarded =
      (handle: (visit: Visit, session: Session, request: FastifyRequest, reply: FastifyReply) => Promise<unknown>) =>
      async (request: FastifyRequest, reply: FastifyReply) => {
        const session = await sessions.of(request.raw);
        if (session === 'ended')
          return route.kind === 'stream'
            ? sendSentence(reply, 401, 'Sign in first', 'Your session has ended.')
            : askToSignIn(request, reply);
        if (session === 'unknown') return sendUnknown(reply);
        const { org = '', ...given } = request.params as Record<string, string>;
        const role = roleOf(session.identity, org, route);
        const params = route.params.safeParse(given);
        if (role === undefined || !params.success) return sendMissing(reply, session);
        if (!hasRole(role, needed))
          return sendSentence(
            reply,
            403,
            titles[403] ?? refusedTitle,
            `It needs the role ${needed}, and yours is ${role}.`,
            session,
          );
        return await handle(visitOf(session, role, org, params.data, request, reply), session, request, reply);
      };
    if (route.kind === 'page')
      app.get(
        url,
        guarded(async (visit, session, request, reply) => {
          const shown = { ...visit, query: route.query.parse(request.query) };
          // Asked beside the questions of the page, which waits for both.
          if (visit.organization !== '') void names(visit, session);
          return await show(await route.show(shown), shown, session, request, reply);
        }),
      );
    else if (route.kind === 'stream')
      app[route.isForm ? 'post' : 'get'](
        url,
        guarded(async (visit, session, request, reply) => {
          if (route.isForm) checkForm(session, request);
          const read = route.query.safeParse(route.isForm ? request.body : request.query);
          return read.success
            ? await route.follow({ ...visit, query: read.data }, reply, request)
            : sendMissing(reply, session);
        }),
      );
    else
      app.post(
        url,
        guarded((visit, session, request, reply) => act(route, visit, session, request, reply)),
      );
  }

  /** The organization that an operator saw last, or the only one; otherwise the list of all. */
  async function startOfOperator({ identity }: Session, request: FastifyRequest, reply: FastifyReply): Promise<string> {
    const seen = last.of(request);
    if (seen !== undefined) return `/o/${seen}`;
    const asker = { identity, organization: undefined, address: request.ip };
    const asked = { path: '/v1/organizations', query: { limit: 2 } } as const;
    const { organizations } = await platform.ask(asker, asked, organizationListSchema, disconnectSignal(reply.raw));
    const [only, other] = organizations;
    return only === undefined || other !== undefined ? '/organizations' : `/o/${only.id}`;
  }

  function roleOf(identity: Identity, org: string, { of }: ConsoleRoute): PersonRole | undefined {
    if (of !== 'installation') return roleIn(identity, org);
    return identity.kind === 'person' && identity.isOperator ? 'operator' : undefined;
  }

  function visitOf(
    session: Session,
    role: PersonRole,
    org: string,
    params: Record<string, unknown>,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Visit {
    const signal = disconnectSignal(reply.raw);
    const asker = { identity: session.identity, organization: org === '' ? undefined : org, address: request.ip };
    return {
      session,
      role,
      organization: org,
      base: org === '' ? '' : `/o/${org}`,
      params: params as Record<string, string>,
      query: {},
      address: request.url,
      now: clock.now(),
      current: () => clock.now(),
      token: tokenField(session),
      ask: (asked, answer) => platform.ask(asker, asked, answer, signal),
      open: (asked) => platform.open(asker, asked, signal),
      events: () =>
        live.follow(
          {
            asker: { ...asker, organization: org },
            session: session.group,
            lasts: async () => typeof (await sessions.of(request.raw)) === 'object',
          },
          signal,
        ),
    };
  }

  async function show(view: View, visit: Visit, session: Session, request: FastifyRequest, reply: FastifyReply) {
    const { identity } = session;
    const organization = visit.organization === '' ? undefined : await names(visit, session);
    const done = said.taken(request, reply);
    if (organization !== undefined) last.keep(organization.id, request, reply);
    return sendPage(
      reply,
      view.status ?? 200,
      shellPage(view.title, view.content, {
        person: identity.name,
        role: visit.role,
        organization,
        last: last.of(request),
        organizations: organizationsOf(identity),
        isOperator: identity.kind === 'person' && identity.isOperator,
        path: request.url.split('?')[0] ?? '/',
        token: visit.token,
        said: await done,
      }),
    );
  }

  /** Refuses a form that the page of this session did not send. */
  function checkForm(session: Session, request: FastifyRequest): void {
    refuseForeign(request);
    requireToken(sessions, session, request);
  }

  async function act(route: ConsoleForm, visit: Visit, session: Session, request: FastifyRequest, reply: FastifyReply) {
    checkForm(session, request);
    const typed = (request.body ?? {}) as Record<string, string | string[]>;
    const fields = Object.fromEntries(Object.entries(typed).map(([name, value]) => [name, String(value)]));
    const again = async (refusal: PlatformRefusal) => {
      const refused: Refused = { fields, refusal };
      const shown = { ...visit, query: route.page.query.parse({}), refused };
      const view = await route.page.show(shown);
      return await show(
        { ...view, status: refusal.status === 0 ? 502 : refusal.status },
        shown,
        session,
        request,
        reply,
      );
    };
    const parsed = route.fields.safeParse(typed);
    if (!parsed.success)
      return await again(
        new PlatformRefusal('Some fields are missing or wrong.', {
          status: 400,
          code: 'invalid_request',
          fields: parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message })),
        }),
      );
    if (route.asks !== undefined && fields[sure] !== 'yes')
      return await show(
        confirmation(visit, route.asks(visit.params, parsed.data), fields),
        visit,
        session,
        request,
        reply,
      );
    try {
      const outcome = await route.act(visit, parsed.data);
      if (!('to' in outcome)) return await show(outcome, visit, session, request, reply);
      if (outcome.said !== undefined) await said.say(reply, outcome.said);
      return reply.redirect(outcome.to, 303);
    } catch (error) {
      const isAboutForm =
        error instanceof PlatformRefusal && error.code !== 'invalid_key' && error.code !== 'expired_key';
      if (!isAboutForm || error.status === 404) throw error;
      return await again(error);
    }
  }
}

const refusedTitle = 'The platform refused this';
const titles: Readonly<Record<number, string>> = {
  403: 'You may not do this',
  404: 'There is no such page',
  502: 'The platform does not answer',
};

/** A path of the console, for redirects: an address of another site, or one that is not encoded, becomes the start page. */
const ownPath = (to: string): string => (/^\/(?!\/)[\x21-\x5b\x5d-\x7e]*$/.test(to) ? to : '/');

const mostOrganizations = 100;

/** Links to the person's organizations, and the sign-out, for a page that says why there is nothing else to see. */
const wayOn = (identity: Identity, token: SafeHtml): SafeHtml =>
  html`<ul>${organizationsOf(identity)
    .slice(0, mostOrganizations)
    .map(
      (each) => html`<li><a href="/o/${each}">${each}</a></li>`,
    )}</ul><form method="post" action="/sign-out" hx-boost="false"><p>You are signed in as ${identity.name}.</p>${token}<button class="button">Sign out</button></form>`;

function requireToken(sessions: ConsoleSessions, session: Session, request: FastifyRequest): void {
  const { token } = (request.body ?? {}) as { token?: unknown };
  if (typeof token === 'string' && sessions.isFormToken(session, token)) return;
  throw new PlatformRefusal('The form is from another session. Go back, reload the page and send it again.', {
    status: 403,
    code: 'foreign_form',
  });
}

/** The fields of a form; a name that comes several times has a list. */
function fieldsIn(body: string): Record<string, string | string[]> {
  const fields = new URLSearchParams(body);
  const names = [...new Set(fields.keys())];
  return Object.fromEntries(
    names.map((name) => {
      const values = fields.getAll(name);
      return [name, values.length === 1 ? (values[0] ?? '') : values];
    }),
  );
}

type Beside = { id: string; name: string };

/** The name of the organization of a page, for the navigation. While the platform does not tell it, the id takes its place. */
function namesBeside() {
  const kept = new LRUCache<string, Promise<Beside>>({ max: mostKept, ttl: keptMs });
  return (visit: Visit, session: Session): Promise<Beside> => {
    const key = `${session.group} ${visit.organization}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const asked = unlessSilent(visit.ask({ path: '/v1/whoami' }, whoamiSchema)).then((answer) => {
      if (answer !== undefined) return answer.organization;
      kept.delete(key);
      return { id: visit.organization, name: visit.organization };
    });
    kept.set(key, asked);
    asked.catch(() => kept.delete(key));
    return asked;
  };
}
