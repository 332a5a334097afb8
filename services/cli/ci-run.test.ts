import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newFolder } from '../../test/support/new-folder.ts';
import { ciRun } from './ci-run.ts';

const commit = 'a'.repeat(40);

test('GitHub: a pull request has the last commit of its branch, not that of the merge', () => {
  const event = join(newFolder(), 'event.json');
  writeFileSync(event, JSON.stringify({ pull_request: { head: { sha: commit } } }));
  const environment = {
    GITHUB_ACTIONS: 'true',
    GITHUB_SHA: 'b'.repeat(40),
    GITHUB_EVENT_PATH: event,
    GITHUB_HEAD_REF: 'docs/install',
    GITHUB_REF: 'refs/pull/12/merge',
    GITHUB_REF_NAME: '12/merge',
    GITHUB_STEP_SUMMARY: '/summary',
  };
  expect(ciRun(environment)).toEqual({
    source: { commit, branch: 'docs/install', pullRequest: 12 },
    summaryFile: '/summary',
  });
});

test('GitHub: a push has its commit and branch', () => {
  const push = {
    GITHUB_ACTIONS: 'true',
    GITHUB_SHA: commit,
    GITHUB_HEAD_REF: '',
    GITHUB_REF: 'refs/heads/main',
    GITHUB_REF_NAME: 'main',
  };
  expect(ciRun(push)?.source).toEqual({ commit, branch: 'main' });
});

test('GitLab and Bitbucket are known by their variables, and a terminal has none', () => {
  const merge = {
    CI_MERGE_REQUEST_IID: '7',
    CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: 'fix',
    CI_COMMIT_REF_NAME: 'refs/merge',
  };
  expect(ciRun({ GITLAB_CI: 'true', CI_COMMIT_SHA: commit, ...merge })?.source).toEqual({
    commit,
    branch: 'fix',
    pullRequest: 7,
  });
  const pipeline = { BITBUCKET_BUILD_NUMBER: '3', BITBUCKET_COMMIT: commit, BITBUCKET_BRANCH: 'main' };
  expect(ciRun(pipeline)?.source).toEqual({ commit, branch: 'main' });
  expect(ciRun({ PATH: '/bin' })).toBeUndefined();
});

test('a value that a server would refuse is left out', () => {
  const odd = {
    GITLAB_CI: 'true',
    CI_COMMIT_SHA: 'main',
    CI_COMMIT_REF_NAME: 'x'.repeat(201),
    CI_MERGE_REQUEST_IID: '-1',
  };
  expect(ciRun(odd)).toEqual({ source: {} });
});
