/** An example request and answer of a route, by its id. */
export type RouteExample = {
  params?: Readonly<Record<string, unknown>>;
  query?: Readonly<Record<string, unknown>>;
  headers?: Readonly<Record<string, string>>;
  body?: unknown;
  answer?: unknown;
  answerHeaders?: Readonly<Record<string, string>>;
  /** The answer in its other forms, by media type. */
  streams?: Readonly<Record<string, string>>;
};

const organization = { id: 'acme', name: 'Acme', plan: 'enterprise' };
const domain = { domain: 'docs', hosts: ['docs.acme.com'], groups: 'claimed' };
const time = '2026-03-01T10:00:00.000Z';
const hash = (digit: string) => digit.repeat(64);

const adminKey = {
  id: 'key_7dPq2mXw9RtLb4Zc',
  kind: 'admin',
  name: 'CI',
  scopes: ['read', 'write'],
  allowedAddresses: [],
  allowedOrigins: [],
  createdAt: time,
  expiresAt: '2026-05-30T10:00:00.000Z',
};
const siteKey = {
  id: 'key_Tn5vB8sKc1Yh6GfQ',
  kind: 'assistant',
  name: 'docs site',
  scopes: ['read'],
  allowedAddresses: [],
  allowedOrigins: ['https://docs.acme.com'],
  createdAt: time,
};
// The text is too short to be a key, so that no search for leaked keys finds it.
const secret = 'svc_dsc_…';

const widgetColors = (bg: string, accent: string) => ({
  ...{ bg, surface: bg, raised: bg, sunken: bg, line: '#e2e7e5', 'line-strong': '#c4cecb', text: '#1f2a28' },
  ...{ strong: '#0c1614', muted: '#5a6664', bad: '#c22f2f', good: '#15803d', accent, 'accent-text': accent },
  ...{ 'accent-hover': accent, 'on-accent': '#ffffff' },
});

const contentVersion = 'cv_0f1e2d3c4b5a69788796a5b4c3d2e1f0';
const olderContent = 'cv_9e8d7c6b5a4938271605f4e3d2c1b0a9';
const content = {
  domain: 'docs',
  latest: contentVersion,
  searched: contentVersion,
  versions: [{ contentVersion, publishedAt: time, pages: 42, labels: ['v2'], latest: true, searched: true }],
};
const deadLetter = {
  id: 'projector.EXPORTS.7',
  service: 'projector',
  stream: 'EXPORTS',
  subject: 'exports.acme.se_4hT9bQ2wLx7VnZ0kRc5YmD.log',
  sequence: 7,
  state: 'aside',
  cause: 'poison',
  reason: 'The document is too large to be stored.',
  isOrdered: true,
  setAsideAt: time,
};
const decision = { by: 'ada@acme.com', why: 'the projector is repaired', at: time };
const onContent = { domain: 'docs', contentVersion };

const verifiedHead = { subject: 'directory.acme.log', revision: 12, commitId: 'c_5TqLx2', hash: hash('c') };
const verification = {
  organization: 'acme',
  result: {
    ...{ askedAt: time, askedBy: { kind: 'person', id: 'ada@acme.com' }, startedAt: time, finishedAt: time },
    ...{ whole: false, problemCount: 1 },
    streams: [
      {
        ...{ stream: 'DIRECTORY', histories: 1, commits: 12, anchored: 0 },
        first: { subject: 'directory.acme.log', sequence: 3, time },
        last: { subject: 'directory.acme.log', sequence: 88, time },
        problemCount: 1,
        problems: [
          {
            ...{ problem: 'unanchored', subject: 'directory.acme.log', sequence: 88, revision: 12 },
            message:
              'No anchor covers the commits after revision 11: no projector runs, or an old document was restored.',
          },
        ],
        ...{ headsSha256: hash('e'), headCount: 1, heads: [verifiedHead] },
      },
    ],
  },
};

