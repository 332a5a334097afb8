import { setImmediate } from 'node:timers/promises';
import { archiveNames, ArchiveRefused } from '#shared/export/bundle/archive-names.ts';

/** A file of a docs project: its path there, and the SHA-256 and size of its bytes. */
export type ListedFile = { path: string; sha256: string; sizeBytes: number };

/**
 * Name of the list of all files, as the first entry of an archive that has only some of them. Projects have no file of this name in their sites, because
 * bundles keep `_bindery/` for themselves.
 */
export const fileListName = '_bindery/files';

/** Maximum size of a list: enough for the maximum number of files with long paths. */
export const mostListBytes = 96 * 1024 * 1024;

/** A line for each file, `<sha256> <size> <path>`, in any order. */
export const fileListText = (files: readonly ListedFile[]): string =>
  files.map(({ path, sha256, sizeBytes }) => `${sha256} ${sizeBytes} ${path}\n`).join('');

const line = /^([0-9a-f]{64}) (0|[1-9]\d{0,14}) (.+)$/;
const mostQuoted = 300;

/**
 * Number of lines that are read before a pause. They take 20 ms; the longest list takes two seconds, during which the service must answer other
 * requests.
 */
const linesInARow = 2_000;

/** Reads a list. Rejects with `ArchiveRefused` for an invalid line, for names that an archive may not have, and beyond the limits. */
export async function readFileList(text: string, limits: { files: number; bytes: number }): Promise<ListedFile[]> {
  const names = archiveNames({ portable: false, entries: limits.files });
  const files: ListedFile[] = [];
  let bytes = 0;
  let start = 0;
  while (start < text.length) {
    const end = text.indexOf('\n', start);
    const written = text.slice(start, end === -1 ? undefined : end);
    const [, sha256 = '', size = '', path = ''] = line.exec(written) ?? [];
    const file = { path, sha256, sizeBytes: Number(size) };
    if (sha256 === '' || names.fileOf({ name: path, type: 'file', size: file.sizeBytes }) !== path) {
      const shown = JSON.stringify(written.slice(0, mostQuoted));
      throw new ArchiveRefused(
        `line ${files.length + 1} of the list of files is ${shown}: write "<sha256> <size in bytes> <path>"`,
      );
    }
    bytes += file.sizeBytes;
    files.push(file);
    if (files.length > limits.files) throw new ArchiveRefused(`the list of files has more than ${limits.files} files`);
    if (bytes > limits.bytes) throw new ArchiveRefused(`the listed files have more than ${limits.bytes} bytes`);
    start = end === -1 ? text.length : end + 1;
    if (files.length % linesInARow === 0) await setImmediate();
  }
  return files;
}
