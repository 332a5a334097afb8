/** A chunk of the UI message stream. */
export type UiChunk = { type: string; [key: string]: unknown };

/** The keys that every released version of the AI SDK from 5.0.0 on accepts; others make some of them reject the whole message. */
const acceptedKeys: Readonly<Record<string, readonly string[]>> = {
  'start-step': [],
  'finish-step': [],
  'text-start': ['id', 'providerMetadata'],
  'text-delta': ['id', 'delta', 'providerMetadata'],
  'text-end': ['id', 'providerMetadata'],
  'reasoning-start': ['id', 'providerMetadata'],
  'reasoning-delta': ['id', 'delta', 'providerMetadata'],
  'reasoning-end': ['id', 'providerMetadata'],
  'source-url': ['sourceId', 'url', 'title', 'providerMetadata'],
  'source-document': ['sourceId', 'mediaType', 'title', 'filename', 'providerMetadata'],
  file: ['url', 'mediaType', 'providerMetadata'],
  'tool-input-start': ['toolCallId', 'toolName', 'providerExecuted', 'dynamic'],
  'tool-input-delta': ['toolCallId', 'inputTextDelta'],
  'tool-input-available': ['toolCallId', 'toolName', 'input', 'providerExecuted', 'providerMetadata', 'dynamic'],
  'tool-output-available': ['toolCallId', 'output', 'providerExecuted', 'dynamic'],
  'tool-output-error': ['toolCallId', 'errorText', 'providerExecuted', 'dynamic'],
  error: ['errorText'],
};

/** What of a chunk can be sent to any client: none, one, or for a tool's wrong input two chunks. `start` and `finish` are the writer's own. */
export function acceptedChunks(chunk: UiChunk): UiChunk[] {
  if (chunk.type === 'tool-input-error') {
    return [
      { ...chunk, type: 'tool-input-available' },
      { ...chunk, type: 'tool-output-error', errorText: 'The input of the tool was wrong.' },
    ].flatMap(acceptedChunks);
  }
  const keys = chunk.type.startsWith('data-')
    ? ['id', 'data', 'transient']
    : Object.hasOwn(acceptedKeys, chunk.type)
      ? acceptedKeys[chunk.type]
      : undefined;
  if (!keys) return [];
  const accepted: UiChunk = { type: chunk.type };
  for (const key of keys) if (chunk[key] !== undefined) accepted[key] = chunk[key];
  return [accepted];
}
