import { z } from 'zod';
import { actorSchema } from '#shared/contracts/commit.ts';
import { publicationSourceSchema } from '#shared/contracts/publication-source.ts';
import { deploymentSchema, siteName } from '#shared/aggregates/site/site.ts';
import {
  emailDomain,
  mostReaders,
  mostRules,
  protectedSites,
  readerGroup,
  readerName,
} from '#shared/aggregates/site/site-login.ts';
import {
  contentLabel,
  contentVersion,
  domainSlug,
  hostName,
  jobId,
  organizationId,
  sha256Hex,
  timestamp,
} from '#shared/contracts/identifiers.ts';
import { longestPassword, passwordHash, shortestPassword } from '#shared/http/password-hash.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';

const mostHosts = 20;

/**
 * A host name that a site can claim: parts of 1 to 63 letters, digits and dashes, the last one beginning with a letter, so that it cannot be an IP
 * address. Names with other letters are written in their form for DNS (`xn--…`), so each name has one spelling.
 */
const ownHost = z
  .string()
  .max(253)
  .regex(
    /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
    'must be a host name such as docs.acme.com, in lower case and without a port',
  );

/** `all`: the live site and its previews; `previews`: its previews alone. */
const protects = z.enum(protectedSites);
const wantsProtection = protects.default('all');

/** The login of a site in `PUT /v1/domains/{domain}/site`. */
const wantedLoginSchema = z.discriminatedUnion('kind', [
  /** Everybody may read. */
  z.strictObject({ kind: z.literal('none') }),
  /** Readers need a name and its password. A user who is sent without a password keeps the stored one. */
  z.strictObject({
    kind: z.literal('password'),
    protects: wantsProtection,
    users: z
      .array(
        z.strictObject({
          name: readerName,
          password: z.string().min(shortestPassword).max(longestPassword).optional(),
        }),
      )
      .min(1)
      .max(mostReaders)
      .refine(
        (users) => new Set(users.map(({ name }) => name)).size === users.length,
        'must not have the same name twice',
      ),
  }),
  /** Readers need an account at the provider of the installation, in one of the groups or with an address in one of the domains. */
  z.strictObject({
    kind: z.literal('oidc'),
    protects: wantsProtection,
    groups: z.array(readerGroup).max(mostRules).default([]),
    emailDomains: z.array(emailDomain).max(mostRules).default([]),
  }),
]);

/** Body of `PUT /v1/domains/{domain}/site`. */
export const openSiteBodySchema = z
  .strictObject({
    /** First part of the address under the base of the installation; by default the slug of the domain. */
    name: siteName.optional(),
    /** Further host names of the site, such as `docs.acme.com`, whose DNS leads here. */
    hosts: z.array(ownHost).max(mostHosts).default([]),
    /** True: each label that was published within 30 days has a preview. */
    previews: z.boolean().default(true),
    /**
     * True: pages of the live site ask their own host for search, answers and feedback, and it asks the platform. False: they search in the index of the
     * site and have no assistant. By default true, unless there is an `assistantKey`. Previews always search in their own index.
     */
    assistant: z.boolean().optional(),
    /** Assistant key that pages show, and with which they ask the platform directly instead of their host. */
    assistantKey: z.string().max(100).optional(),
    /** The login that readers need. Absent: unchanged; a new site has none. */
    login: wantedLoginSchema.optional(),
    /** True: page views and searches of the live site are counted, without cookies and addresses. */
    counts: z.boolean().default(true),
  })
  .refine(({ assistant, assistantKey }) => assistant !== true || assistantKey === undefined, {
    path: ['assistantKey'],
    message: 'is for pages that ask the platform directly: leave it out, or leave out "assistant"',
  })
  .meta({ title: 'OpenSite' });

export type OpenSiteBody = z.infer<typeof openSiteBodySchema>;

const address = z.url();

/** A deployment, as clients see it: all fields of the state, and what follows from it. */
export const deploymentViewSchema = z
  .object({
    id: z.int().min(1),
    ...deploymentSchema.omit({ number: true }).shape,
    /** The actor of the publication, opening, rollback or repetition. Lists have it, except for deployments of earlier versions. */
    actor: actorSchema.optional(),
    /** The place in a repository that the content was published from. Lists have it for the newest contents. */
    source: publicationSourceSchema.optional(),
    durationMs: z.int().min(0).optional(),
    /** Address at which readers see it; absent if it is not live. */
    address: address.optional(),
    /** True if the site can be rolled back to it. */
    canRollBack: z.boolean(),
  })
  .meta({ title: 'Deployment' });

export type DeploymentView = z.infer<typeof deploymentViewSchema>;

const loginViewSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('password'), protects, users: z.array(z.object({ name: readerName })) }),
  z.object({ kind: z.literal('oidc'), protects, groups: z.array(readerGroup), emailDomains: z.array(emailDomain) }),
]);

