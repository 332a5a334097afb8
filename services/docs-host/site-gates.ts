import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { ServedLogin } from '#shared/interfaces/http/sites.ts';
import { loginHostOf, originOf } from '#shared/interfaces/http/sites-base.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { agentGate } from './agent-gate.ts';
import { basicGate } from './basic-gate.ts';
import {
  answerLate,
  answerNotAllowed,
  answerUnreachable,
  attemptSeconds,
  browserLogin,
  isAt,
  isForPage,
  redirectReader,
} from './browser-login.ts';
import { type EndedSessions, newSession, type ReaderSession } from '#shared/login/ended-sessions.ts';
import type { SitesLogins } from './login-settings.ts';
import { mayRead } from './may-read.ts';
import { type Attempt, oidcProvider } from '#shared/login/oidc-provider.ts';
import { type PasswordChecks, passwordChecks } from './password-checks.ts';
import { answerUnopened, endSession, type Gate, isOpened, sessionGate } from './reader-gate.ts';
import { openedValues, type Sealer, sealer } from '#shared/login/sealed-values.ts';
import { answerSentence } from './sentence-page.ts';

/** A site or preview with a login. */
export type ClosedSite = {
  /** Identity of the site in the feed. */
  readonly id: string;
  /** Address of the site. All its host names have the same protocol and port. */
  readonly siteUrl: string | undefined;
  readonly login: ServedLogin | undefined;
  /** Present if the site answers agents. */
  readonly asks?: object | undefined;
};

/** Finds the sites of a host by name, and the host names of requests. */
export type NamedSites = {
  nameOf(request: IncomingMessage): string | undefined;
  named(host: string): ClosedSite | undefined;
};

type Rules<K extends ServedLogin['kind']> = Extract<ServedLogin, { kind: K }>;

/** A login in progress, sealed in the `state`. It is bound to a cookie of the site's host name and to the site. */
type SiteAttempt = Attempt & { site: string; host: string; browser: string; returnTo: string };

/** Proof for a site that a reader may read, which the common login address hands over in an address. */
type Ticket = { id: string; reader: string; host: string; browser: string; returnTo: string };

const loginPath = '/_bindery/login';
const ticketSeconds = 60;
const mostTickets = 50_000;

/**
 * The logins in front of the sites of a platform. Each site has its own rules, and sessions of one site open no other. Logins at the provider share one
 * address for all sites (`login.<base>`), because providers know each redirect address: it exchanges the code, applies the rules of the site, and hands
 * the reader over with a ticket for that site, which lasts a minute, is taken once by each replica, and only from the browser that began the login.
 */
