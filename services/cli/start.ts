import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { writePrivateJson } from '#infra/supervisor/data-folder.ts';
import { runInstallation } from '#infra/supervisor/run-installation.ts';
import { serviceNames } from '#infra/supervisor/services.ts';
import { rendererVersion } from '#shared/docs/render/renderer-version.ts';
import { sha256OfJson } from '#shared/runtime/canonical-json.ts';
import { loadConfig, onOff, portNumber, setting } from '#shared/runtime/config.ts';
import { apiClient, retryWhileAway } from './api-client.ts';
import { askQuestion } from './commands/ask.ts';
import { type LocalInstallation, localInstallationSchema, readLocalInstallation } from './connection.ts';
import { downloadVerified, signBundleLink, startExport, waitForExport } from './export-client.ts';
import { createFirstOrganization } from './commands/organizations.ts';
import { publishProject, whenSearched } from './publish-project.ts';

export const startSettings = {
  host: setting('BINDERY_HOST', z.string().default('127.0.0.1'), 'address that the gateway listens on'),
  port: setting('BINDERY_PORT', portNumber.default(8080), 'port that the gateway listens on'),
  data: setting('BINDERY_DATA', z.string().default('.bindery'), 'folder for all that is kept'),
  processes: setting(
    'BINDERY_PROCESSES',
    z.enum(['shared', 'separate']).default('shared'),
    'shared: services share a few processes, which takes less memory and starts faster; separate: each has its own, as in a cluster',
  ),
  demo: setting('BINDERY_DEMO', onOff.default(true), '0: do not publish and export the demo'),
};

/** A second Ctrl-C within this time is the same one: the terminal also sends it to npm, which passes it on. */
const sameInterruptMs = 1_000;

/** `bindery start`: everything on this machine, until Ctrl-C. */
export async function startInstallation(environment: NodeJS.ProcessEnv): Promise<void> {
  const config = loadConfig(startSettings, environment);
  const say = (line = '') => process.stdout.write(`${line}\n`);
  const startedAt = performance.now();
  let interruptedAt: number | undefined;
  const stop = new AbortController();
  const stopAsked = new Promise<void>((resolve) => {
    const onSignal = () => {
      if (interruptedAt !== undefined && performance.now() - interruptedAt > sameInterruptMs) process.exit(130);
      interruptedAt ??= performance.now();
      stop.abort();
      resolve();
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
  });

  say(`Starting Bindery: ${serviceNames.length} services and a nats-server, data in ${config.data}`);
  const installation = await runInstallation({
    dataFolder: config.data,
    host: config.host,
    port: config.port,
    processes: config.processes,
    // People read this output, so what services log about their normal work is left out.
    environment: { BINDERY_LOG_LEVEL: 'warn', ...environment },
    onNews: (news) => say(`· ${news}`),
    signal: stop.signal,
  }).catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
    say('\nStopped before all services were ready.');
    process.exit(0);
  });
  try {
    say(`· all services are ready after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
    const localFile = join(installation.dataFolder, 'local.json');
    const known = readLocalInstallation(installation.dataFolder);
    const local = localInstallationSchema.parse({
      ...(known ?? (await createFirstOrganization(installation.baseUrl, installation.secrets.operatorToken))),
      baseUrl: installation.baseUrl,
      operatorToken: installation.secrets.operatorToken,
    });
    await writePrivateJson(localFile, local);
    if (config.demo) await Promise.race([showDemo(local, installation.dataFolder, say), stopAsked]);
    if (interruptedAt === undefined) sayWelcome(local, say);
    await stopAsked;
    say('\nStopping: services first, the bus last.');
  } finally {
    await installation.stop();
  }
  say('Stopped. The data is kept; start again to go on.');
  process.exit(0);
}

function sayWelcome(local: LocalInstallation, say: (line?: string) => void): void {
  say();
  say(`Bindery runs at ${local.baseUrl} (organization "${local.organization}", domain "${local.domain}").`);
  say(`  admin key      ${local.adminKey}`);
  say(`  assistant key  ${local.assistantKey}`);
  say(`  operator token ${local.operatorToken}`);
  say();
  say('Try next, in another terminal:');
  say(`  npm run -s bindery -- ask ${local.domain} "How do I publish my own documentation?"`);
  say(`  npm run -s bindery -- publish <folder with docs.json> --domain ${local.domain}`);
  say(`  npm run -s bindery -- export ${local.domain} --wait --out site.tar.gz`);
  say();
  say('Ctrl-C stops it.');
}

const demoProject = join(import.meta.dirname, '../../infra/docs');
const demoQuestion = 'What is a bundle, and how do I check it?';

/** Publishes our own documentation, exports, downloads and checks it, and asks it one question. */
async function showDemo(local: LocalInstallation, dataFolder: string, say: (line?: string) => void): Promise<void> {
  const admin = apiClient(local.baseUrl, local.adminKey);
  const publication = await retryWhileAway(() => publishProject(admin, local.domain, demoProject));
  say(`· published the demo: ${publication.pages} pages, content version ${publication.contentVersion}`);

  // Content, code and what its config.js says: the same give the same job, so a second start finds it done.
  const { domain, baseUrl, assistantKey } = local;
  const saysToo = sha256OfJson({ baseUrl, assistantKey }).slice(0, 12);
  const started = await startExport(
    admin,
    { domain, assistantKey },
    `demo-${publication.contentVersion}-${await rendererVersion()}-${saysToo}`,
  );
  const job = await waitForExport(admin, started.jobId, () => {});
  say(`· exported ${job.pageCount} pages as job ${job.jobId}`);

  const folder = join(dataFolder, 'demo');
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'demo.tar.gz');
  const link = await signBundleLink(admin, job.jobId);
  const checked = await downloadVerified(link, file);
  say(
    `· downloaded ${file} (${link.sizeBytes} bytes), SHA-256 as announced, ${checked.files} files as the manifest says`,
  );

  await whenSearched(admin, local.domain, publication.contentVersion);
  const reader = apiClient(local.baseUrl, local.assistantKey);
  const answer = await retryWhileAway(() => askQuestion(reader, local.domain, demoQuestion));
  say();
  say(`Asked: ${demoQuestion}`);
  say(answer.text.trim().replace(/^/gm, '  '));
  for (const source of answer.sources) say(`  → ${source.title} (${source.url})`);
}
