import { fileKind } from './classify-files.ts';
import type { Report } from './diagnostic-list.ts';
import { pagePathOf } from './page-path.ts';
import type { ProjectFile } from './project-files.ts';
import { quoted } from './quoted.ts';

/** Page path → file. Of `x.mdx` and `x.md` the first is the page. `x` and `x/index` may both be there, but readers find one of them. */
export function filesByPagePath(
  files: readonly ProjectFile[],
  ignored: (path: string) => boolean,
  report: Report,
): Map<string, string> {
  const byPath = new Map<string, string>();
  for (const { path: file } of files) {
    if (fileKind(file) !== 'page') continue;
    const path = pagePathOf(file);
    const other = byPath.get(path);
    if (other !== undefined) {
      const message = `${quoted(other)} and ${quoted(file)} would be the same page; the .mdx file is. Rename or remove the other one.`;
      report({ severity: 'warning', code: 'page-collision', message, file });
    }
    if (other === undefined || file.endsWith('.mdx')) byPath.set(path, file);
  }
  for (const [path, file] of byPath) {
    const folder = path.endsWith('/index') ? path.slice(0, -'/index'.length) : undefined;
    const other = folder === undefined ? undefined : byPath.get(folder);
    if (other === undefined || ignored(file) || ignored(other)) continue;
    const message = `${quoted(other)} and ${quoted(file)} are both asked for at "/${folder}". Rename one of them.`;
    report({ severity: 'warning', code: 'page-collision', message, file });
  }
  return byPath;
}