export function siteGates(
  { provider: account, sessionSecret, sessionHours }: SitesLogins,
  sites: NamedSites,
  { ended, logger, addressOf, checks = passwordChecks() }: GateTools,
) {
  const gates = new WeakMap<ClosedSite, { login: ServedLogin; rules: string; gate: Gate }>();
  const opened = openedValues(20_000);
  const usedTickets = new LRUCache<string, true>({ max: mostTickets, ttl: ticketSeconds * 2_000 });
  const sessionSeconds = sessionHours * 3_600;
  const accounts = account && accountsOf(account);

  /** The parts of logins at the provider that all sites share. */
  function accountsOf({ settings, base }: NonNullable<typeof account>) {
    const client = clientOf(settings);
    return {
      provider: oidcProvider(settings, logger),
      scopes: settings.scopes,
      redirectUri: originOf(base, loginHostOf(base)) + loginPath,
      attempts: sealer<SiteAttempt>(sessionSecret, `docs-host login of sites ${client}`, openedValues(1)),
      placeOf: (site: ClosedSite, rules: Rules<'oidc'>): string => `${client} ${rulesOf(site, rules)}`,
    };
  }

  function passwordGate(site: ClosedSite, { users }: Rules<'password'>): Gate {
    const hashes = new Map(users.map(({ name, hash }) => [name, hash]));
    const sealers = new Map<string, Sealer<ReaderSession>>();
    const { isSecure } = placeOf(site);
    return basicGate(
      {
        sealerOf(name) {
          const hash = hashes.get(name);
          if (hash === undefined) return undefined;
          const known = sealers.get(name);
          if (known !== undefined) return known;
          // The purpose has the hash of the password, so a new password ends sessions. Knowing the hash is not enough to make a session.
          const purpose = `docs-host reader ${JSON.stringify([site.id, name, hash])}`;
          const made = sealer<ReaderSession>(sessionSecret, purpose, opened);
          sealers.set(name, made);
          return made;
        },
        prove: (name, password, request) =>
          checks.prove({ site: site.id, address: addressOf(request), name, password, hash: hashes.get(name) }),
      },
      {
        cookie: `${isSecure ? '__Host-' : ''}bindery_reader`,
        base: '',
        isSecure,
        sessionHours,
        group: organizationOf(site),
      },
      ended,
      logger,
    );
  }

  function accountGate(site: ClosedSite, rules: Rules<'oidc'>): Gate {
    if (accounts === undefined)
      return closedGate(
        'This site needs a login that its host does not offer. Tell the people who run the site: its host has no provider of accounts.',
      );
    const { provider, attempts, redirectUri } = accounts;
    const place = accounts.placeOf(site, rules);
    const browsers = browserLogin({ base: '', isSecure: placeOf(site).isSecure });
    const { logoutPath, sessionCookie } = browsers;
    const sessions = sealer<ReaderSession>(sessionSecret, `docs-host session of ${place}`, opened);

    async function begin(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const host = sites.nameOf(request);
      if (host === undefined) return answerLate(request, response, '/');
      const attempt = provider.newAttempt();
      const { digest, cookie } = browsers.newBrowser(request);
      const bound = { ...attempt, site: site.id, host, browser: digest, returnTo: browsers.returnTo(request) };
      const state = await attempts.seal(bound, attemptSeconds);
      redirectReader(response, await provider.loginAddress(attempt, redirectUri, state), [cookie]);
    }

    /** Handles the reader's return from the common login address. */
    async function enter(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const sealed = new URL(request.url ?? '/', 'http://host').searchParams.get('ticket') ?? '';
      const ticket = await ticketsOf(place).open(sealed);
      const isOwn =
        ticket !== undefined &&
        ticket.host === sites.nameOf(request) &&
        browsers.isBrowser(request, ticket.browser) &&
        !usedTickets.has(ticket.id);
      if (!isOwn) return answerLate(request, response, '/');
      usedTickets.set(ticket.id, true);
      const session = await sessions.seal(
        newSession(ticket.reader, sessionSeconds, Date.now(), organizationOf(site)),
        sessionSeconds,
      );
      redirectReader(response, ticket.returnTo, [browsers.setSession(session, sessionSeconds)]);
    }

    async function logout(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const session = await sessions.shown(request, sessionCookie);
      if (session !== undefined && !(await endSession(session, ended, logger, request, response, logoutPath))) return;
      redirectReader(response, (await provider.logoutAddress()) ?? '/', [browsers.endSession()]);
    }

    async function stop(request: IncomingMessage, response: ServerResponse): Promise<void> {
      if (isAt(request, loginPath)) await enter(request, response);
      else if (isAt(request, logoutPath)) {
        if (isOpened(request)) await logout(request, response);
        else answerUnopened(request, response, logoutPath);
      } else if (isForPage(request)) await begin(request, response);
      else if (site.asks === undefined || !agents.refuses(request, response))
        answerSentence(response, 401, 'Log in to read this site.', request, '/');
    }

    const readers = sessionGate(
      { sessions, cookie: sessionCookie, ended, base: '', ownPaths: [loginPath, logoutPath] },
      (request, response) =>
        stop(request, response).catch((error: unknown) => {
          provider.onUnreachable(error);
          answerUnreachable(request, response, '/');
        }),
    );
    const originAt = (request: IncomingMessage): string => placeOf(site).originAt(sites.nameOf(request) ?? '');
    const agents = agentGate({ base: '', originAt, rules, scopes: accounts.scopes, provider, logger }, readers);
    return (request, response, letIn) => (site.asks === undefined ? readers : agents.gate)(request, response, letIn);
  }

  const ticketsOf = (place: string) => sealer<Ticket>(sessionSecret, `docs-host ticket for ${place}`, openedValues(1));

  /** Handles the return of a reader of any site from the provider. */
  async function handOver(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (accounts === undefined) return answerSentence(response, 404, 'There is no site at this address.', request);
    const { provider, attempts, redirectUri } = accounts;
    if (request.method !== 'GET' || !isAt(request, loginPath))
      return answerSentence(response, 404, 'This address is only for the login of sites.', request);
    const back = new URL(redirectUri);
    back.search = new URL(request.url ?? '/', redirectUri).search;
    const state = back.searchParams.get('state') ?? '';
    const attempt = await attempts.open(state);
    if (attempt === undefined)
      return answerSentence(response, 400, 'This login took too long. Open the site again.', request);
    const site = sites.named(attempt.host);
    const rules = site?.login;
    // The target is the address of a site that this host serves, so no open redirect is possible.
    if (site === undefined || site.id !== attempt.site || rules?.kind !== 'oidc')
      return answerSentence(response, 400, 'The site of this login has changed. Open it again.', request);
    const origin = placeOf(site).originAt(attempt.host);
    const reader = await provider.accountAt(back, attempt, state);
    if ('status' in reader)
      return answerSentence(response, reader.status, reader.sentence, request, origin + attempt.returnTo);
    if (!mayRead(reader, rules)) {
      logger.info({ reader: reader.sub, site: site.id }, 'a reader is in no group and no domain that may read');
      return answerNotAllowed(request, response, `${origin}/_bindery/logout`);
    }
    const { host, browser, returnTo } = attempt;
    const ticket = { id: randomBytes(16).toString('hex'), reader: reader.sub, host, browser, returnTo };
    const sealed = await ticketsOf(accounts.placeOf(site, rules)).seal(ticket, ticketSeconds);
    redirectReader(response, `${origin}${loginPath}?ticket=${sealed}`);
  }

  function gateFor(site: ClosedSite, login: ServedLogin): Gate {
    if (login.kind === 'password') return passwordGate(site, login);
    if (login.kind === 'oidc') return accountGate(site, login);
    return closedGate('This site is closed, because its access rules cannot be read.');
  }

  return {
    /** The login that a site currently has; undefined if everybody may read. */
    of(site: ClosedSite): Gate | undefined {
      const { login } = site;
      if (login === undefined) return undefined;
      const known = gates.get(site);
      if (known?.login === login) return known.gate;
      // Each event of the feed has a new object, even if the rules are the same.
      const rules = JSON.stringify([site.siteUrl, login]);
      const gate = known?.rules === rules ? known.gate : gateFor(site, login);
      gates.set(site, { login, rules, gate });
      return gate;
    },
    /** Answers at the common login address. */
    atLogin: (request: IncomingMessage, response: ServerResponse): void =>
      void handOver(request, response).catch((error: unknown) => {
        accounts?.provider.onUnreachable(error);
        if (response.headersSent) return void response.destroy();
        response.setHeader('retry-after', '10');
        answerSentence(response, 503, 'The login cannot be reached now. Open the site again later.', request);
      }),
  };
}

