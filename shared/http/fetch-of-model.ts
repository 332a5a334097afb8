/**
 * `fetch` for a provider of models: what is sent has texts that not everybody may read, so no redirect takes it anywhere else, and an answer that
 * never ends does not fill the memory. The body of a longer answer breaks off with an error.
 */
export const fetchOfModel =
  (mostAnswerBytes: number): typeof fetch =>
  async (address, request) => {
    const { body, status, statusText, headers } = await fetch(address, { ...request, redirect: 'manual' });
    return new Response(body && cut(body.getReader(), mostAnswerBytes), { status, statusText, headers });
  };

type Bytes = Uint8Array<ArrayBuffer>;

/** Passes on what is read, without the queues of a `TransformStream`: each word of an answer comes by here. */
function cut(reader: ReadableStreamDefaultReader<Bytes>, mostBytes: number): ReadableStream<Bytes> {
  let bytes = 0;
  return new ReadableStream<Bytes>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) {
          controller.close();
          return;
        }
        bytes += value.byteLength;
        if (bytes <= mostBytes) {
          controller.enqueue(value);
          return;
        }
        const error = new Error('The answer of the model is too long.');
        controller.error(error);
        await reader.cancel(error);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
