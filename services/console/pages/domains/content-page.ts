import { z } from 'zod';
import { html, type SafeHtml } from '#shared/docs/render/html.ts';
import { contentLabel, contentVersion as contentVersionId } from '#shared/contracts/identifiers.ts';
import { contentDiagnosticsSchema } from '#shared/interfaces/http/content-reading.ts';
import { type ContentList, contentListSchema } from '#shared/interfaces/http/content.ts';
import { hasRole } from '#shared/interfaces/http/person-token.ts';
import { form, page, type Visit } from '../../page.ts';
import { unlessSilent } from '../../pieces/part.ts';
import { count, empty, formButton, id, pageHead, plural, refusalOf, textField, time } from '../../pieces/pieces.ts';
import { causesOf, contentsOf, domainParams, sourceOf } from './domain-parts.ts';
import { contentState, labelChips } from './domain-page.ts';

export const contentParams = domainParams.extend({ contentVersion: contentVersionId });

type ContentVisit = Visit<{ domain: string; contentVersion: string }>;

/** Limit of contents in a choice. */
const mostChoices = 50;

/** One content version: its labels, its comparison with others, and its findings. */
export const contentPage = page(
  { path: '/domains/:domain/content/:contentVersion', params: contentParams },
  async (visit) => {
    const {
      base,
      role,
      now,
      params: { domain, contentVersion },
    } = visit;
    const [contents, causes] = await Promise.all([contentsOf(visit, domain), unlessSilent(causesOf(visit, domain))]);
    const content = contents.versions.find((each) => each.contentVersion === contentVersion);
    const back = html`<a class="button" href="${base}/domains/${domain}">To the domain</a>`;
    if (content === undefined)
      return {
        title: 'Content',
        status: 404,
        content: html`${pageHead('Content')}${empty('This content is not listed any longer', back)}`,
      };
    const diagnostics = await unlessSilent(
      visit.ask(
        { path: `/v1/domains/${domain}/content/${contentVersion}/diagnostics`, query: { limit: 1 } },
        contentDiagnosticsSchema,
      ),
    );
    const path = `${base}/domains/${domain}/content/${contentVersion}`;
    const mayEdit = hasRole(role, 'editor');
    const promote =
      mayEdit && !content.latest
        ? formButton(visit, `${path}/promote`, 'Make it the latest', {
            confirm: 'Exports and the live site use this content then. Make it the latest?',
          })
        : '';
    const shown = html`${pageHead(html`Content ${contentVersion.slice(3, 11)}`, html`of ${domain}`, html`${back}${promote}`)}
${refusalOf(visit)}
<dl class="facts">
<dt>Content version</dt><dd>${id(contentVersion)}</dd>
<dt>State</dt><dd>${contentState(content)}</dd>
<dt>Labels</dt><dd>${content.labels.length === 0 ? html`<span class="quiet">none</span>` : labelChips(content.labels)}</dd>
<dt>Pages</dt><dd>${count(content.pages)}</dd>
<dt>Published</dt><dd>${time(content.publishedAt, now)} by ${causes === undefined ? 'a caller who is not known now' : (causes.ofContent(contentVersion) ?? 'an unknown caller')}</dd>
${content.source === undefined ? '' : html`<dt>From</dt><dd>${sourceOf(content.source)}</dd>`}
<dt>Findings</dt><dd><a href="${path}/findings">${diagnostics === undefined ? 'not known now' : foundIn(diagnostics.summary)}</a></dd>
</dl>
${compareForm(visit, contents, path)}
${mayEdit ? html`${content.labels.map((label) => labelForm(visit, path, label))}${deleteForm(visit, path, content)}` : ''}`;
    return { title: `Content ${contentVersion.slice(3, 11)} of ${domain}`, content: shown };
  },
);

const foundIn = ({ errors, warnings }: { errors: number; warnings: number }): string =>
  errors + warnings === 0 ? 'none when it was published' : `${plural(errors, 'error')}, ${plural(warnings, 'warning')}`;

