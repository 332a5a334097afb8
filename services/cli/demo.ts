import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { writePrivateJson } from '#infra/supervisor/data-folder.ts';
import { rendererVersion } from '#shared/docs/render/renderer-version.ts';
import type { ContentList } from '#shared/interfaces/http/content.ts';
import type { SiteView } from '#shared/interfaces/http/sites.ts';
import { jsonIn, sha256OfJson } from '#shared/runtime/canonical-json.ts';
import { type ApiClient, apiClient, retryWhileAway } from './api-client.ts';
import { AnswerFailed, askQuestion } from './commands/ask.ts';
import { createFirstOrganization } from './commands/organizations.ts';
import { type LocalInstallation, localInstallationSchema, readLocalInstallation } from './connection.ts';
import { downloadVerified, signBundleLink, startExport, waitForExport } from './export-client.ts';
import { publishProject, whenSearched } from './publish-project.ts';
import { whenDeployed } from './when-deployed.ts';
import { servedSentence } from './when-served.ts';

type Say = (line?: string) => void;

/** The first organization of an installation, with its keys, as recorded in `local.json` of the data folder; it is made if there is none. */
export async function firstInstallation(
  baseUrl: string,
  operatorToken: string,
  dataFolder: string,
  consoleUrl?: string,
): Promise<LocalInstallation> {
  const known = readLocalInstallation(dataFolder);
  const first = known ?? (await createFirstOrganization(baseUrl, operatorToken));
  const local = localInstallationSchema.parse({ ...first, baseUrl, operatorToken, consoleUrl });
  await writePrivateJson(join(dataFolder, 'local.json'), local);
  return local;
}

const demoProject = join(import.meta.dirname, '../../infra/docs');
const demoQuestion = 'What is a bundle, and how do I check it?';

/**
 * Publishes our own documentation, opens its site if there is a host of sites, exports it, downloads and checks the bundle, and asks one question. Once
 * the user has published to the domain, it only reports that. Returns the address of the site, if it is open.
 */
export async function showDemo(
  local: LocalInstallation,
  dataFolder: string,
  say: Say,
  { withSite = false }: { withSite?: boolean } = {},
): Promise<string | undefined> {
  const admin = apiClient(local.baseUrl, local.adminKey);
  const folder = join(dataFolder, 'demo');
  const record = join(folder, 'published.json');
  const { latest } = await retryWhileAway(() =>
    admin.json<ContentList>(`/v1/domains/${encodeURIComponent(local.domain)}/content`),
  );
  const shown = await lastDemo(record);
  if (latest !== undefined && shown !== undefined && latest !== shown) {
    say(`· the domain "${local.domain}" has your own content, ${latest}, so the demo is not published over it`);
    return await siteAddress(admin, local.domain);
  }
  const publication = await retryWhileAway(() => publishProject(admin, { domain: local.domain, folder: demoProject }));
  await mkdir(folder, { recursive: true });
  await writePrivateJson(record, { contentVersion: publication.contentVersion });
  say(`· published the demo: ${publication.pages} pages, content version ${publication.contentVersion}`);

  const address = withSite ? await openSite(admin, local, publication.contentVersion) : undefined;
  if (address !== undefined) say(`· the demo is live at ${address}`);

  // The key covers content, code and `config.js`, so a second start finds the finished job.
  const { domain, baseUrl, assistantKey } = local;
  const saysToo = sha256OfJson({ baseUrl, assistantKey }).slice(0, 12);
  const started = await startExport(
    admin,
    { domain, assistantKey },
    `demo-${publication.contentVersion}-${await rendererVersion()}-${saysToo}`,
  );
  const job = await waitForExport(admin, started.jobId, () => {});
  say(`· exported ${job.pageCount} pages as job ${job.jobId}`);

  const file = join(folder, 'demo.tar.gz');
  const link = await signBundleLink(admin, job.jobId);
  const checked = await downloadVerified(link, file);
  say(
    `· downloaded ${file} (${link.sizeBytes} bytes), SHA-256 as announced, ${checked.files} files as the manifest says`,
  );

  await whenSearched(admin, local.domain, publication.contentVersion);
  await askDemo(local, say);
  return address;
}

async function openSite(admin: ApiClient, { domain }: LocalInstallation, contentVersion: string): Promise<string> {
  const { address } = await retryWhileAway(() =>
    admin.json<SiteView>(`/v1/domains/${encodeURIComponent(domain)}/site`, { method: 'PUT', json: {} }),
  );
  await whenDeployed(admin, domain, { contentVersion });
  await servedSentence(address, contentVersion);
  return address;
}

const siteAddress = async (admin: ApiClient, domain: string): Promise<string | undefined> =>
  await admin.json<SiteView>(`/v1/domains/${encodeURIComponent(domain)}/site`).then(
    ({ address }) => address,
    () => undefined,
  );

/** The content version of the last demo; undefined if there was none, or none that was recorded. */
async function lastDemo(record: string): Promise<string | undefined> {
  const text = await readFile(record, 'utf8').catch(() => '');
  return z.object({ contentVersion: z.string() }).safeParse(jsonIn(text)).data?.contentVersion;
}

/** Asks one question and prints the answer. If the language model fails, as with a wrong key, the start continues without it. */
export async function askDemo({ baseUrl, assistantKey, domain }: LocalInstallation, say: Say): Promise<void> {
  const reader = apiClient(baseUrl, assistantKey);
  const answer = await retryWhileAway(() => askQuestion(reader, domain, demoQuestion)).catch((error: unknown) => {
    if (error instanceof AnswerFailed) return error;
    throw error;
  });
  say();
  say(`Asked: ${demoQuestion}`);
  if (answer instanceof AnswerFailed) {
    say(`  ${answer.message}`);
    say('  Everything else runs. Look at BINDERY_MISTRAL_API_KEY, BINDERY_MISTRAL_MODEL and BINDERY_MISTRAL_BASE_URL,');
    say('  or leave out BINDERY_LANGUAGE_MODEL: then answers need no language model.');
    return;
  }
  say(answer.text.trim().replace(/^/gm, '  '));
  for (const source of answer.sources) say(`  → ${source.title} (${source.url})`);
}

/** Prints the address and the keys of an installation. `command`: the prefix of its commands. */
export function sayWelcome(local: LocalInstallation, command: string, say: Say, site?: string): void {
  say();
  if (site !== undefined)
    say(`Open ${site} in a browser: the live site of "${local.domain}". Each publication is there seconds later.\n`);
  say(`Bindery runs at ${local.baseUrl} (organization "${local.organization}", domain "${local.domain}").`);
  say(`  admin key      ${local.adminKey}`);
  say(`  assistant key  ${local.assistantKey}`);
  say(`  operator token ${local.operatorToken}`);
  say();
  say('Try next, in another terminal:');
  say(`  ${command} ask ${local.domain} "How do I publish my own documentation?"`);
  say(`  ${command} publish <folder with docs.json> --domain ${local.domain}   (replaces what is there)`);
  if (site !== undefined) say(`  ${command} site rollback ${local.domain}   (rolls back)`);
  say(`  ${command} export ${local.domain} --wait --out site.tar.gz`);
  say();
}
