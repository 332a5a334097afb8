import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { promisify } from 'node:util';
import { createGunzip, gzipSync } from 'node:zlib';
import { extract, type Header, pack } from 'tar-stream';

/** A `.tar.gz` of the given files, and of further entries that are given by their tar header. */
export async function packTar(
  files: Record<string, string | Buffer>,
  others: (Partial<Header> & Pick<Header, 'name'>)[] = [],
): Promise<Buffer<ArrayBuffer>> {
  const archive = pack();
  for (const [name, content] of Object.entries(files)) archive.entry({ name }, content);
  for (const header of others) archive.entry(header, '');
  archive.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of archive as AsyncIterable<Buffer>) chunks.push(chunk);
  return gzipSync(Buffer.concat(chunks));
}

const run = promisify(execFile);

/** Reader with Python's `tarfile` in stream mode, which silently reads only the first member of a gzip file. */
const pythonLister = `
import sys, tarfile
with tarfile.open(sys.argv[1], mode='r|gz') as archive:
    for member in archive:
        body = archive.extractfile(member)
        while body and body.read(65536):
            pass
        print(member.name)
`;

/** Programs that must all read a bundle to its end; each returns the paths in it, sorted. */
export const archiveReaders: Record<string, (file: string) => Promise<string[]>> = {
  'GNU tar': (file) => lines('tar', ['--list', '--gzip', '--file', file]),
  bsdtar: (file) => lines('bsdtar', ['-tzf', file]),
  'busybox tar': (file) => lines('busybox', ['tar', 'tzf', file]),
  "Python's tarfile": (file) => lines('python3', ['-c', pythonLister, file]),
  'tar-stream': tarStream,
};

async function lines(command: string, args: string[]): Promise<string[]> {
  const { stdout } = await run(command, args, { maxBuffer: 256 * 1024 * 1024 });
  return stdout.split('\n').filter(Boolean).sort();
}

async function tarStream(file: string): Promise<string[]> {
  const paths: string[] = [];
  const archive = extract();
  const packed = createReadStream(file).pipe(createGunzip());
  packed.on('error', (error) => archive.destroy(error));
  packed.pipe(archive);
  for await (const entry of archive) {
    paths.push(entry.header.name);
    entry.resume();
  }
  return paths.sort();
}
