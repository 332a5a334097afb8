import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { type PublicationSource, publicationSourceSchema } from '#shared/contracts/publication-source.ts';
import { jsonIn } from '#shared/runtime/canonical-json.ts';

type Environment = Record<string, string | undefined>;

/** The run of a CI that this command is a part of. */
export type CiRun = {
  source: PublicationSource;
  /** File that takes a summary in Markdown. */
  summaryFile?: string | undefined;
};

/** The run of GitHub Actions, GitLab CI or Bitbucket Pipelines that has set these variables; undefined elsewhere. */
export function ciRun(environment: Environment): CiRun | undefined {
  if (environment['GITHUB_ACTIONS'] === 'true')
    return { source: ofGitHub(environment), summaryFile: environment['GITHUB_STEP_SUMMARY'] };
  if (environment['GITLAB_CI'] === 'true')
    return {
      source: usable({
        commit: environment['CI_COMMIT_SHA'],
        branch: environment['CI_MERGE_REQUEST_SOURCE_BRANCH_NAME'] ?? environment['CI_COMMIT_REF_NAME'],
        pullRequest: environment['CI_MERGE_REQUEST_IID'],
      }),
    };
  if (environment['BITBUCKET_BUILD_NUMBER'] !== undefined)
    return {
      source: usable({
        commit: environment['BITBUCKET_COMMIT'],
        branch: environment['BITBUCKET_BRANCH'],
        pullRequest: environment['BITBUCKET_PR_ID'],
      }),
    };
  return undefined;
}

/** GitHub checks out a merge of a pull request, whose commit nobody else knows: its event names the last one of the branch. */
function ofGitHub(environment: Environment): PublicationSource {
  return usable({
    commit: headOf(environment['GITHUB_EVENT_PATH']) ?? environment['GITHUB_SHA'],
    branch: environment['GITHUB_HEAD_REF'] || environment['GITHUB_REF_NAME'],
    pullRequest: /^refs\/pull\/(\d+)\//.exec(environment['GITHUB_REF'] ?? '')?.[1],
  });
}

const eventSchema = z.object({ pull_request: z.object({ head: z.object({ sha: z.string() }) }) });

function headOf(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    return eventSchema.safeParse(jsonIn(readFileSync(file, 'utf8'))).data?.pull_request.head.sha;
  } catch {
    return undefined;
  }
}

/** The fields that a server accepts. A name that is too long must not prevent a publication. */
function usable(found: Record<'commit' | 'branch' | 'pullRequest', string | undefined>): PublicationSource {
  const { commit, branch, pullRequest } = publicationSourceSchema.shape;
  const known = {
    commit: commit.safeParse(found.commit || undefined).data,
    branch: branch.safeParse(found.branch || undefined).data,
    pullRequest: pullRequest.safeParse(found.pullRequest ? Number(found.pullRequest) : undefined).data,
  };
  return publicationSourceSchema.parse(known);
}
