/*
 * The second step of the action: publishes a docs project as a preview for a pull request and live for the branch DOCS_BRANCH, and writes one comment on
 * the pull request, which later runs update. Other events publish nothing. Plain JavaScript without packages, for the Node of the runner.
 */
import { spawnSync } from 'node:child_process';

const environment = process.env;
const mark = '<!-- bindery-docs -->';

const pullRequest = /^refs\/pull\/(\d+)\//.exec(environment.GITHUB_REF ?? '')?.[1];
const isLive = environment.GITHUB_REF === `refs/heads/${environment.DOCS_BRANCH}`;
if (pullRequest === undefined && !isLive) {
  process.stdout.write(`Nothing is published for ${environment.GITHUB_REF}.\n`);
  process.exit(0);
}
const preview = pullRequest === undefined ? [] : ['--label', `pr-${pullRequest}`, '--preview'];
const command = ['--yes', '--package', environment.DOCS_PACKAGE, 'bindery', 'publish', environment.DOCS_FOLDER];
const { status, stdout } = spawnSync('npx', [...command, '--domain', environment.DOCS_DOMAIN, ...preview, '--json'], {
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'inherit'],
});
if (status !== 0) {
  process.stdout.write(stdout ?? '');
  process.exit(status ?? 1);
}
const { contentVersion, pages, address, diagnostics = [] } = JSON.parse(stdout);
process.stdout.write(`Published ${pages} pages as ${contentVersion}${address ? `: ${address}` : ''}\n`);
if (pullRequest !== undefined && environment.DOCS_TOKEN) await comment();

/** A comment that cannot be written, as for a pull request of a fork, does not fail the publication. */
async function comment() {
  const findings = diagnostics.length === 1 ? '1 finding' : `${diagnostics.length} findings`;
  const shown = address ? `The preview is at ${address}` : 'The preview has no address: the site has no previews';
  const body = `${mark}\n${shown}.\n\nContent \`${contentVersion}\`, ${pages} pages, ${findings}.`;
  const comments = `${environment.GITHUB_API_URL}/repos/${environment.GITHUB_REPOSITORY}/issues/${pullRequest}/comments`;
  try {
    const earlier = await commentWith(comments);
    if (earlier === undefined) await call(comments, 'POST', { body });
    else await call(earlier.url, 'PATCH', { body });
  } catch (error) {
    process.stdout.write(`::warning::The comment was not written: ${error.message}\n`);
  }
}

async function commentWith(comments) {
  for (let page = 1; ; page += 1) {
    const some = await call(`${comments}?per_page=100&page=${page}`, 'GET');
    const found = some.find((each) => each.body?.startsWith(mark));
    if (found !== undefined || some.length < 100) return found;
  }
}

async function call(url, method, body) {
  const response = await fetch(url, {
    method,
    headers: {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${environment.DOCS_TOKEN}`,
      'content-type': 'application/json',
    },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  });
  if (!response.ok) throw new Error(`${method} ${new URL(url).pathname} was answered with status ${response.status}`);
  return await response.json();
}
