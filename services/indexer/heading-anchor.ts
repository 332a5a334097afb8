/**
 * Anchor of a heading as readers' addresses have it: lower case, white space and dots as `-`, parentheses gone; the id its author wrote
 * wins; repeated ones get `-2`, `-3`. `seen` counts those of the page.
 */
export function headingAnchor(title: string, id: string | undefined, seen: Map<string, number>): string {
  const anchor =
    id ??
    title
      .trim()
      .toLowerCase()
      .replaceAll(/[()]/g, '')
      .replaceAll("'", '’')
      .replaceAll(/[\s.]+/g, '-');
  const count = (seen.get(anchor) ?? 0) + 1;
  seen.set(anchor, count);
  return count === 1 ? anchor : `${anchor}-${count}`;
}
