import { LRUCache } from 'lru-cache';
import type { ContentId } from '#shared/contracts/identifiers.ts';
import { readSiteModelParts } from '#shared/docs/project/site-model-parts.ts';
import { readBlob } from '#shared/export/read-blob.ts';
import { type DocsOutline, docsOutline, type OutlineSkill } from '#shared/mcp/docs-outline.ts';
import { type ObjectStore, storeWithin } from '#shared/storage/object-store.ts';

/** Size of the cache. A page takes about 300 characters. */
const mostKeptCharacters = 30_000_000;
const withinMs = 10_000;

/** Outlines of content versions for agents. */
export type SiteOutlines = {
  /** The outline with all pages, also those of groups; undefined if the content is not stored. Rejects like the object store. */
  of(content: ContentId): Promise<DocsOutline | undefined>;
  /** The Markdown of a skill that the project has; undefined if it is gone. */
  skill(organization: string, file: NonNullable<OutlineSkill['file']>): Promise<string | undefined>;
};

/** Reads outlines from site models. A content version never changes, so the recently used ones are cached. */
export function siteOutlines(objectStore: Pick<ObjectStore, 'get'>): SiteOutlines {
  const kept = new LRUCache<string, Promise<DocsOutline | undefined>>({ max: 500 });
  const sized = new LRUCache<string, DocsOutline>({ maxSize: mostKeptCharacters, sizeCalculation: sizeOf });

  async function read(key: string, content: ContentId): Promise<DocsOutline | undefined> {
    const parts = await readSiteModelParts(objectStore, content, { signal: storeWithin(withinMs) });
    if (parts === undefined) return undefined;
    const outline = docsOutline(parts);
    sized.set(key, outline);
    return outline;
  }

  return {
    async of(content) {
      const key = `${content.organization}/${content.domain}/${content.contentVersion}`;
      const known = sized.get(key);
      if (known !== undefined) return known;
      // Requests that come while the model is read wait for the same reading.
      const reading = kept.get(key) ?? read(key, content).finally(() => kept.delete(key));
      kept.set(key, reading);
      return await reading;
    },
    async skill(organization, { sha256 }) {
      const bytes = await readBlob(objectStore, organization, sha256, { signal: storeWithin(withinMs) });
      return bytes && Buffer.from(bytes).toString('utf8');
    },
  };
}

const sizeOf = ({ pages, skills }: DocsOutline): number =>
  pages.reduce(
    (sum, { path, title, description = '' }) => sum + 3 * path.length + 2 * title.length + description.length + 150,
    skills.reduce((sum, { text = '' }) => sum + text.length, 500),
  );
