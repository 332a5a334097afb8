import { z } from 'zod';
import type { DomainEntry } from '#shared/aggregates/directory/directory.ts';
import {
  contentListSchema,
  missingContentsSchema,
  publishedContentSchema,
  publishQuerySchema,
  toContentList,
} from '#shared/interfaces/http/content.ts';
import {
  contentChangesQuerySchema,
  contentChangesSchema,
  contentDiagnosticsQuerySchema,
  contentDiagnosticsSchema,
  contentSourceQuerySchema,
  contentSourceSchema,
} from '#shared/interfaces/http/content-reading.ts';
import { contentLabel, contentVersion, domainName } from '#shared/contracts/identifiers.ts';
import { publisher } from '#shared/interfaces/internal/publisher.ts';
import { contentsKey } from '#shared/interfaces/read-models.ts';
import { askBus, waitForRevision } from '../ask-bus.ts';
import type { Principal } from '../auth/authenticate.ts';
import type { GatewayContext } from '../context.ts';
import { publicRoute } from '../public-route.ts';
import { changes, perHour } from '../rate-limits.ts';
import { limitedUpload } from '../request-bodies.ts';

const path = '/v1/domains/:domain/content';
const params = z.object({ domain: domainName });
const versionParams = params.extend({ contentVersion: contentVersion.meta({ title: 'content version' }) });

/** Limit of answers that read site models. */
const readings = perHour('content-readings', 7_200);

/** A route that publishes the archive in its body with `call`, and answers once the content is listed. */
const publication = (
  call: typeof publisher.publishContent | typeof publisher.publishChanges,
  previewCall: typeof publisher.publishPreview | typeof publisher.publishPreviewChanges,
  named: { id: string; method: 'PUT' | 'PATCH'; summary: string },
) =>
  publicRoute(
    {
      ...named,
      path,
      key: 'admin',
      params,
      query: publishQuerySchema,
      body: 'archive',
      limits: [perHour('publications', 'publicationsPerHour')],
      answer: publishedContentSchema,
      errors: call.errors,
    },
    async (context, { principal, domain, query, body, ask }) => {
      const upload = limitedUpload(body);
      const { version: label, preview = false, commit, branch, pullRequest } = query;
      const source = { commit, branch, ...(pullRequest !== undefined && { pullRequest: String(pullRequest) }) };
      const isPreview = preview && label !== undefined;
      const asked = isPreview
        ? ask(previewCall, domain, { query: { label, ...source }, body: upload.stream })
        : ask(call, domain, { query: { label, ...source }, body: upload.stream });
      const answer = await asked.catch((error: unknown) => {
        throw upload.problem() ?? error;
      });
      const published = await answer.json();
      await contentWhenVisible(context, principal, domain, answer.headers);
      return published;
    },
  );

