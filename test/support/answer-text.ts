/** The body of an answer. A stream of events may not end, so it is read until its first event is whole, and the rest is cancelled. */
export async function answerText(answer: Response): Promise<string> {
  if (!answer.headers.get('content-type')?.startsWith('text/event-stream')) return await answer.text();
  let text = '';
  for await (const part of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part;
    if (text.includes('\n\n')) break;
  }
  return text;
}
