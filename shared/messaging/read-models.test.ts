import { expect, test } from 'vitest';
import type { ProjectionPointer } from '#shared/interfaces/read-models.ts';
import { memoryDocuments } from '../../test/support/memory-documents.ts';
import { type DocumentChange, followPointers, liveStore } from './read-models.ts';

const documents = <T>() => memoryDocuments<T>(async () => {});

/** Resolves at the next change of the pointers. */
const changed = (pointers: ReturnType<typeof followPointers>) =>
  new Promise<void>((resolve) => {
    const forget = pointers.onChange(() => {
      forget();
      resolve();
    });
  });

test('without a pointer the blue generation is read; after a flip the other, and the old one counts while it is kept', async () => {
  const store = documents<ProjectionPointer>();
  const pointers = followPointers(store);
  expect(await pointers.live('exports')).toBe('blue');
  expect([pointers.counts('exports', 'blue'), pointers.counts('exports', 'green')]).toEqual([true, false]);
  let change = changed(pointers);
  await store.put('exports', { live: 'green', keptUntil: '2026-03-02T12:00:00.000Z' });
  await change;
  expect(await pointers.live('exports')).toBe('green');
  expect(await pointers.live('content')).toBe('blue');
  expect([pointers.counts('exports', 'blue'), pointers.counts('exports', 'green')]).toEqual([true, true]);
  change = changed(pointers);
  await store.put('exports', { live: 'green' });
  await change;
  expect(pointers.counts('exports', 'blue')).toBe(false);
  await pointers.close();
});

test('a watch that fails is begun again with the next question, and not after the end', async () => {
  let watches = 0;
  const pointers = followPointers({
    // oxlint-disable-next-line require-yield
    async *watch(): AsyncGenerator<DocumentChange<ProjectionPointer>> {
      watches += 1;
      throw new Error('The bus is unavailable.');
    },
  });
  await expect(pointers.live('exports')).rejects.toThrow('unavailable');
  await expect(pointers.live('exports')).rejects.toThrow('unavailable');
  expect(watches).toBe(2);
  await pointers.close();
  expect(watches).toBe(2);
});

test('reads go to the live generation, and a watch goes over to the new one', async () => {
  const store = documents<ProjectionPointer>();
  const pointers = followPointers(store);
  const [blue, green] = [documents<string>(), documents<string>()];
  await blue.put('a', 'old');
  await green.put('a', 'new');
  const live = liveStore(pointers, 'exports', { blue, green });
  expect((await live.get('a'))?.document).toBe('old');
  const end = new AbortController();
  const seen: string[] = [];
  for await (const change of live.watch('>', end.signal)) {
    seen.push(change.kind === 'put' ? change.document : change.kind);
    if (seen.length === 2) await store.put('exports', { live: 'green' });
    if (seen.length === 4) end.abort();
  }
  expect(seen).toEqual(['old', 'caught-up', 'new', 'caught-up']);
  expect((await live.get('a'))?.document).toBe('new');
  await pointers.close();
});