/** Answer of `GET` and `PUT /v1/domains/{domain}/site`. */
export const siteViewSchema = z
  .object({
    domain: domainSlug,
    address,
    name: siteName,
    hosts: z.array(hostName),
    previews: z.boolean(),
    /** True: search, answers and feedback of its pages go through its host. */
    assistant: z.boolean(),
    assistantKey: z.string().optional(),
    /** The login that readers need, without passwords; absent if everybody may read. */
    login: loginViewSchema.optional(),
    counts: z.boolean(),
    /** The deployment that readers of the live site see; absent before the first one. */
    live: deploymentViewSchema.optional(),
  })
  .meta({ title: 'Site' });

export type SiteView = z.infer<typeof siteViewSchema>;

/** Answer of `GET /v1/domains/{domain}/deployments`, newest first. */
export const deploymentListSchema = z
  .object({ domain: domainSlug, deployments: z.array(deploymentViewSchema) })
  .meta({ title: 'DeploymentList' });

export type DeploymentList = z.infer<typeof deploymentListSchema>;

/** The login in front of one live site or preview, as its hosts check it. `closed`: nobody may read. */
export const servedLoginSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('password'),
    users: z.array(z.object({ name: readerName, hash: passwordHash })).min(1),
  }),
  z.object({ kind: z.literal('oidc'), groups: z.array(readerGroup), emailDomains: z.array(emailDomain) }),
  z.object({ kind: z.literal('closed') }),
]);

export type ServedLogin = z.infer<typeof servedLoginSchema>;

/** Header of a host that checks logins, with the value `1`. The feed names no site with a login to a host without it. */
export const checksLoginsHeader = 'X-Checks-Logins';

/** Header of a feed that names the login of each site, with the value `1`. Without it a host cannot tell whether a site no longer has one. */
export const namesLoginsHeader = 'x-names-logins';

/** Name under the base where readers return from the provider of an installation, which is reserved. */
export const loginName = 'login';

/**
 * One live site or preview in the feed of sites (`GET /v1/sites/feed`, event `site`). A later message with the same `site` replaces it.
 */
export const servedSiteSchema = z
  .object({
    /** Identity of the live site or preview: `<organization>/<domain>` or `<organization>/<domain>/<label>`. It never changes. */
    site: z.string(),
    organization: organizationId,
    domain: domainSlug,
    label: contentLabel.optional(),
    /** Address of its first page, without a slash at the end. */
    address,
    /** Host names without ports, in lower case, under which it is served; the first one is that of `address`. */
    hosts: z.array(z.string()).min(1),
    deployment: z.int().min(1),
    jobId,
    contentVersion,
    sha256: sha256Hex,
    sizeBytes: z.int(),
    liveSince: timestamp,
    /** Absent: everybody may read. */
    login: servedLoginSchema.optional(),
    /** True: the host passes search, questions and feedback of its pages on. Absent for previews and for sites without it. */
    assistant: z.literal(true).optional(),
    /** True: the host counts its page views and searches. Absent for previews, and for sites where that is off. */
    counts: z.literal(true).optional(),
  })
  .meta({ title: 'ServedSite' });

export type ServedSite = z.infer<typeof servedSiteSchema>;

/** Event `gone` of the feed: the site or preview is no longer served. */
export const goneSiteSchema = z.object({ site: z.string() }).meta({ title: 'GoneSite' });

/** Event `whole` of the feed: every live site has been named. */
export const wholeSitesSchema = z.strictObject({}).meta({ title: 'WholeSites' });

/**
 * Events of the feed of sites, in order: one `site` for each site and preview that is live, then `whole`: every site that was not named since the
 * connection began is gone. Then `site` and `gone` as they change, and a comment every 15 s.
 */
export type SitesFeedEvent =
  | { event: 'site'; data: ServedSite }
  | { event: 'gone'; data: z.infer<typeof goneSiteSchema> }
  | { event: 'whole'; data: z.infer<typeof wholeSitesSchema> };

/** Answer of `GET /v1/sites/hosts/{host}`. */
export const siteHostSchema = z.object({ host: z.string(), address }).meta({ title: 'SiteHost' });

/** Body of `POST /v1/sites/links`: the bundle of a deployment that is live. The answer is a `SiteBundleLink`. */
export const siteLinkBodySchema = z.strictObject({ site: z.string().max(300), jobId }).meta({ title: 'SiteLink' });

/** Header of pages of a site: the content version that they are from. */
export const contentHeader = 'x-bindery-content';

/**
 * Name of a preview under the base: its label in DNS letters, two dashes, and the name of the site. A label that is not written in DNS letters, is too
 * long, or has two letters, ends with digits of its hash, so that two labels never share a name. Pure.
 */
export function previewName(label: string, name: string): string {
  const written = label
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  const room = mostNameLength - name.length - 2;
  // Names with two dashes after two letters are reserved: `xn--…` would be read as another name, and authorities give no certificates for others.
  const isPlain = written === label && written.length <= room && written.length !== reservedPrefixLength;
  const hash = sha256Of(label).slice(0, hashDigits);
  const shown = isPlain ? written : `${written.slice(0, Math.max(0, room - hashDigits - 1))}-${hash}`;
  return `${shown.replace(/^-+/, '')}--${name}`;
}

/** A part of a host name has at most 63 characters, so the name of a site leaves room for a label. */
const mostNameLength = 63;
const reservedPrefixLength = 2;
const hashDigits = 8;
