import { Poison, Unavailable } from '#shared/runtime/failures.ts';

/** Turns texts into vectors that are near each other where the texts mean the same. */
export type Embedder = {
  /** Of the model. Vectors of different names cannot be compared. */
  name: string;
  /** Numbers in each vector; undefined where only its answers tell. */
  dimensions: number | undefined;
  /** Texts that one call takes, and their characters together. A longer single text is cut. */
  limits: { texts: number; characters: number };
  /**
   * One call to the model: vectors of length 1, in the order of the texts. It repeats nothing. What it throws names no text and no key.
   * @throws EmbedderUnavailable worth another try, later
   * @throws EmbedderRefused no call will work until somebody changes the set-up
   * @throws TextsRefused these texts will not work, others may
   */
  embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]>;
};

/** A question as the search compares it with passages. */
export type QuestionVector = { model: string; vector: Float32Array };

/** The model is away, slow, busy, or answers nonsense. */
export class EmbedderUnavailable extends Unavailable {
  override name = 'EmbedderUnavailable';
  /** When it wants to be asked again, if it said so. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, retryAfterMs?: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** The key, the model or the address is wrong, or there is no budget left. */
export class EmbedderRefused extends Poison {
  override name = 'EmbedderRefused';
}

/** One of the texts is too long for the model, or is none that it takes. */
export class TextsRefused extends Poison {
  override name = 'TextsRefused';
}

/** Vectors of these texts, whatever they are: a call that refuses some of them is divided until it is known which. Undefined for those. */
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

/** Texts in their order, as many together as one call takes. Pure. */
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

/** The same direction with length 1. Undefined when it has none: a number that is not finite, or zeros alone. Pure. */
export function unitVector(numbers: readonly number[] | Float32Array): Float32Array | undefined {
  const length = Math.hypot(...numbers);
  if (!Number.isFinite(length) || length === 0) return undefined;
  return Float32Array.from(numbers, (number) => number / length);
}
