import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PublicationSource } from '#shared/contracts/publication-source.ts';
import type { AuditList } from '#shared/interfaces/http/audit.ts';
import type { ContentList, PublishedContent } from '#shared/interfaces/http/content.ts';
import type { DeploymentList } from '#shared/interfaces/http/sites.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import type { HostProcess } from '../support/host-process.ts';
import { sitePathOnly, startSiteHost } from '../support/live-sites.ts';
import { newFolder } from '../support/new-folder.ts';
import { runCommand, startInstallation, type TestInstallation } from '../support/start-installation.ts';

const minuteMs = 60_000;
const commitOf = (digit: string): string => digit.repeat(40);

describeWithServers(['nats-server'], 'a publication from a CI', () => {
  let harness: TestInstallation;
  let host: HostProcess;
  let folder: string;

  const bindery = (args: readonly string[], environment: Record<string, string> = {}) =>
    runCommand(args, {
      BINDERY_URL: harness.installation.baseUrl,
      BINDERY_KEY: harness.adminKey,
      BINDERY_CACHE: join(folder, '.bindery'),
      ...environment,
    });
  const valueOf = async <T>(args: readonly string[], environment: Record<string, string> = {}): Promise<T> => {
    const outcome = await bindery([...args, '--json'], environment);
    expect(outcome).toMatchObject({ code: 0, stderr: '' });
    return JSON.parse(outcome.stdout) as T;
  };

  beforeAll(async () => {
    folder = newFolder();
    harness = await startInstallation({ copies: sitePathOnly });
    host = await startSiteHost(harness);
    await writeFile(
      join(folder, 'docs.json'),
      JSON.stringify({ name: 'A', theme: 'mint', colors: { primary: '#0f766e' }, navigation: { pages: ['index'] } }),
    );
    await valueOf(['site', 'open', harness.domain, '--previews']);
  }, 2 * minuteMs);
  afterAll(async () => {
    await host?.end();
    await harness?.stop();
  });

  type Case = {
    name: string;
    flags?: string[];
    variables: (event: string) => Record<string, string>;
    source: PublicationSource;
    words: string;
  };
  const cases: Case[] = [
    {
      name: 'GitHub, for a push',
      variables: () => ({
        GITHUB_ACTIONS: 'true',
        GITHUB_SHA: commitOf('a'),
        GITHUB_REF: 'refs/heads/main',
        GITHUB_REF_NAME: 'main',
        GITHUB_HEAD_REF: '',
      }),
      source: { commit: commitOf('a'), branch: 'main' },
      words: 'main at aaaaaaa',
    },
    {
      name: 'GitHub, for a pull request',
      flags: ['--label', 'pr-12', '--preview'],
      variables: (event) => ({
        GITHUB_ACTIONS: 'true',
        GITHUB_SHA: commitOf('0'),
        GITHUB_REF: 'refs/pull/12/merge',
        GITHUB_REF_NAME: '12/merge',
        GITHUB_HEAD_REF: 'docs/install',
        GITHUB_EVENT_PATH: event,
      }),
      source: { commit: commitOf('b'), branch: 'docs/install', pullRequest: 12 },
      words: 'pull request 12, docs/install at bbbbbbb',
    },
    {
      name: 'GitLab, for a merge request',
      flags: ['--label', 'mr-7', '--preview'],
      variables: () => ({
        GITLAB_CI: 'true',
        CI_COMMIT_SHA: commitOf('c'),
        CI_COMMIT_REF_NAME: 'fix',
        CI_MERGE_REQUEST_IID: '7',
        CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: 'fix',
      }),
      source: { commit: commitOf('c'), branch: 'fix', pullRequest: 7 },
      words: 'pull request 7, fix at ccccccc',
    },
    {
      name: 'Bitbucket, for a pull request',
      flags: ['--label', 'pr-3', '--preview'],
      variables: () => ({
        BITBUCKET_BUILD_NUMBER: '41',
        BITBUCKET_COMMIT: commitOf('d'),
        BITBUCKET_BRANCH: 'feature/x',
        BITBUCKET_PR_ID: '3',
      }),
      source: { commit: commitOf('d'), branch: 'feature/x', pullRequest: 3 },
      words: 'pull request 3, feature/x at ddddddd',
    },
  ];

  test.for(cases)(
    'of $name has its commit, branch and pull request in contents, deployments and audit',
    { timeout: 2 * minuteMs },
    async ({ name, flags = [], variables, source, words }) => {
      const { domain } = harness;
      await writeFile(join(folder, 'index.mdx'), `---\ntitle: Start\n---\n\nPublished by ${name}.\n`);
      const event = join(newFolder(), 'event.json');
      await writeFile(event, JSON.stringify({ pull_request: { head: { sha: commitOf('b') } } }));
      const summary = join(newFolder(), 'summary.md');
      const published = await valueOf<PublishedContent & { address: string }>(
        ['publish', folder, '--domain', domain, ...flags],
        { CI: 'true', ...variables(event), GITHUB_STEP_SUMMARY: summary },
      );
      const { contentVersion, address } = published;
      expect(address).toMatch(/^http:\/\//);

      const { versions } = await valueOf<ContentList>(['contents', domain]);
      expect(versions.find((each) => each.contentVersion === contentVersion)?.source).toEqual(source);
      expect((await bindery(['contents', domain])).stdout).toContain(words);

      const { deployments } = await valueOf<DeploymentList>(['site', 'deployments', domain]);
      const deployed = deployments.find((each) => each.contentVersion === contentVersion);
      expect(deployed).toMatchObject({ source, status: flags.length === 0 ? 'live' : deployed?.status });
      expect((await bindery(['site', 'deployments', domain])).stdout).toContain(words);

      // The audit is a read model, which follows the log.
      const entryOf = async () => {
        const { entries } = await valueOf<AuditList>(['audit', 'list', '--domain', domain, '--action', 'content']);
        return entries.find((each) => each.contentVersion === contentVersion && each.action === 'content.published');
      };
      await expect.poll(entryOf, { timeout: minuteMs }).toMatchObject({ source });
      expect((await bindery(['audit', 'list', '--domain', domain])).stdout).toContain(words);

      const isGitHub = 'GITHUB_ACTIONS' in variables(event);
      const text = await readFile(summary, 'utf8').catch(() => undefined);
      expect(text === undefined).toBe(!isGitHub);
      for (const shown of isGitHub ? [address, contentVersion, words] : []) expect(text).toContain(shown);
    },
  );
});
