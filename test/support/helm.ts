import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import { requireServer } from '#infra/setup/find-server.ts';

export type Resource = {
  apiVersion: string;
  kind: string;
  metadata: { name: string; annotations?: Record<string, string> };
};

export type Container = {
  args: string[];
  env: { name: string; value: string }[];
  securityContext: object;
  volumeMounts: { name: string; mountPath: string }[];
};

/** What a release would have: of an example of the chart, and with values as `--set` and `--set-string` take them. */
export type Release = { example?: string; set?: readonly string[]; setString?: readonly string[] };

/** A chart in `infra/charts`, by its name there. Releases are called `docs`, in the namespace `docs`. */
export function helmChart(name: string) {
  const folder = join(import.meta.dirname, '../../infra/charts', name);
  const values = ({ example, set = [], setString = [] }: Release) => [
    ...(example === undefined ? [] : ['--values', join(folder, 'examples', example)]),
    ...set.flatMap((one) => ['--set', one]),
    ...setString.flatMap((one) => ['--set-string', one]),
  ];
  const helm = (...args: string[]) => spawnSync(requireServer('helm'), args, { encoding: 'utf8' });
  const templates = new Map<string, ReturnType<typeof helm>>();
  const template = (release: Release) => {
    const key = JSON.stringify(release);
    const known = templates.get(key);
    if (known !== undefined) return known;
    const result = helm('template', 'docs', folder, '--namespace', 'docs', ...values(release));
    templates.set(key, result);
    return result;
  };
  return {
    examples: readdirSync(join(folder, 'examples')),
    /** What the linter has against a release; empty: nothing. */
    complaints(release: Release): string {
      const { status, stdout, stderr } = helm('lint', folder, '--strict', ...values(release));
      return status === 0 ? '' : stdout + stderr;
    },
    /** @throws what Helm says against the values */
    resources<R extends Resource>(release: Release = {}): R[] {
      const { status, stdout, stderr } = template(release);
      if (status !== 0 || stderr !== '') throw new Error(stderr);
      return loadAll(stdout).filter((each) => each !== null && each !== undefined) as R[];
    },
    /** What Helm says against the values. @throws when it has nothing against them */
    problem(release: Release = {}): string {
      const { status, stderr } = template(release);
      if (status === 0) throw new Error('Helm has nothing against these values.');
      return stderr;
    },
  };
}
