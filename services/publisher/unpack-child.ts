import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { type ArchiveBudgets, readArchive } from '#shared/export/bundle/read-archive.ts';
import { type Ask, serveChild } from '#shared/docs/sandbox/child-server.ts';

export type UnpackRequest = { budgets: ArchiveBudgets };

export type UnpackedFile = { path: string; sha256: string; sizeBytes: number };

/**
 * What the child asks its parent: the next part of the archive (bytes, or null at its end), or to keep what it unpacked. `bytes` belong to
 * the files in their order; a file is named with its last bytes.
 */
export type UnpackQuestion = { kind: 'more' } | { kind: 'keep'; files: UnpackedFile[]; bytes: Uint8Array };

/** The child of `openUploads`. It has no right to files: the archive comes from its parent, and goes back there unpacked. */
serveChild(async (request, ask) => {
  const { budgets } = request as UnpackRequest;
  const kept = keeper(ask);
  for await (const { path, size, body } of readArchive(Readable.from(partsOf(ask)), budgets)) {
    const hash = createHash('sha256');
    let sizeBytes = 0;
    // Nothing comes of an empty one, and an archive may have 200,000 of them.
    for await (const chunk of size === 0 ? [] : (body as AsyncIterable<Buffer>)) {
      hash.update(chunk);
      sizeBytes += chunk.length;
      await kept.bytes(chunk);
    }
    await kept.file({ path, sha256: hash.digest('hex'), sizeBytes });
  }
  await kept.flush();
});

async function* partsOf(ask: Ask): AsyncGenerator<Uint8Array> {
  for (;;) {
    const part = (await ask({ kind: 'more' } satisfies UnpackQuestion)) as Uint8Array | null;
    if (part === null) return;
    yield part;
  }
}

const mostBytes = 512 * 1024;
const mostFiles = 2_000;

/** Gathers small files, so that one message has many. */
function keeper(ask: Ask) {
  let files: UnpackedFile[] = [];
  let chunks: Uint8Array[] = [];
  let size = 0;
  const flush = async (): Promise<void> => {
    const question: UnpackQuestion = { kind: 'keep', files, bytes: Buffer.concat(chunks, size) };
    [files, chunks, size] = [[], [], 0];
    await ask(question);
  };
  return {
    flush,
    async bytes(chunk: Uint8Array): Promise<void> {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= mostBytes) await flush();
    },
    async file(file: UnpackedFile): Promise<void> {
      files.push(file);
      if (files.length >= mostFiles) await flush();
    },
  };
}
