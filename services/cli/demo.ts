import { createReadStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { verifyBundle } from '#shared/bundle/verify-bundle.ts';
import { rendererVersion } from '#shared/render/renderer-version.ts';
import { apiClient } from './api-client.ts';
import { askQuestion } from './ask-question.ts';
import type { LocalInstallation } from './connection.ts';
import { downloadBundle } from './download-bundle.ts';
import { signBundleLink, startExport, waitForExport } from './export-site.ts';
import { publishProject } from './publish-project.ts';
import { whenSearched } from './when-searched.ts';

const demoProject = join(import.meta.dirname, '../../infra/docs');
const demoQuestion = 'What is a bundle, and how do I check it?';

/** The main job once, on our own documentation: published, exported, downloaded, checked, and asked one question. */
export async function showDemo(
  local: LocalInstallation,
  dataFolder: string,
  say: (line?: string) => void,
): Promise<void> {
  const admin = apiClient(local.baseUrl, local.adminKey);
  const publication = await publishProject(admin, local.domain, demoProject);
  say(`· published the demo: ${publication.pages} pages, content version ${publication.contentVersion}`);

  // The same content and code is the same job, so a second start finds it done.
  const started = await startExport(
    admin,
    { domain: local.domain },
    `demo-${publication.contentVersion}-${await rendererVersion()}`,
  );
  const job = await waitForExport(admin, started.jobId, () => {});
  say(`· exported ${job.pageCount} pages as job ${job.jobId}`);

  const folder = join(dataFolder, 'demo');
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'demo.tar.gz');
  const link = await signBundleLink(admin, job.jobId);
  await downloadBundle(link, file);
  const checked = await verifyBundle(createReadStream(file));
  if (checked.problems.length > 0)
    throw new Error(`The demo's bundle is not what its manifest says: ${checked.problems.join('; ')}`);
  say(
    `· downloaded ${file} (${link.sizeBytes} bytes), SHA-256 as announced, ${checked.files} files as the manifest says`,
  );

  await whenSearched(admin, local.domain, publication.contentVersion);
  const answer = await askQuestion(apiClient(local.baseUrl, local.assistantKey), local.domain, demoQuestion);
  say();
  say(`Asked: ${demoQuestion}`);
  say(answer.text.trim().replace(/^/gm, '  '));
  for (const source of answer.sources) say(`  → ${source.title} (${source.url})`);
}
