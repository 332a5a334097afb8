import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { sha256Hex } from '#shared/contracts/identifiers.ts';
import { partShortTextsKey } from '#shared/contracts/stored-objects.ts';
import type { StoredText } from '#shared/docs/render/closing-store.ts';
import { Misfit } from '#shared/docs/sandbox/frames.ts';
import { deflateWhole, inflatePieces } from '#shared/export/bundle/deflated-bytes.ts';
import type { UnreadBytes } from '#shared/export/bundle/segment-writer.ts';
import { readSummedObject, summedObject } from '#shared/export/summed-object.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { type ObjectStore, unlessDamaged } from '#shared/storage/object-store.ts';
import type { closingParts } from './closing-parts.ts';

/*
 * Search texts that a child shortened, because a site has too many, for later closing segments. Those of a run of segments are one object beside the
 * part of that run. Each has a name made from the SHA-256 of the text that was shortened and the length of its longest section, so a text that changed
 * has another name. Texts that are missing or damaged are shortened again.
 *
 * The object has two lines and bytes: a checksum over its key and the rest, the list of the texts, and their deflated bytes in that order.
 */

const listSchema = z.object({
  version: z.literal(1),
  texts: z.array(
    z.object({
      name: z.string(),
      sizeBytes: z.int().min(0),
      rawLength: z.int().min(0),
      crc32: z.int().min(0),
      sha256: sha256Hex,
    }),
  ),
});

type ShortText = Omit<z.infer<typeof listSchema>['texts'][number], 'name'> & { deflated: Uint8Array };
type Run = { texts: Map<string, ShortText>; hasNew: boolean };

/** Limit of the deflated texts in memory. Those of one language and version of a site have a third of that at most. */
const mostBytes = 32 * 1024 * 1024;
const putsAtOnce = 4;

/** The shortened search texts of a plan. They are read from the store unless they are made `anew`. */
export function shortTexts(
  objectStore: ObjectStore,
  organization: string,
  parts: Pick<ReturnType<typeof closingParts>, 'nameOf' | 'partKeyOf'>,
  { anew, signal }: { anew: boolean; signal: AbortSignal },
) {
  const runs = new Map<string, Promise<Run>>();
  let room = mostBytes;
  const nameOf = (longest: number, text: StoredText): string => `${longest} ${parts.nameOf(text)}`;

  /** The kept texts of the run of a segment; none for a small site, whose runs have no parts. */
  function runOf({ segment }: StoredText): Promise<Run> {
    const key = parts.partKeyOf(segment);
    if (key === undefined) return Promise.resolve({ texts: new Map(), hasNew: false });
    const known = runs.get(key) ?? readRun(key);
    runs.set(key, known);
    return known;
  }

  async function readRun(key: string): Promise<Run> {
    const name = partShortTextsKey(organization, key);
    const stored = anew ? undefined : await unlessDamaged(objectStore.get(name, { signal }));
    const texts = (stored && textsIn(name, stored)) ?? new Map<string, ShortText>();
    room -= stored?.length ?? 0;
    return { texts: room < 0 ? new Map() : texts, hasNew: false };
  }

  return {
    nameOf,
    /** The length of each shortened text that is kept; null for the others. */
    sizes: (longest: number, texts: readonly StoredText[]): Promise<(number | null)[]> =>
      Promise.all(texts.map(async (text) => (await runOf(text)).texts.get(nameOf(longest, text))?.rawLength ?? null)),
    /** Returns a shortened text: the kept one, or the one that was `made`, which is kept from then on. */
    async take(
      longest: number,
      text: StoredText,
      made: Uint8Array | null,
    ): Promise<UnreadBytes & { raw?: Uint8Array }> {
      const run = await runOf(text);
      const name = nameOf(longest, text);
      const kept = run.texts.get(name);
      if (made !== null) {
        const fresh = await shortText(made);
        room -= fresh.deflated.length;
        if (room >= 0) {
          run.texts.set(name, fresh);
          run.hasNew = true;
        }
        return { ...unread(fresh), raw: made };
      }
      if (kept === undefined) throw new Misfit('it wrote a short text that is not kept');
      return unread(kept);
    },
    /** Stores the texts of the runs that have new ones. To be called when the closing segment is complete. */
    async store(): Promise<void> {
      await inParallel([...runs], putsAtOnce, async ([key, reading]) => {
        const { texts, hasNew } = await reading;
        if (!hasNew) return;
        const name = partShortTextsKey(organization, key);
        await objectStore.put(name, bytesOf(name, texts), { contentType: 'application/octet-stream', signal });
      });
    },
  };
}

async function shortText(raw: Uint8Array): Promise<ShortText> {
  const deflated = await deflateWhole(raw);
  const sizes = { sizeBytes: deflated.length, rawLength: raw.length };
  return { ...sizes, crc32: crc32(raw), sha256: hash('sha256', deflated, 'hex'), deflated };
}

const unread = ({ deflated, rawLength, crc32: sum, sha256 }: ShortText): UnreadBytes => ({
  ...{ deflated, rawLength, crc32: sum, sha256 },
  inflate: () => inflatePieces(deflated, rawLength, sha256),
});

function bytesOf(name: string, texts: ReadonlyMap<string, ShortText>): Buffer {
  const list = [...texts].map(([text, { deflated: _, ...facts }]) => ({ name: text, ...facts }));
  const deflated = [...texts.values()].map((text) => text.deflated);
  return summedObject(name, { version: 1, texts: list }, deflated);
}

/** The texts in the bytes of an object; undefined if it is damaged or that of another key. */
function textsIn(name: string, stored: Uint8Array): Map<string, ShortText> | undefined {
  const read = readSummedObject(name, stored, listSchema);
  let at = 0;
  return (
    read &&
    new Map(
      read.facts.texts.map(({ name: text, ...facts }) => {
        const deflated = read.bytes.subarray(at, (at += facts.sizeBytes));
        return [text, { ...facts, deflated }];
      }),
    )
  );
}
