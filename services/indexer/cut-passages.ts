/** The visible text under one heading; `anchor` and `heading` are empty before the first. */
export type PageSection = { anchor: string; heading: string; text: string };

/** Long enough for a paragraph with its code, short enough that five fill no prompt. */
export const PASSAGE_CHARACTERS = 1_200;
/** Less than this is not worth a passage of its own and stays with what is before it. */
const SCRAP_CHARACTERS = 200;

/**
 * Cuts sections into passages of about 1,200 characters: at empty lines where there are any, else at line ends, ends of sentences, words, and
 * at last anywhere. Sections are never mixed, so each passage has one anchor. A heading without text of its own is a passage, too:
 * somebody may look for its words.
 */
export function cutPassages(sections: readonly PageSection[]): PageSection[] {
  return sections.flatMap(({ anchor, heading, text }) => {
    const pieces = cutText(text.trim());
    if (pieces.length === 0) return heading === '' ? [] : [{ anchor, heading, text: heading }];
    return pieces.map((piece) => ({ anchor, heading, text: piece }));
  });
}

function cutText(text: string, separators: readonly RegExp[] = boundaries): string[] {
  if (text.length <= PASSAGE_CHARACTERS) return text === '' ? [] : [text];
  const [separator, ...finer] = separators;
  if (!separator) return slices(text);
  const pieces: string[] = [];
  let piece = '';
  for (const part of text.split(separator)) {
    if (piece !== '' && piece.length + part.length > PASSAGE_CHARACTERS) {
      pieces.push(piece);
      piece = '';
    }
    piece += part;
  }
  if (piece.length < SCRAP_CHARACTERS && pieces.length > 0) pieces.push((pieces.pop() ?? '') + piece);
  else pieces.push(piece);
  return pieces.flatMap((part) =>
    part.length <= PASSAGE_CHARACTERS + SCRAP_CHARACTERS ? tidy(part) : cutText(part.trim(), finer),
  );
}

/** Coarsest first; each matches the empty place after a boundary, so that nothing is lost by splitting. */
const boundaries = [/(?<=\n\n)/, /(?<=\n)/, /(?<=[.!?]\s)|(?<=[。！？])/, /(?<=\s)/];

const tidy = (text: string): string[] => (text.trim() === '' ? [] : [text.trim()]);

function slices(text: string): string[] {
  const characters = Array.from(text);
  const count = Math.ceil(characters.length / PASSAGE_CHARACTERS);
  return Array.from({ length: count }, (_, at) =>
    characters.slice(at * PASSAGE_CHARACTERS, (at + 1) * PASSAGE_CHARACTERS).join(''),
  );
}
