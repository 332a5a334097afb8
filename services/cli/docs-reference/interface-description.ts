import { publicRoutes } from '#services/gateway/build-gateway.ts';
import { openApiDocument, type Operation } from '#services/gateway/openapi.ts';
import { inWords } from '#shared/docs/reference/operations.ts';

/** Titles of operations whose id does not make a good one. */
export const ownTitles: Readonly<Record<string, string>> = {
  changeOrganization: 'Change an organization',
  createOrganization: 'Create an organization',
  addDomain: 'Add a domain',
  grantAdminKey: 'Grant an admin key',
  listApiKeys: 'List API keys',
  createApiKey: 'Create an API key',
  rotateApiKey: 'Rotate an API key',
  revokeApiKey: 'Revoke an API key',
  publishContent: 'Publish a project',
  publishChanges: 'Publish changed files',
  missingContents: 'Find missing files',
  contentChanges: 'Compare two content versions',
  contentSource: 'Get the source of a page',
  contentDiagnostics: 'List the findings of a publication',
  promoteContent: 'Promote a content version',
  deleteContent: 'Delete a content version',
  removeLabel: 'Remove a label',
  listContent: 'List content versions',
  getSite: 'Get a site',
  openSite: 'Open a site',
  closeSite: 'Close a site',
  deploy: 'Deploy again',
  followEvents: 'Follow exports and deployments',
  followSites: 'Follow all sites',
  signSiteLink: 'Sign a link for a host',
  findSiteHost: 'Find a host name',
  askSiteHost: 'Find a host name for Caddy',
  startExport: 'Start an export',
  getExport: 'Get an export',
  cancelExport: 'Cancel an export',
  replayExport: 'Replay an export',
  signBundleLink: 'Sign a bundle link',
  listExportEvents: 'List events of an export',
  listAudit: 'List audit entries',
  answerQuestion: 'Ask a question',
  answerQuestionV1: 'Ask a question with AI SDK 4',
  resumeAnswer: 'Resume an answer',
  stopAnswer: 'Stop an answer',
  searchPassages: 'Search',
  readPage: 'Read a page',
  rateAnswer: 'Rate an answer',
  readThread: 'Read a conversation',
  eraseThread: 'Erase a conversation',
  describeInterface: 'Get the OpenAPI description',
  readReference: 'Open the reference page',
  welcome: 'Get the start page',
};

/**
 * The description of the public interface from which our documentation has its API pages: that of an installation, with short titles, with the
 * address and the domain of `npm start`, and with its extensions written out for readers. It ends with a line break.
 */
export function interfaceDescription(): string {
  const document = openApiDocument(publicRoutes);
  const place = new Map(document.tags.map(({ name }, at) => [name, at]));
  const placeOf = (methods: Record<string, Operation>) => place.get(Object.values(methods)[0]?.tags[0] ?? '') ?? 0;
  // Groups of pages have the order of their first operations.
  const inOrder = Object.entries(document.paths).toSorted(([, a], [, b]) => placeOf(a) - placeOf(b));
  const paths = Object.fromEntries(
    inOrder.map(([path, methods]) => [
      path,
      Object.fromEntries(Object.entries(methods).map(([method, operation]) => [method, forReaders(operation)])),
    ]),
  );
  // Readers with another installation write its address into the form.
  const servers = [
    {
      url: '{scheme}://{host}',
      description: 'Your installation; by default that of npm start.',
      variables: {
        scheme: { default: 'http', enum: ['http', 'https'] },
        host: { default: 'localhost:8080', description: 'Host name and port of the gateway.' },
      },
    },
  ];
  return `${JSON.stringify({ ...document, servers, paths }, ofTheDemo, 1)}\n`;
}

/** The examples tell the story of a domain `docs`; that of `npm start` is `demo`, so that they work there. */
function ofTheDemo(key: string, value: unknown): unknown {
  // The rule is for programs; readers would find it at every schema.
  if (key === 'additionalProperties' && value === false) return undefined;
  if (key === 'domain' && value === 'docs') return 'demo';
  const { name, example } = (value ?? {}) as { name?: unknown; example?: unknown };
  return name === 'domain' && example === 'docs' ? { ...(value as object), example: 'demo' } : value;
}

function forReaders({
  'x-scope': scope,
  'x-plan': plan,
  'x-rate-limits': limits = [],
  summary,
  responses,
  ...operation
}: Operation): object {
  const notes = [
    scope === undefined ? '' : `The key needs the scope \`${scope}\`.`,
    plan === undefined ? '' : `The organization needs the plan \`${plan}\`.`,
    limits.length === 0
      ? ''
      : `Requests count against ${limits.map((name) => `\`${name}\``).join(' and ')} ([limits](/operate/configuration)).`,
  ].filter((note) => note !== '');
  return {
    ...operation,
    summary: ownTitles[operation.operationId] ?? inWords(operation.operationId),
    description: summary,
    ...(notes.length > 0 && { 'x-mint': { content: notes.join(' ') } }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, response]) => [status, { ...response, ...streamsOf(response) }]),
    ),
  };
}

/** Streams in the words of OpenAPI 3.2: `itemSchema` is the schema of each event or line. */
function streamsOf({ description, content, 'x-codes': codes }: Operation['responses'][string]): object {
  if (content === undefined || codes !== undefined) return { 'x-codes': undefined };
  const streams = Object.entries(content).flatMap(([type, { 'x-stream': stream }]) =>
    stream === undefined ? [] : [`\`${type}\`: ${stream}`],
  );
  return {
    description: [...(streams.length === 0 ? [description] : []), ...streams].join('\n\n'),
    content: Object.fromEntries(
      Object.entries(content).map(([type, { 'x-stream': _, 'x-item-schema': itemSchema, ...media }]) => [
        type,
        { ...media, ...(itemSchema && { itemSchema }) },
      ]),
    ),
  };
}