export type GateTools = {
  ended: EndedSessions;
  logger: Logger;
  /** The address of a reader, under which wrong passwords count. */
  addressOf: (request: IncomingMessage) => string;
  checks?: PasswordChecks;
};

const closedGate =
  (sentence: string): Gate =>
  (request, response) => {
    response.setHeader('retry-after', '60');
    answerSentence(response, 503, sentence, request);
  };

function placeOf({ siteUrl }: ClosedSite) {
  const url = URL.parse(siteUrl ?? '');
  return {
    isSecure: url?.protocol === 'https:',
    originAt: (host: string): string => `${url?.protocol ?? 'https:'}//${host}${url?.port ? `:${url.port}` : ''}`,
  };
}

/** The organization of a site: the first part of its identity. */
const organizationOf = ({ id }: ClosedSite): string => id.slice(0, Math.max(0, id.indexOf('/')));

const clientOf = ({ issuer, clientId, groupsClaim }: { issuer: URL; clientId: string; groupsClaim: string }): string =>
  JSON.stringify([issuer.href, clientId, groupsClaim]);

/** A site and its rules as text, to which sessions are bound: a change of the rules ends them. */
const rulesOf = ({ id }: ClosedSite, { groups, emailDomains }: Rules<'oidc'>): string =>
  JSON.stringify([id, groups.toSorted(), emailDomains.toSorted()]);
