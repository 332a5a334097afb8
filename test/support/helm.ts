import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load, loadAll } from 'js-yaml';
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

/** A release: an example of the chart, with values as for `--set` and `--set-string`. */
export type Release = { example?: string; set?: readonly string[]; setString?: readonly string[] };

/** A chart in `infra/charts`, by its name there. Releases are called `docs`, in the namespace `docs`. */
export function helmChart(name: string) {
  const charts = join(import.meta.dirname, '../../infra/charts');
  const folder = join(charts, name);
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
    /** Keys that the first version of the chart did not have, such as `login.redis`. */
    laterKeys(): string[] {
      const valuesIn = (file: string) => load(readFileSync(join(charts, file), 'utf8'));
      return keysBeyond(valuesIn(`first-values/${name}.yaml`), valuesIn(`${name}/values.yaml`));
    },
    /**
     * Errors of Helm about an upgrade with `--reuse-values` of a release whose chart did not have these keys. Such an upgrade
     * uses only the values of the release, without the defaults of the new chart.
     */
    problemOfUpgrade(without: readonly string[], release: Release): string {
      const copy = mkdtempSync(join(tmpdir(), 'bindery-chart-'));
      try {
        cpSync(folder, copy, { recursive: true });
        const before = load(readFileSync(join(folder, 'values.yaml'), 'utf8'));
        for (const key of without) removeKey(before, key.split('.'));
        writeFileSync(join(copy, 'values.yaml'), JSON.stringify(before));
        const { status, stderr } = helm('template', 'docs', copy, '--namespace', 'docs', ...values(release));
        return status === 0 ? '' : stderr;
      } finally {
        rmSync(copy, { recursive: true });
      }
    },
    /** Problems that the linter finds in a release. */
    complaints(release: Release): string {
      const { status, stdout, stderr } = helm('lint', folder, '--strict', ...values(release));
      return status === 0 ? '' : stdout + stderr;
    },
    /** @throws the errors of Helm about the values */
    resources<R extends Resource>(release: Release = {}): R[] {
      const { status, stdout, stderr } = template(release);
      if (status !== 0 || stderr !== '') throw new Error(stderr);
      return loadAll(stdout).filter((each) => each !== null && each !== undefined) as R[];
    },
    /** Errors of Helm about the values. @throws when there are none */
    problem(release: Release = {}): string {
      const { status, stderr } = template(release);
      if (status === 0) throw new Error('Helm accepts these values.');
      return stderr;
    },
  };
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The keys of `now` that `before` does not have, with the keys inside them. */
function keysBeyond(before: unknown, now: unknown, path = ''): string[] {
  if (!isMap(now)) return [];
  return Object.entries(now).flatMap(([name, value]) => {
    const key = path === '' ? name : `${path}.${name}`;
    const known = isMap(before) ? before[name] : undefined;
    return [...(known === undefined ? [key] : []), ...keysBeyond(known, value, key)];
  });
}

function removeKey(values: unknown, [name = '', ...rest]: string[]): void {
  if (!isMap(values)) return;
  if (rest.length === 0) delete values[name];
  else removeKey(values[name], rest);
}
