import type { ContentState } from '#shared/contracts/content-events.ts';
import { ApiError } from '#shared/errors/api-error.ts';

/** The content version to export: the one with that label if there is one, else the latest. Throws `not_found`. Pure. */
export function chooseContent(domain: string, content: ContentState | undefined, label: string | undefined): string {
  const labelled = label !== undefined && content !== undefined && Object.hasOwn(content.labels, label);
  const chosen = labelled ? content.labels[label] : content?.latest;
  if (chosen === undefined) {
    throw new ApiError(
      'not_found',
      `Nothing is published for the domain "${domain}" yet. Publish its docs project with PUT /v1/domains/${domain}/content.`,
    );
  }
  return chosen;
}