const jobId = 'se_4hT9bQ2wLx7VnZ0kRc5YmD';
const onJob = { jobId };
const brokenLink = 'There is no page or file "/instal" in this export.';
const queued = {
  jobId,
  domain: 'docs',
  version: 'v2',
  contentVersion,
  status: 'queued',
  progress: 0,
  pageCount: 0,
  revision: 1,
  createdAt: time,
  updatedAt: time,
};
const completed = {
  ...queued,
  status: 'completed',
  progress: 100,
  pageCount: 42,
  pageTotal: 42,
  revision: 7,
  updatedAt: '2026-03-01T10:00:09.310Z',
  completedAt: '2026-03-01T10:00:09.310Z',
};
const cancelled = {
  ...queued,
  status: 'failed',
  revision: 2,
  updatedAt: '2026-03-01T10:00:01.000Z',
  completedAt: '2026-03-01T10:00:01.000Z',
  error: `The export was cancelled by the API key ${adminKey.id}.`,
};
const started = { answerHeaders: { Location: `/v1/static-export/jobs/${jobId}` } };
const actor = { kind: 'key', id: adminKey.id };
const requested = {
  revision: 1,
  type: 'ExportRequested',
  version: 1,
  time,
  actor,
  data: { jobId, domain: 'docs', label: 'v2', contentVersion },
};
const entry = {
  id: 'ec_1qW8eR5tY2uI9oP3:0',
  time,
  action: 'export.requested',
  actor,
  domain: 'docs',
  jobId,
  contentVersion,
  label: 'v2',
  requestId: 'req_3Kd9sPq0ZtVb7XyR1mNcWa',
  addressHash: '5f1c0a9e3b7d2468ace013579bdf2468f0e1d2c3b4a5968778695a4b3c2d1e0f',
  commit: { subject: `exports.acme.${jobId}`, revision: 1, id: 'ec_1qW8eR5tY2uI9oP3' },
};

const question = 'How do I install it?';
const threadId = 'th_6Jk2Lm9Np4Qr7St1Uv5Wx8';
const onThread = { domain: 'docs', threadId };
const messageId = 'msg_2Bc5De8Fg1Hj4Kl7';
/** Id of a chat, as the AI SDK makes it. */
const chatId = 'c0HvPb3sQkX7dZ2m';
const threadHeaders = { 'X-Thread-Id': threadId, 'X-Thread-Key': '9Hg4Kf7Ds2Ap6Lo1Wq8Er5' };
const onDomain = { params: { domain: 'docs' } };

const live = {
  id: 7,
  contentVersion,
  jobId,
  cause: 'published' as const,
  status: 'live' as const,
  requestedAt: time,
  endedAt: '2026-03-01T10:00:02.400Z',
  durationMs: 2_400,
  sizeBytes: 1_482_113,
  sha256: hash('a'),
  address: 'https://docs.acme.com',
  canRollBack: false,
};
const { address: _, ...before } = { ...live, id: 6, status: 'replaced' as const, canRollBack: true };
const running = {
  id: 8,
  contentVersion,
  jobId,
  cause: 'repeated',
  status: 'running',
  requestedAt: time,
  canRollBack: false,
};
const openedSite = {
  domain: 'docs',
  address: 'https://docs.acme.com',
  name: 'acme',
  hosts: ['docs.acme.com'],
  previews: true,
  login: { kind: 'oidc', protects: 'previews', groups: ['docs'], emailDomains: [] } as const,
  assistant: true,
  counts: true,
  live,
};
const servedSite = {
  site: 'acme/docs',
  organization: 'acme',
  domain: 'docs',
  address: 'https://docs.acme.com',
  hosts: ['docs.acme.com', 'acme.docs.example.com'],
  deployment: 7,
  jobId,
  contentVersion,
  sha256: hash('a'),
  sizeBytes: 1_482_113,
  liveSince: '2026-03-01T10:00:02.400Z',
  assistant: true,
  counts: true,
};
const siteHost = { host: 'docs.acme.com', address: 'https://docs.acme.com' };

