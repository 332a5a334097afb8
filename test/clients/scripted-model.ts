import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';

/** A language model whose stream a test writes. `signal` is the one that the service gave it. */
export function scriptedModel(
  script: (signal: AbortSignal) => AsyncIterable<LanguageModelV4StreamPart>,
): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'test',
    modelId: 'scripted',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('this model only streams')),
    doStream: ({ abortSignal }) =>
      Promise.resolve({ stream: ReadableStream.from(script(abortSignal ?? new AbortController().signal)) }),
  };
}

export const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};
