/**
 * `fetch` for a provider of models: what is sent has texts that not everybody may read, so no redirect takes it anywhere else, and an answer that
 * never ends does not fill the memory. The body of a longer answer breaks off with an error.
 */
export const fetchOfModel =
  (mostAnswerBytes: number): typeof fetch =>
  async (address, request) => {
    const { body, status, statusText, headers } = await fetch(address, { ...request, redirect: 'manual' });
    let bytes = 0;
    const count = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(part, controller) {
        bytes += part.byteLength;
        if (bytes > mostAnswerBytes) throw new Error('The answer of the model is too long.');
        controller.enqueue(part);
      },
    });
    return new Response(body?.pipeThrough(count) ?? null, { status, statusText, headers });
  };
