import { gzipSync } from 'node:zlib';
import { type Header, pack } from 'tar-stream';

/** A `.tar.gz` of the given files; entries of other kinds by their tar header. */
export async function packTar(
  files: Record<string, string | Buffer>,
  others: (Partial<Header> & Pick<Header, 'name'>)[] = [],
): Promise<Buffer<ArrayBuffer>> {
  const archive = pack();
  for (const [name, content] of Object.entries(files)) archive.entry({ name }, content);
  for (const header of others) archive.entry(header);
  archive.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of archive as AsyncIterable<Buffer>) chunks.push(chunk);
  return gzipSync(Buffer.concat(chunks));
}
