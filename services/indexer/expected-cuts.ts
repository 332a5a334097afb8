import { z } from 'zod';
import type { Expected } from '#shared/docs/sandbox/child-request.ts';
import { Misfit } from '#shared/docs/sandbox/frames.ts';
import {
  anchorCharacters,
  headingCharacters,
  mostLinkCharacters,
  mostLinks,
  mostPassages,
  mostTargetCharacters,
  passageCharacters,
} from './cut-limits.ts';
import type { CutResponse } from './read-page.ts';

/*
 * Limits of a child's answer about pages. It decides the texts of its own pages, but must keep to the limits of an index: longer or more passages of
 * a page would slow down the index of the whole site.
 */

/** Limit of a passage. It may exceed `passageCharacters`: the rest of a text stays with its last passage, and a cut may fall into the middle of a line. */
const mostPassageCharacters = 3 * passageCharacters;
const mostMarkdown = 32 * 1024 * 1024;
const mostReason = 2_000;

const text = (most: number) => z.string().max(most);

const cutPage = z.strictObject({
  passages: z
    .array(
      z.strictObject({
        anchor: text(anchorCharacters),
        heading: text(headingCharacters),
        text: text(mostPassageCharacters),
      }),
    )
    .max(mostPassages),
  links: z.array(z.strictObject({ target: text(mostTargetCharacters), text: text(mostLinkCharacters) })).max(mostLinks),
  markdown: text(mostMarkdown),
  peoplesMarkdown: text(mostMarkdown).optional(),
});
const failure = z.strictObject({ failed: text(mostReason) });

/** Checks that a child answers each page of its request, within the limits above. */
export function expectedCuts(pages: number): Expected<CutResponse> {
  return {
    schema: z.array(z.union([cutPage, failure])),
    verify({ length }) {
      if (length !== pages) throw new Misfit('it answered for another number of pages than it was given');
    },
  };
}