function compareForm({ now, params }: ContentVisit, { versions }: ContentList, path: string): SafeHtml {
  const others = versions.filter(({ contentVersion }) => contentVersion !== params.contentVersion);
  const at = versions.findIndex(({ contentVersion }) => contentVersion === params.contentVersion);
  const before = versions[at + 1]?.contentVersion;
  return html`<section aria-labelledby="compare"><h2 id="compare">Compare</h2>${
    others.length === 0
      ? html`<p class="about">There is no other content of this domain.</p>`
      : html`<form method="get" action="${path}/changes" class="filters"><div><label for="f-from">Changes since</label><select id="f-from" name="from">${others
          .slice(0, mostChoices)
          .map(
            (each) =>
              html`<option value="${each.contentVersion}"${each.contentVersion === before ? html` selected` : ''}>${each.contentVersion.slice(3, 11)}${each.labels.length === 0 ? '' : ` ${each.labels.join(', ')}`}, ${time(each.publishedAt, now).text.replaceAll(/<[^>]*>/g, '')}</option>`,
          )}</select></div><button class="button">Compare</button></form>`
  }</section>`;
}

const labelForm = (visit: ContentVisit, path: string, label: string): SafeHtml =>
  html`<section aria-labelledby="label-${label}"><h2 id="label-${label}">Remove the label ${label}</h2>
<p class="about">Its preview ends. The content stays, and publishing with the label again brings the preview back.</p>
<form method="post" action="${path}/unlabel" class="form">${visit.token}<input type="hidden" name="label" value="${label}">
<div class="field"><label for="c-${label}">Type the label to remove it</label><input id="c-${label}" name="confirm" required autocomplete="off"></div>
<button class="button danger">Remove the label</button></form></section>`;

function deleteForm(
  visit: ContentVisit,
  path: string,
  { contentVersion, latest, labels }: ContentList['versions'][number],
) {
  const reason = latest ? 'it is the latest' : labels.length > 0 ? 'it has labels' : undefined;
  return html`<section aria-labelledby="delete"><h2 id="delete">Delete</h2>${
    reason === undefined
      ? html`<p class="about">The content is gone, and no export or preview of it can be made again. Bundles of earlier exports stay. Publishing the same files brings it back.</p>
<form method="post" action="${path}/delete" class="form">${visit.token}
${textField('confirm', { label: 'Type the first digits of the content to delete it', about: contentVersion.slice(3, 11), required: true })}
<button class="button danger">Delete the content</button></form>`
      : html`<p class="about">It cannot be deleted, because ${reason}.</p>`
  }</section>`;
}

export const promoteContent = form(
  {
    path: '/domains/:domain/content/:contentVersion/promote',
    params: contentParams,
    fields: z.object({}),
    page: contentPage,
    asks: ({ domain, contentVersion }) => ({
      title: `Make ${contentVersion.slice(3, 11)} the latest`,
      sentence: `Exports of ${domain} and its live site use this content then. The content that is the latest now stays.`,
      button: 'Make it the latest',
    }),
  },
  async ({ ask, base, params: { domain, contentVersion } }) => {
    await ask({ method: 'POST', path: `/v1/domains/${domain}/content/${contentVersion}/promote` }, contentListSchema);
    return { to: `${base}/domains/${domain}`, said: `The content ${contentVersion.slice(3, 11)} is the latest.` };
  },
);

export const removeLabel = form(
  {
    path: '/domains/:domain/content/:contentVersion/unlabel',
    params: contentParams,
    fields: z.object({ label: contentLabel, confirm: z.string() }),
    page: contentPage,
  },
  async ({ ask, base, params: { domain, contentVersion } }, { label, confirm }) => {
    const to = `${base}/domains/${domain}/content/${contentVersion}`;
    if (confirm.trim() !== label) return { to, said: 'Nothing was removed: the name that was typed is not the label.' };
    await ask(
      { method: 'DELETE', path: `/v1/domains/${domain}/content/labels/${encodeURIComponent(label)}` },
      z.undefined(),
    );
    return { to, said: `The label ${label} is removed, and its preview ends.` };
  },
);

export const deleteContent = form(
  {
    path: '/domains/:domain/content/:contentVersion/delete',
    params: contentParams,
    fields: z.object({ confirm: z.string() }),
    page: contentPage,
  },
  async ({ ask, base, params: { domain, contentVersion } }, { confirm }) => {
    if (![contentVersion, contentVersion.slice(3, 11)].includes(confirm.trim()))
      return {
        to: `${base}/domains/${domain}/content/${contentVersion}`,
        said: 'Nothing was deleted: the digits that were typed are not those of the content.',
      };
    await ask({ method: 'DELETE', path: `/v1/domains/${domain}/content/${contentVersion}` }, z.undefined());
    return { to: `${base}/domains/${domain}`, said: `The content ${contentVersion.slice(3, 11)} is deleted.` };
  },
);
