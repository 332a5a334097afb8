import type { Left, SourceProject } from './source-project.ts';

/** Redirects of a file `_redirects`, as Netlify and Cloudflare Pages read it, in one of the folders. */
export async function redirectsFileOf(
  project: SourceProject,
  folders: readonly { from: string }[],
  left: Left[],
): Promise<{ source: string; destination: string }[]> {
  const file = ['_redirects', ...folders.map(({ from }) => `${from}/_redirects`)].find((path) => project.has(path));
  if (file === undefined) return [];
  const found: { source: string; destination: string }[] = [];
  for (const [index, line] of (await project.text(file)).split('\n').entries()) {
    if (/^\s*(#|$)/.test(line)) continue;
    const [source = '', destination = '', status = '301'] = line.trim().split(/\s+/);
    if (!source.startsWith('/') || !/^30[1278]!?$/.test(status) || source.includes(':'))
      left.push({ file, line: index + 1, what: 'This rule is no redirect of a path' });
    else
      found.push({
        source: source.replace(/\*$/, ':slug*'),
        destination: destination.replace(':splat', ':slug*'),
      });
  }
  return found;
}
