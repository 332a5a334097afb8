const MAX_PATH_BYTES = 1024;
const MAX_NAME_BYTES = 255;

/**
 * Why a path must not be in an archive, as the end of a sentence that starts with the path; undefined when it is fine. Fine is: relative,
 * `/`-separated, each name plain text. The same rule holds for what we write and for what we read, so that every bundle can be read back.
 */
export function archivePathProblem(path: string): string | undefined {
  if (path === '') return 'is empty';
  if (path.startsWith('/')) return 'is absolute';
  if (/^[A-Za-z]:/.test(path)) return 'starts with a drive letter';
  if (path.includes('\\')) return 'has a backslash';
  if (/[\u0000-\u001f\u007f]/.test(path)) return 'has a control character';
  if (path.includes('\ufffd') || !path.isWellFormed()) return 'is not valid UTF-8';
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `is longer than ${MAX_PATH_BYTES} bytes`;
  for (const name of path.split('/')) {
    if (name === '..') return 'climbs out of its folder';
    if (name === '' || name === '.') return 'has an empty or "." part';
    if (Buffer.byteLength(name) > MAX_NAME_BYTES) return `has a name longer than ${MAX_NAME_BYTES} bytes`;
  }
  return undefined;
}
