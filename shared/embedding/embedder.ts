import { Poison, Unavailable } from '#shared/runtime/failures.ts';

/** Turns texts into vectors that are near each other when the texts have similar meanings. */
export type Embedder = {
  /** Name of the model. Vectors of different models cannot be compared. */
  name: string;
  /** Length of each vector; undefined if only the model's answers show it. */
  dimensions: number | undefined;
  /** Maximum number of texts of one call, and of their characters together. A longer single text is cut. */
  limits: { texts: number; characters: number };
  /**
   * One call to the model: vectors of length 1, in the order of the texts. It does not retry. Its errors contain neither texts nor the key.
   * @throws EmbedderUnavailable a later try may succeed
   * @throws EmbedderRefused no call will succeed until the configuration is changed
   * @throws TextsRefused these texts will not succeed, others may
   */
  embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]>;
};

/** The vector of a question, for comparison with passages. */
export type QuestionVector = { model: string; vector: Float32Array };

/** The model is unavailable, slow or busy, or its answer is invalid. */
export class EmbedderUnavailable extends Unavailable {
  override name = 'EmbedderUnavailable';
  /** Delay that the model asked for, if it did. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, retryAfterMs?: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** The key, the model or the address is wrong, or the budget is used up. */
export class EmbedderRefused extends Poison {
  override name = 'EmbedderRefused';
}

/** One of the texts is too long for the model, or invalid for it. */
export class TextsRefused extends Poison {
  override name = 'TextsRefused';
}

/** Vectors of these texts. A refused call is divided until the refused texts are found; their vectors are undefined. */
export async function embedEach(
  embedder: Embedder,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<(Float32Array | undefined)[]> {
  try {
    return await embedder.embed(texts, signal);
  } catch (error) {
    if (!(error instanceof TextsRefused)) throw error;
    if (texts.length === 1) return [undefined];
    const middle = Math.ceil(texts.length / 2);
    const first = await embedEach(embedder, texts.slice(0, middle), signal);
    return [...first, ...(await embedEach(embedder, texts.slice(middle), signal))];
  }
}

/** Texts in their order, grouped into calls of the maximum size. Pure. */
export function inCalls<T extends { text: string }>(items: readonly T[], { limits }: Pick<Embedder, 'limits'>): T[][] {
  const calls: T[][] = [];
  let characters = 0;
  for (const item of items) {
    const last = calls.at(-1);
    if (last === undefined || last.length === limits.texts || characters + item.text.length > limits.characters) {
      calls.push([item]);
      characters = item.text.length;
    } else {
      last.push(item);
      characters += item.text.length;
    }
  }
  return calls;
}

/** Models have at most some thousand dimensions. A call takes only so many arguments. */
const mostDimensions = 16_000;

/** The vector with the same direction and length 1. Undefined for zeros alone, a number that is not finite, or too many numbers. Pure. */
export function unitVector(numbers: readonly number[] | Float32Array): Float32Array | undefined {
  if (numbers.length > mostDimensions) return undefined;
  const length = Math.hypot(...numbers);
  if (!Number.isFinite(length) || length === 0) return undefined;
  return Float32Array.from(numbers, (number) => number / length);
}
