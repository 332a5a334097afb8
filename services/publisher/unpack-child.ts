import { Readable } from 'node:stream';
import { type ArchiveBudgets, readArchive } from '#shared/export/bundle/read-archive.ts';
import { type Ask, serveChild } from '#shared/docs/sandbox/child-server.ts';
import { mostBytes, mostFiles, type UnpackedFile, type UnpackQuestion } from './unpacked-files.ts';

export type UnpackRequest = { budgets: ArchiveBudgets };

/** The child of `openUploads`. It has no right to files: its parent sends it the archive and receives the unpacked files. */
serveChild(async (request, ask) => {
  const { budgets } = request as UnpackRequest;
  const kept = keeper(ask);
  for await (const { path, size, body } of readArchive(Readable.from(partsOf(ask)), budgets)) {
    let sizeBytes = 0;
    // Empty files are skipped, because an archive may have 200,000 of them.
    for await (const chunk of size === 0 ? [] : (body as AsyncIterable<Buffer>)) {
      sizeBytes += chunk.length;
      await kept.bytes(chunk);
    }
    await kept.file({ path, sizeBytes });
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

/** Batches small files, so that one message contains many. */
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
