/** Reads a stream of events as a script with curl would: line by line, `data:` lines as JSON. */
export async function readEvents(
  response: Response,
): Promise<{ events: Record<string, unknown>[]; done: boolean; raw: string }> {
  const raw = await response.text();
  const data = raw
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice('data: '.length));
  const done = data.at(-1) === '[DONE]';
  return {
    raw,
    done,
    events: data.filter((value) => value !== '[DONE]').map((value) => JSON.parse(value) as Record<string, unknown>),
  };
}

export const deltas = (events: readonly Record<string, unknown>[]): string =>
  events.map((event) => (event.type === 'text-delta' ? String(event.delta) : '')).join('');
