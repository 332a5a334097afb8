/**
 * `fetch` for a provider of models or of logins. Requests may contain restricted texts or secrets, so redirects are not followed. An endless response
 * must not fill the memory, so a body over the limit fails with an error.
 */
export const boundedFetch =
  (mostAnswerBytes: number): typeof fetch =>
  async (address, request) => {
    const { body, status, statusText, headers } = await fetch(address, { ...request, redirect: 'manual' });
    return new Response(body && cut(body.getReader(), mostAnswerBytes), { status, statusText, headers });
  };

type Bytes = Uint8Array<ArrayBuffer>;

/** Passes on chunks without the queues of a `TransformStream`, because every token of an answer passes through it. */
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
        const error = new Error(`The answer has more than ${mostBytes} bytes.`);
        controller.error(error);
        await reader.cancel(error);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
