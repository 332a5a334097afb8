import { InvalidProject } from '#shared/docs/project/diagnostics.ts';
import { isJsonObject, type JsonValue, textOf } from '#shared/docs/project/json-values.ts';
import { placesOfNames } from '#shared/docs/project/place-of-name.ts';
import type { NamedFiles } from '#shared/docs/project/project-files.ts';
import { readConfig } from '#shared/docs/project/read-config.ts';
import { fontElsewhere, fontWithoutFile, remoteFonts } from '#shared/docs/project/read-fonts.ts';
import { addressesNamedIn } from '#shared/docs/reference/named-addresses.ts';
import { notInUpload, remoteAddress } from '#shared/docs/reference/remote-files.ts';

export type PartKind = 'description' | 'style' | 'font' | 'picture';

/**
 * A file at an address that a project names, with the first place that names it. `otherwise`: further addresses that are asked if the site refuses the
 * first. `replaces`: findings of the project's reader about its absence.
 */
export type NamedPart = {
  kind: PartKind;
  address: string;
  otherwise: string[];
  file: string;
  line?: number;
  replaces: { code: string; message: string }[];
  /** True for a file that a fetched style sheet names. */
  isOfStyle?: boolean;
};

/**
 * The files that a project names by address: API descriptions, fonts, and on request pictures, each once, sorted by address. None for a project that
 * cannot be read: its reader reports the error.
 */
export async function namedParts(project: NamedFiles, { pictures }: { pictures: boolean }): Promise<NamedPart[]> {
  const found = new Map<string, NamedPart>();
  const add = (part: NamedPart): void => {
    if (!found.has(part.address)) found.set(part.address, part);
  };
  try {
    for (const [address, { written, ...place }] of await addressesNamedIn(project)) {
      const replaces = [...written].map((text) => ({ code: notInUpload.code, message: notInUpload.message(text) }));
      add({ kind: 'description', address, otherwise: [], ...place, replaces });
    }
    const { value, file, files } = await readConfig(project);
    const placeOf = await placesOfNames(project, files);
    for (const font of remoteFonts(value['fonts'])) {
      const isStyle = 'styles' in font;
      const [address, ...otherwise] = isStyle ? font.styles : [remoteAddress(font.source)];
      if (address === undefined) continue;
      const message = isStyle ? fontWithoutFile(font.family) : fontElsewhere(font.family, font.source);
      const place = placeOf(isStyle ? font.family : font.source) ?? { file };
      const replaces = [{ code: 'font-without-file', message }];
      add({ kind: isStyle ? 'style' : 'font', address, otherwise: otherwise.filter(isText), ...place, replaces });
    }
    if (pictures) {
      for (const written of [...textsIn(value['logo']), ...textsIn(value['favicon'])]) {
        const address = remoteAddress(written);
        if (address !== undefined)
          add({ kind: 'picture', address, otherwise: [], ...(placeOf(written) ?? { file }), replaces: [] });
      }
      // The parsers of pages are loaded on use, because few projects want their pictures fetched.
      const { picturesOfPages } = await import('./pictures-of-pages.ts');
      for (const part of await picturesOfPages(project)) add(part);
    }
  } catch (error) {
    if (!(error instanceof InvalidProject)) throw error;
    return [];
  }
  return [...found.values()].sort((a, b) => (a.address < b.address ? -1 : 1));
}

/** The texts of a setting that is one, or has one for light and one for dark. */
function textsIn(value: JsonValue | undefined): string[] {
  if (isJsonObject(value)) return [value['light'], value['dark']].flatMap((each) => textOf(each) ?? []);
  const text = textOf(value);
  return text === undefined ? [] : [text];
}

const isText = (value: string | undefined): value is string => value !== undefined;