/** Publication of docs projects, and the published content versions. */
export const contentRoutes = [
  publicRoute(
    {
      id: 'listContent',
      method: 'GET',
      path,
      summary: 'Lists the content versions of a domain with their labels, and names the latest and the searched one.',
      key: 'admin',
      params,
      answer: contentListSchema,
    },
    async ({ bus }, { principal: { organization }, domain: { slug } }) => {
      const stored = await askBus(bus.readModels.directoryContents.get(contentsKey(organization, slug)));
      return toContentList(slug, stored?.document.state);
    },
  ),
  publication(publisher.publishContent, publisher.publishPreview, {
    id: 'publishContent',
    method: 'PUT',
    summary:
      'Publishes a docs project. The same files give the same content version until an upgrade of the platform reads them in another way.',
  }),
  publication(publisher.publishChanges, publisher.publishPreviewChanges, {
    id: 'publishChanges',
    method: 'PATCH',
    summary:
      'Publishes a docs project by its changed files. The body is an archive whose first entry is the list of all files, under the name `_bindery/files`; the other entries are the missing files.',
  }),
  publicRoute(
    {
      id: 'missingContents',
      method: 'POST',
      path: `${path}/missing`,
      summary:
        'Tells which files of a docs project have to be sent. The body is an archive with the list of files alone, under the name `_bindery/files`; publish the same list, followed by those files.',
      key: 'admin',
      params,
      body: 'archive',
      limits: [perHour('lists', 'publicationsPerHour')],
      answer: missingContentsSchema,
      errors: publisher.missingContents.errors,
    },
    async (_context, { domain, body, ask }) => {
      const upload = limitedUpload(body);
      const answer = await ask(publisher.missingContents, domain, { body: upload.stream }).catch((error: unknown) => {
        throw upload.problem() ?? error;
      });
      return await answer.json();
    },
  ),
  publicRoute(
    {
      id: 'contentChanges',
      method: 'GET',
      path: `${path}/:contentVersion/changes`,
      summary: 'Compares a content version with another one: pages and files that were added, removed or changed.',
      key: 'admin',
      params: versionParams,
      query: contentChangesQuerySchema,
      limits: [readings],
      answer: contentChangesSchema,
      errors: publisher.contentChanges.errors,
    },
    async (_context, { domain, params: { contentVersion }, query, ask }) =>
      await (await ask(publisher.contentChanges, domain, { params: { contentVersion }, body: query })).json(),
  ),
  publicRoute(
    {
      id: 'contentSource',
      method: 'GET',
      path: `${path}/:contentVersion/source`,
      summary: 'Returns the source of a page or file of a content version, and with "from" that in another one.',
      key: 'admin',
      params: versionParams,
      query: contentSourceQuerySchema,
      limits: [readings],
      answer: contentSourceSchema,
      errors: publisher.contentSource.errors,
    },
    async (_context, { domain, params: { contentVersion }, query, ask }) =>
      await (await ask(publisher.contentSource, domain, { params: { contentVersion }, body: query })).json(),
  ),
  publicRoute(
    {
      id: 'contentDiagnostics',
      method: 'GET',
      path: `${path}/:contentVersion/diagnostics`,
      summary: 'Lists the findings of a publication by file, each with its line. The report of an export has more.',
      key: 'admin',
      params: versionParams,
      query: contentDiagnosticsQuerySchema,
      limits: [readings],
      answer: contentDiagnosticsSchema,
      errors: publisher.contentDiagnostics.errors,
    },
    async (_context, { domain, params: { contentVersion }, query, ask }) =>
      await (await ask(publisher.contentDiagnostics, domain, { params: { contentVersion }, body: query })).json(),
  ),
  publicRoute(
    {
      id: 'promoteContent',
      method: 'POST',
      path: `${path}/:contentVersion/promote`,
      summary: 'Makes a content version the latest one.',
      key: 'admin',
      params: versionParams,
      limits: [changes],
      answer: contentListSchema,
      errors: publisher.promoteContent.errors,
    },
    async (context, { principal, domain, params: { contentVersion }, ask }) => {
      const answer = await ask(publisher.promoteContent, domain, { params: { contentVersion } });
      answer.body.resume();
      const { state } = await contentWhenVisible(context, principal, domain, answer.headers);
      return toContentList(domain.slug, state);
    },
  ),
  publicRoute(
    {
      id: 'deleteContent',
      method: 'DELETE',
      path: `${path}/:contentVersion`,
      summary: 'Deletes a content version that is neither the latest nor labelled.',
      key: 'admin',
      params: versionParams,
      limits: [changes],
      status: 204,
      errors: publisher.deleteContent.errors,
    },
    async (context, { principal, domain, params: { contentVersion }, ask }) => {
      const answer = await ask(publisher.deleteContent, domain, { params: { contentVersion } });
      answer.body.resume();
      await contentWhenVisible(context, principal, domain, answer.headers);
    },
  ),
  publicRoute(
    {
      id: 'removeLabel',
      method: 'DELETE',
      path: `${path}/labels/:label`,
      summary: 'Removes a label. The content version that had it stays.',
      key: 'admin',
      params: params.extend({ label: contentLabel.meta({ title: 'label' }) }),
      limits: [changes],
      status: 204,
      errors: publisher.removeLabel.errors,
    },
    async (context, { principal, domain, params: { label }, ask }) => {
      const answer = await ask(publisher.removeLabel, domain, { params: { label } });
      answer.body.resume();
      await contentWhenVisible(context, principal, domain, answer.headers);
    },
  ),
];

/** The domain's content once the read model shows the change, so that the client can use it at once. */
async function contentWhenVisible(
  { bus }: GatewayContext,
  { organization }: Principal,
  { slug }: DomainEntry,
  headers: { 'x-bindery-content-revision': number },
) {
  const key = contentsKey(organization, slug);
  return await waitForRevision(bus.readModels.directoryContents, key, headers['x-bindery-content-revision']);
}
