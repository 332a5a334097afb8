import type { Finding } from '#shared/docs/findings/finding-texts.ts';
import { withoutUndefined } from '#shared/docs/project/json-values.ts';

/**
 * A link whose target or anchor is missing. `place`: location of the link if it is not in a file of the project. `leadsTo`: the page that lacks the
 * anchor, with the anchor. `nearest`: the most similar anchor of that page. `meant`: the same one if it is certain that the link means it.
 */
export type BrokenLink = {
  page: string;
  line?: number | undefined;
  column?: number | undefined;
  /** The snippet of the project that has the link, if it is not in the page's own file. */
  file?: string | undefined;
  place?: string | undefined;
  target: string;
  reason: 'no such page or file' | 'no such anchor';
  leadsTo?: string | undefined;
  nearest?: string | undefined;
  meant?: string | undefined;
};

/** The diagnostic of a broken link, `broken-link` or `broken-anchor`. `file`: the page's source. */
export function brokenLinkDiagnostic(link: BrokenLink, file: string): Finding {
  const { line, column, place, reason, leadsTo, nearest } = link;
  const target = link.target.slice(0, 200);
  const [end, anchor = ''] = cut((leadsTo ?? '').slice(0, 200));
  const page = end === `/${link.page}` ? 'this page' : `the page ${JSON.stringify(end)}`;
  const found =
    reason === 'no such anchor'
      ? {
          code: 'broken-anchor' as const,
          message: `The link to ${JSON.stringify(target)} leads to ${page}, which has no anchor ${JSON.stringify(`#${anchor}`)}.${nearest === undefined ? '' : ` The nearest is ${JSON.stringify(`#${nearest}`)}.`}`,
        }
      : {
          code: 'broken-link' as const,
          message: `There is no page or file ${JSON.stringify(cut(target)[0])} in this export.`,
        };
  const message = place === undefined ? found.message : `${found.message} The link is in ${place}.`;
  return {
    severity: 'warning',
    code: found.code,
    message,
    file: link.file ?? file,
    ...withoutUndefined({ line, column }),
  };
}

/** Splits a target into path and anchor. The anchor may contain a hash. */
export function cut(target: string): [path: string, anchor?: string] {
  const at = target.indexOf('#');
  return at < 0 ? [target] : [target.slice(0, at), target.slice(at + 1)];
}