const json = JSON.stringify;
const line = (value: unknown) => `${json(value)}\n`;
const event = (value: unknown) => `data: ${json(value)}\n\n`;
const jobEvent = (job: { revision: number }) => `id: ${job.revision}\nevent: job\ndata: ${json(job)}\n\n`;

/** One continuous story: Acme gets an organization, a domain and keys, publishes its documentation, exports it, and its readers ask. */
const examples: Readonly<Record<string, RouteExample>> = {
  createOrganization: {
    body: { name: 'Acme', plan: 'enterprise' },
    answer: {
      organization,
      adminKey: { id: adminKey.id, key: 'svc_…', expiresAt: adminKey.expiresAt },
      platformUrl: 'https://bindery.example.com',
    },
  },
  listOrganizations: {
    query: { limit: 100 },
    answer: { organizations: [{ ...organization, createdAt: time, domains: ['docs'], apiKeys: 2 }] },
  },
  whoami: {
    answer: {
      caller: {
        kind: 'key',
        id: adminKey.id,
        name: adminKey.name,
        scopes: adminKey.scopes,
        allowedAddresses: [],
        expiresAt: adminKey.expiresAt,
      },
      address: '192.0.2.7',
      organization,
      domains: [domain],
      platformUrl: 'https://bindery.example.com',
    },
  },
  readOrganization: {
    params: { org: 'acme' },
    answer: {
      ...organization,
      createdAt: time,
      platformUrl: 'https://bindery.example.com',
      domains: [domain],
      apiKeys: [{ ...adminKey, lastUsedAt: time }, siteKey],
    },
  },
  examineInstallation: {
    answer: {
      checks: [
        { name: 'bus', state: 'good', sentence: 'The bus answers the gateway and stores its messages.' },
        {
          ...{ name: 'limits', state: 'warning', sentence: '2 gateways count requests without each other.' },
          repair: 'Set BINDERY_REDIS_URL, so that they share the counts.',
        },
      ],
      commandOnly: [{ name: 'machine', sentence: 'Node, memory, open files and free disks of a machine.' }],
    },
  },
  listServices: {
    answer: {
      gateways: 2,
      services: [
        { service: 'gateway', state: 'ready', version: '0.1.0', problems: [] },
        {
          service: 'publisher',
          state: 'unready',
          version: '0.1.0',
          problems: [{ part: 'bus', reason: 'did not answer within 2000 ms' }],
        },
        { service: 'link-signer', state: 'ready', version: '0.1.0', problems: [] },
        {
          service: 'assistant',
          state: 'unreachable',
          problems: [{ part: 'assistant', reason: 'nothing listens at 10.0.0.7:8083' }],
        },
      ],
    },
  },
  readWork: {
    answer: {
      queues: [
        { queue: 'bundle', service: 'bundler', pending: 0, inFlight: 1, redelivered: 0 },
        { queue: 'render-3f2a', service: 'page-renderer', pending: 2, inFlight: 4, redelivered: 1 },
      ],
      leases: [{ role: 'orchestrator', holder: 'orchestrator-7dPq2mXw' }],
      activeExports: 2,
      workers: [
        {
          service: 'page-renderer',
          instance: 'page-renderer-Tn5vB8sK',
          rendererVersion: '3f2a',
          slots: 4,
          freeSlots: 3,
          draining: false,
          tasks: [{ jobId, organization: 'acme', work: 'chunk', chunk: 3, attempt: 1, since: time }],
        },
      ],
      problems: [],
    },
  },
  listDeadLetters: { query: { limit: 50 }, answer: { deadLetters: [deadLetter], unreadable: [] } },
  readDeadLetter: {
    params: { letter: deadLetter.id },
    answer: {
      ...deadLetter,
      attempts: 1,
      message: { text: '{\n  "type": "ExportRequested"\n}', sizeBytes: 26, isCut: false },
      waiting: 2,
      history: [{ outcome: 'set-aside', at: time, reason: deadLetter.reason }],
      problems: [],
    },
  },
  retryDeadLetter: {
    params: { letter: deadLetter.id },
    body: { why: 'the projector is repaired' },
    answer: { id: deadLetter.id, outcome: 'retried', decision: { ...decision, action: 'retry' }, already: false },
  },
  dropDeadLetter: {
    params: { letter: deadLetter.id },
    query: { why: 'the export was cancelled' },
    answer: { id: deadLetter.id, outcome: 'dropped', decision: { ...decision, action: 'drop' }, already: false },
  },
  decideDeadLetters: {
    body: { action: 'retry', why: 'the projector is repaired', letters: [deadLetter.id, 'projector.EXPORTS.4712'] },
    answer: {
      settled: [{ id: deadLetter.id, outcome: 'retried', decision: { ...decision, action: 'retry' }, already: false }],
      refused: [{ id: 'projector.EXPORTS.4712', reason: 'There is no dead letter "projector.EXPORTS.4712".' }],
    },
  },
  previewHousekeeping: {
    query: { limit: 50 },
    answer: {
      countedAt: time,
      totals: { objects: [{ kind: 'bundles', objects: 3, bytes: 4_200_000 }], contents: 1 },
      organizations: [
        { organization: 'acme', objects: [{ kind: 'bundles', objects: 3, bytes: 4_200_000 }], contents: 1 },
      ],
      notJudged: [],
    },
  },
  changeOrganization: { params: { org: 'acme' }, body: { plan: 'enterprise' }, answer: organization },
  addDomain: { params: { org: 'acme' }, body: { domain: 'docs', hosts: ['docs.acme.com'] }, answer: domain },

  grantAdminKey: {
    params: { org: 'acme' },
    body: { name: 'after a loss' },
    answer: { ...adminKey, name: 'after a loss', key: 'svc_…' },
  },
  listApiKeys: { answer: { apiKeys: [{ ...adminKey, lastUsedAt: time }, siteKey] } },
  createApiKey: {
    body: { kind: 'assistant', name: 'docs site', scopes: ['read'], allowedOrigins: ['https://docs.acme.com'] },
    answer: { ...siteKey, key: secret },
  },
  rotateApiKey: { params: { id: siteKey.id }, body: { overlapHours: 24 }, answer: { ...siteKey, key: secret } },
  revokeApiKey: {
    params: { id: siteKey.id },
    query: { descendants: 'revoke' },
    answer: { id: siteKey.id, revokedAt: time, descendants: [] },
  },

  listContent: { ...onDomain, answer: content },
  publishContent: {
    ...onDomain,
    query: { version: 'v2', commit: '0f1e2d3c4b5a', branch: 'main' },
    answer: { contentVersion, version: 'v2', pages: 42, diagnostics: [] },
  },
  publishChanges: {
    ...onDomain,
    query: { version: 'v2' },
    answer: { contentVersion, version: 'v2', pages: 42, diagnostics: [] },
  },
  missingContents: { ...onDomain, answer: { missing: [hash('a')] } },
  contentChanges: {
    params: onContent,
    query: { from: olderContent },
    answer: {
      domain: 'docs',
      contentVersion,
      from: olderContent,
      summary: { added: 1, removed: 0, changed: 1, unchanged: 40, otherFiles: 1 },
      changes: [
        { kind: 'page', path: 'guides/install', title: 'Install', change: 'changed' },
        { kind: 'page', path: 'guides/upgrade', title: 'Upgrade', change: 'added' },
        { kind: 'file', path: 'docs.json', change: 'changed' },
      ],
    },
  },
  contentSource: {
    params: onContent,
    query: { page: 'guides/install', from: olderContent },
    answer: {
      domain: 'docs',
      contentVersion,
      from: olderContent,
      source: { file: 'guides/install.mdx', title: 'Install', sizeBytes: 20, text: '# Install\n\nRun npm.\n' },
      before: { file: 'guides/install.mdx', title: 'Install', sizeBytes: 17, text: '# Install\n\nSoon.\n' },
    },
  },
  contentDiagnostics: {
    params: onContent,
    query: { severity: 'warning' },
    answer: {
      domain: 'docs',
      contentVersion,
      summary: { errors: 0, warnings: 1, infos: 0 },
      diagnostics: [
        {
          severity: 'warning',
          code: 'unknown-component',
          message: 'There is no component "Cards".',
          file: 'guides/install.mdx',
          line: 3,
          excerpt: '<Cards>',
        },
      ],
    },
  },
  promoteContent: { params: onContent, answer: content },
  deleteContent: { params: onContent },
  removeLabel: { params: { domain: 'docs', label: 'v2' } },

  startExport: {
    headers: { 'Idempotency-Key': 'nightly-2026-03-01' },
    body: { domain: 'docs', version: 'v2' },
    answer: queued,
    ...started,
  },
  listExports: {
    query: { domain: 'docs', status: 'completed', since: '2026-03-01', limit: 20 },
    answer: { jobs: [completed] },
  },
  getExport: {
    params: onJob,
    answer: completed,
    streams: { 'text/event-stream': jobEvent(queued) + jobEvent(completed) },
  },
  listExportEvents: {
    params: onJob,
    answer: { jobId, events: [requested] },
    streams: { 'application/x-ndjson': line(requested) },
  },
  cancelExport: { params: onJob, answer: cancelled, ...started },
  replayExport: {
    params: onJob,
    headers: { 'Idempotency-Key': 'replay-2026-03-01' },
    answer: { ...queued, jobId: 'se_8Zx3Cv6Bn1Mq4We7Rt0YuI', replayOf: jobId },
    answerHeaders: { Location: '/v1/static-export/jobs/se_8Zx3Cv6Bn1Mq4We7Rt0YuI' },
  },
  signBundleLink: {
    params: onJob,
    answer: {
      jobId,
      bundleUrl: 'https://bindery.acme.com/_objects/…',
      expiresAt: '2026-03-01T11:00:10.000Z',
      sizeBytes: 1_482_113,
      sha256: hash('a'),
    },
  },
  getExportReport: {
    params: onJob,
    query: { severity: 'warning', limit: 200 },
    answer: {
      jobId,
      summary: { pages: 42, failedPages: 0, errors: 0, warnings: 1, infos: 0, brokenLinks: 1 },
      byCode: [{ code: 'broken-link', severity: 'warning', count: 1, files: 1, example: brokenLink }],
      pages: [
        {
          path: 'quickstart',
          findings: [{ severity: 'warning', code: 'broken-link', message: brokenLink, line: 12, column: 5 }],
        },
      ],
    },
  },

  listDomains: {
    query: { limit: 50 },
    answer: {
      domains: [
        {
          ...{ domain: 'docs', hosts: ['docs.acme.com'], groups: 'claimed', contents: 12, latest: live.contentVersion },
          site: { address: openedSite.address, live, newest: live, last: live },
        },
      ],
    },
  },
  getSite: { ...onDomain, answer: openedSite },
  openSite: {
    ...onDomain,
    body: {
      ...{ name: 'acme', hosts: ['docs.acme.com'], previews: true },
      login: { kind: 'oidc', protects: 'previews', groups: ['docs'] },
    },
    answer: openedSite,
  },
  closeSite: onDomain,
  listDeployments: {
    ...onDomain,
    answer: { domain: 'docs', deployments: [{ ...live, actor: { kind: 'person', id: 'ada@acme.com' } }, before] },
    streams: {
      'text/event-stream': `id: 14\nevent: deployments\ndata: ${json({ domain: 'docs', deployments: [live, before] })}\n\nid: 15\nevent: deployment\ndata: ${json(running)}\n\n`,
    },
  },
  deploy: { ...onDomain, answer: running },
  rollBack: {
    params: { domain: 'docs', deployment: 6 },
    answer: { ...live, id: 8, cause: 'rolled-back' },
  },
  followEvents: {
    streams: {
      'text/event-stream': `event: following\ndata: ${json({ since: time })}\n\nevent: export\ndata: ${json(completed)}\n\nevent: deployment\ndata: ${json({ domain: 'docs', deployment: running })}\n\n`,
    },
  },
  followSites: {
    headers: { 'X-Checks-Logins': '1' },
    streams: {
      'text/event-stream': `event: site\ndata: ${json(servedSite)}\n\nevent: whole\ndata: {}\n\nevent: gone\ndata: ${json({ site: 'acme/old' })}\n\n`,
    },
  },
  signSiteLink: {
    body: { site: 'acme/docs', jobId },
    answer: {
      jobId,
      bundleUrl: 'https://bindery.acme.com/_objects/…',
      expiresAt: '2026-03-01T11:00:10.000Z',
      sizeBytes: 1_482_113,
      sha256: hash('a'),
    },
  },
  countSiteViews: {
    body: {
      ...{ source: 'q7Rf2Kx0LmZ9TbYw', sequence: 12 },
      days: [
        {
          ...{ site: 'acme/docs', day: '2026-03-01', views: 7 },
          paths: [
            ['/', 4],
            ['/quickstart', 3],
          ],
          ...{ referred: 1, referrers: [['news.example.com', 1]] },
          ...{ searches: 2, emptySearches: 0, queries: [['install', 2, 0]] },
        },
      ],
    },
    answer: { accepted: 1, refused: 0 },
  },
  readViews: {
    ...onDomain,
    query: { from: '2026-02-01', to: '2026-03-01', by: 'path', limit: 2 },
    answer: {
      ...{ domain: 'docs', from: '2026-02-01', to: '2026-03-01', total: 1_904, by: 'path' },
      entries: [
        { name: '/', views: 812 },
        { name: '/quickstart', views: 340 },
      ],
      other: 752,
    },
  },
  readSearches: {
    ...onDomain,
    query: { from: '2026-02-01', to: '2026-03-01', limit: 2 },
    answer: {
      ...{ domain: 'docs', from: '2026-02-01', to: '2026-03-01', total: 121, empty: 9 },
      queries: [
        { query: 'install', searches: 40, empty: 0 },
        { query: 'single sign-on', searches: 9, empty: 9 },
      ],
      other: 72,
      days: [{ day: '2026-03-01', searches: 121, empty: 9 }],
    },
  },
  readReaders: {
    ...onDomain,
    query: { from: '2026-02-01', to: '2026-03-01', limit: 2 },
    answer: {
      ...{ domain: 'docs', from: '2026-02-01', to: '2026-03-01', views: 1_904, searches: 121 },
      days: [{ day: '2026-03-01', views: 1_904, searches: 121, empty: 9 }],
      paths: [
        { name: '/', views: 812 },
        { name: '/quickstart', views: 340 },
      ],
      queries: [
        { query: 'install', searches: 40, empty: 0 },
        { query: 'single sign-on', searches: 9, empty: 9 },
      ],
    },
  },
  findSiteHost: { params: { host: 'docs.acme.com' }, answer: siteHost },
  askSiteHost: { query: { domain: 'docs.acme.com' }, answer: siteHost },

  listAudit: {
    query: { action: 'export', since: '2026-03-01', limit: 50 },
    answer: { entries: [entry] },
    streams: { 'application/x-ndjson': line(entry) },
  },
  getUsage: {
    query: { month: '2026-03' },
    answer: {
      organization: 'acme',
      months: [
        {
          month: '2026-03',
          total: {
            exportsStarted: 1,
            exportsCompleted: 1,
            pagesExported: 42,
            bundleBytes: 1_482_113,
            linksSigned: 1,
            questions: 41,
            tokens: 58_300,
          },
          days: [{ day: '2026-03-01', figures: { exportsStarted: 1, exportsCompleted: 1, pagesExported: 42 } }],
        },
      ],
    },
  },
  readVerification: { answer: verification },
  startVerification: {
    body: { again: true },
    answer: {
      organization: 'acme',
      running: { state: 'waiting', askedAt: time, askedBy: { kind: 'person', id: 'ada@acme.com' } },
    },
  },
  readInstallationVerification: {
    answer: {
      failed: {
        ...{ askedAt: time, askedBy: { kind: 'operator', id: 'operator' }, failedAt: time },
        reason: 'The projector that verified the logs was stopped.',
      },
    },
  },
  startInstallationVerification: {
    body: {},
    answer: {
      running: {
        ...{ state: 'running', askedAt: time, askedBy: { kind: 'operator', id: 'operator' }, startedAt: time },
        ...{ stream: 'EXPORTS', histories: 12_840 },
      },
    },
  },
  readLimits: {
    answer: {
      plan: 'enterprise',
      activeExports: 20,
      limits: [{ name: 'starts', requests: 60, windowSeconds: 3_600, remaining: 59 }],
    },
  },

  answerQuestion: {
    ...onDomain,
    body: {
      fp: 'reader-1',
      messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: question }] }],
      currentPath: '/quickstart',
    },
    answerHeaders: { ...threadHeaders, 'X-Vercel-AI-UI-Message-Stream': 'v1', 'X-Chat-Id': chatId },
    streams: {
      'text/event-stream': [
        event({ type: 'start', messageId, messageMetadata: { threadId } }),
        event({ type: 'text-start', id: 't1' }),
        event({ type: 'text-delta', id: 't1', delta: 'Run `npm install`.' }),
        event({ type: 'text-end', id: 't1' }),
        event({
          type: 'finish',
          threadId,
          finishReason: 'stop',
          messageMetadata: { threadId, finishReason: 'stop' },
        }),
        'data: [DONE]\n\n',
      ].join(''),
    },
  },
  answerQuestionV1: {
    ...onDomain,
    body: { fp: 'reader-1', messages: [{ role: 'user', content: question }] },
    answerHeaders: { ...threadHeaders, 'X-Vercel-AI-Data-Stream': 'v1' },
    streams: {
      'text/plain': [
        `f:${line({ messageId })}`,
        `0:${line('Run `npm install`.')}`,
        `d:${line({ finishReason: 'stop', usage: { promptTokens: 812, completionTokens: 9 } })}`,
      ].join(''),
    },
  },
  answerMcp: {
    ...onDomain,
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'search', arguments: { query: 'install' } } },
    answer: {
      jsonrpc: '2.0',
      id: 1,
      result: {
        content: [{ type: 'text', text: '## Quickstart\n/quickstart (path: quickstart)\n\nRun `npm install`.' }],
        structuredContent: {
          passages: [
            {
              path: 'quickstart',
              url: '/quickstart',
              title: 'Quickstart',
              heading: '',
              content: 'Run `npm install`.',
              score: 0.8,
            },
          ],
        },
      },
    },
  },
  searchPassages: {
    ...onDomain,
    body: { query: 'install', pageSize: 5 },
    answerHeaders: {
      'X-Search-Notice':
        'The question seems to be in German, and the passages that were found are in English. Names, codes and identifiers are found in any language; for other words, ask in English.',
    },
    answer: [
      {
        content: 'Run `npm install` in the folder of your project.',
        path: '/quickstart',
        metadata: {
          title: 'Quickstart',
          heading: 'Install',
          url: '/quickstart#install',
          score: 0.83,
          highlights: [[9, 16]],
        },
      },
    ],
  },
  readPage: {
    ...onDomain,
    body: { path: '/quickstart' },
    answer: { path: '/quickstart', content: '# Quickstart\n\nRun `npm install`.\n' },
  },
  readWidgetSettings: {
    ...onDomain,
    answer: {
      site: 'https://docs.acme.com',
      colors: { light: widgetColors('#ffffff', '#0f766e'), dark: widgetColors('#0b0f0e', '#2dd4bf') },
    },
  },
  rateAnswer: {
    ...onDomain,
    body: { threadId, messageId, rating: 'up', comment: 'Just what I needed.' },
    headers: { 'X-Thread-Key': threadHeaders['X-Thread-Key'] },
    answer: { threadId, messageId, rating: 'up' },
  },
  readThread: {
    params: onThread,
    answer: {
      threadId,
      createdAt: time,
      messages: [
        {
          messageId,
          askedAt: time,
          question,
          answer: 'Run `npm install`.',
          sources: [{ url: '/quickstart#install', title: 'Quickstart › Install' }],
          status: 'answered',
          rating: 'up',
          comment: 'Just what I needed.',
        },
      ],
    },
  },
  eraseThread: { params: onThread },
  readInsights: {
    ...onDomain,
    query: { days: 30, limit: 20 },
    answer: {
      domain: 'docs',
      from: '2026-01-31',
      to: '2026-03-01',
      questions: { total: 41, answered: 36, unanswered: 4, unfinished: 1 },
      ratings: { up: 9, down: 1 },
      unanswered: [{ question: 'Can I pay by invoice?', count: 3, lastAskedAt: time, threadId }],
      pages: [{ path: '/quickstart', title: 'Quickstart', answers: 17, up: 6, down: 0 }],
      ratedDown: [{ question, comment: 'It says nothing of Windows.', threadId, messageId, answeredAt: time }],
      agents: {
        ...{ calls: 120, searches: 80, empty: 3 },
        tools: [{ tool: 'search', calls: 80 }],
        queries: [{ query: 'rotate api key', searches: 12, empty: 0 }],
        remarks: [{ day: '2026-03-01', message: 'The page has no example.', path: '/quickstart', rating: 'down' }],
      },
      days: [{ day: '2026-03-01', questions: 41, unanswered: 4 }],
    },
  },
  readQuestions: {
    query: { days: 7 },
    answer: {
      from: '2026-02-23',
      to: '2026-03-01',
      questions: { total: 41, answered: 36, unanswered: 4, unfinished: 1 },
      ratings: { up: 9, down: 1 },
      domains: [
        {
          domain: 'docs',
          questions: { total: 41, answered: 36, unanswered: 4, unfinished: 1 },
          ratings: { up: 9, down: 1 },
        },
      ],
      days: [{ day: '2026-03-01', questions: 41, answered: 36, unanswered: 4 }],
    },
  },
  resumeAnswer: {
    params: { domain: 'docs', chatId },
    headers: { 'Last-Event-ID': '2' },
    answerHeaders: { 'X-Thread-Id': threadId, 'X-Vercel-AI-UI-Message-Stream': 'v1' },
    streams: {
      'text/event-stream': `id: 3\n${event({ type: 'text-delta', id: 't1', delta: 'Run `npm install`.' })}`,
    },
  },
  stopAnswer: { params: { domain: 'docs', chatId } },

  welcome: {
    answer: {
      name: 'Bindery',
      description: 'Documentation assistant and static export.',
      openapi: '/openapi.json',
      docs: '/docs',
      health: { live: '/livez', ready: '/readyz' },
      sites: ['https://docs.acme.com'],
      console: 'https://console.acme.com',
    },
    streams: { 'text/html': '<!doctype html>…' },
  },
  readReference: { streams: { 'text/html': '<!doctype html>…' } },
  describeInterface: { answer: { openapi: '3.1.0', info: { title: 'Bindery', version: '1.0.0' }, paths: {} } },
};

/** A host of sites asks as a page does, for a reader whose address it names. */
const forReader = ({ headers, params, ...example }: RouteExample = {}): RouteExample => ({
  ...example,
  params: { ...params, org: 'acme', domain: 'docs' },
  headers: { ...headers, 'X-Reader-Address': '203.0.113.9' },
});

/** Examples of all routes by their ids. */
export const routeExamples: Readonly<Record<string, RouteExample>> = {
  ...examples,
  answerSiteQuestion: forReader(examples.answerQuestion),
  answerSiteMcp: forReader(examples.answerMcp),
  searchSite: forReader(examples.searchPassages),
  readSitePage: forReader(examples.readPage),
  rateSiteAnswer: forReader(examples.rateAnswer),
  resumeSiteAnswer: forReader(examples.resumeAnswer),
  stopSiteAnswer: forReader(examples.stopAnswer),
};
