const MAX_SHOWN = 80;

/** What an author wrote, short and visible enough to stand in a message: control characters escaped, long text cut. */
export function quoted(text: string): string {
  const shown = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
  return JSON.stringify(shown.toWellFormed());
}
