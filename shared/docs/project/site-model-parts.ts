import type { ContentId } from '#shared/contracts/identifiers.ts';
import { siteModelKey } from '#shared/contracts/stored-objects.ts';
import type { ObjectStore, ReadOptions } from '#shared/storage/object-store.ts';
import { getParsed, orBroken } from '#shared/storage/stored-json.ts';
import { type JsonPiece, parsePiece, piecesOf } from './json-pieces.ts';
import { type PageEntry, type SiteModel, siteModelSchema } from './site-model.ts';

/** A site model whose pages are read one by one. Each takes some kilobytes, and a service does not need all of them in memory at once. */
export type SiteModelParts = {
  site: Omit<SiteModel, 'pages'>;
  paths: ReadonlySet<string>;
  /** The pages in their order. Each call reads them again. Throws `BrokenObject` when a page does not match the schema. */
  pages(): Iterable<PageEntry>;
};

const { pages: pagesSchema } = siteModelSchema.shape;
const siteSchema = siteModelSchema.omit({ pages: true });
const pageSchema = pagesSchema.element;
const pathSchema = pageSchema.pick({ path: true });

/** The site model of a published content version; undefined if there is none. Rejects like `getJson`. */
export function readSiteModelParts(
  objectStore: Pick<ObjectStore, 'get'>,
  content: ContentId,
  options?: ReadOptions,
): Promise<SiteModelParts | undefined> {
  const key = siteModelKey(content);
  return getParsed(objectStore, key, (stored) => partsIn(key, stored), options);
}

/** The parts of a model that is in memory already. */
export const partsOf = ({ pages, ...site }: SiteModel): SiteModelParts => ({
  site,
  paths: new Set(pages.map(({ path }) => path)),
  pages: () => pages,
});

function partsIn(key: string, text: Uint8Array): SiteModelParts {
  const members = new Map<unknown, JsonPiece>();
  for (const { name, ...piece } of piecesOf(text, { start: 0, end: text.length }))
    members.set(name && parsePiece(text, name), piece);
  const pages = members.get('pages');
  if (pages === undefined) throw new Error('it has no pages');
  members.delete('pages');
  const site = siteSchema.parse(
    Object.fromEntries([...members].map(([name, piece]) => [name, parsePiece(text, piece)])),
  );
  const pieces = [...piecesOf(text, pages)];
  const paths = pieces.map((piece) => pathSchema.parse(parsePiece(text, piece)).path);
  return {
    site,
    paths: new Set(paths),
    *pages() {
      for (const piece of pieces) yield orBroken(key, () => pageSchema.parse(parsePiece(text, piece)));
    },
  };
}
