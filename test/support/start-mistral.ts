import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { onLoopback } from './on-loopback.ts';

/** A request as Mistral receives it. */
type MistralRequest = {
  path: string;
  headers: IncomingHttpHeaders;
  body: {
    model: string;
    stream?: boolean;
    temperature?: number;
    messages: { role: string; content: unknown; tool_calls?: unknown[]; tool_call_id?: string }[];
    tools?: { function: { name: string } }[];
    tool_choice?: string;
  };
  /** Resolves when the connection of this request is closed before its answer has ended. */
  closed: Promise<void>;
};

/** Answer of the server to one request. */
export type MistralAnswer = (response: ServerResponse, request: MistralRequest) => void | Promise<void>;

/** One event of a streamed answer, with the fields that Mistral's server has in it. */
export function mistralChunk(
  delta: { content: unknown; tool_calls?: unknown },
  finishReason: string | null = null,
): string {
  const usage = { prompt_tokens: 200, completion_tokens: 7, total_tokens: 207 };
  return `data: ${JSON.stringify({
    id: 'cmpl-1',
    object: 'chat.completion.chunk',
    created: 1_767_225_600,
    model: 'mistral-small-latest',
    choices: [{ index: 0, delta, finish_reason: finishReason }],
    ...(finishReason === null ? {} : { usage }),
  })}\n\n`;
}

export const startsStream = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  response.write(mistralChunk({ content: '' }));
};

/** A whole answer, streamed in these parts: texts, or contents as lists of parts. */
export const mistralSays =
  (...contents: unknown[]): MistralAnswer =>
  (response) => {
    startsStream(response);
    for (const content of contents) response.write(mistralChunk({ content }));
    response.end(`${mistralChunk({ content: '' }, 'stop')}data: [DONE]\n\n`);
  };

/** Answer in which the model calls tools; ids are nine alphanumeric characters. */
export const mistralCalls =
  (...calls: { id: string; name: string; args: unknown }[]): MistralAnswer =>
  (response) => {
    startsStream(response);
    const toolCalls = calls.map(({ id, name, args }, index) => ({
      id,
      index,
      function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
    }));
    response.end(`${mistralChunk({ content: '', tool_calls: toolCalls }, 'tool_calls')}data: [DONE]\n\n`);
  };

export const mistralFails =
  (status: number, message: string, headers: Record<string, string> = {}): MistralAnswer =>
  (response) => {
    const body = { object: 'error', message, type: 'error', param: null, code: String(status) };
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };

/** A request for vectors as Mistral receives it. */
type EmbeddingRequest = {
  authorization: string | undefined;
  body: { model: string; input: string[]; encoding_format?: string };
  /** Resolves when the connection of this request is closed before its answer has ended. */
  closed: Promise<void>;
};
export type EmbeddingAnswer = (response: ServerResponse, request: EmbeddingRequest) => void;

/** Vectors of the requested texts, from `vectorOf`. If it throws for a text, the answer is 400, as for a text that is too long. */
export const mistralEmbeds =
  (vectorOf: (text: string) => ArrayLike<number>): EmbeddingAnswer =>
  (response, { body }) => {
    let vectors: ArrayLike<number>[];
    try {
      vectors = body.input.map(vectorOf);
    } catch {
      const message = 'Too many tokens in the input, split it into smaller ones.';
      const error = { object: 'error', message, type: 'invalid_request_prompt', param: null, code: '3210' };
      response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(error));
      return;
    }
    const tokens = body.input.reduce((sum, text) => sum + Math.ceil(text.length / 4), 0);
    const answer = {
      ...{ id: 'embd-1', object: 'list', model: body.model },
      data: vectors.map((vector, index) => ({ object: 'embedding', embedding: Array.from(vector), index })),
      usage: { prompt_tokens: tokens, total_tokens: tokens, completion_tokens: 0 },
    };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  };

export type MistralServer = {
  /** Address for `BINDERY_MISTRAL_BASE_URL`. */
  baseUrl: string;
  requests: MistralRequest[];
  /** Requests for vectors, and the next answers to them. By default the server has no such model. */
  embeddings: { requests: EmbeddingRequest[]; answers(...answers: [EmbeddingAnswer, ...EmbeddingAnswer[]]): void };
  /** Answers to the next requests; the last one is repeated. */
  answers(...answers: [MistralAnswer, ...MistralAnswer[]]): void;
  close(): Promise<void>;
};

const noSuchModel: EmbeddingAnswer = (response, { body: { model } }) => {
  const error = {
    object: 'error',
    message: `Invalid model: ${model}`,
    type: 'invalid_model',
    param: null,
    code: '1500',
  };
  response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(error));
};

/** Starts a server with the protocol of Mistral's `POST /v1/chat/completions` and `POST /v1/embeddings`, whose answers a test sets. */
export async function startMistral(): Promise<MistralServer> {
  const requests: MistralRequest[] = [];
  const embeddingRequests: EmbeddingRequest[] = [];
  let nextEmbeddings: EmbeddingAnswer[] = [noSuchModel];
  let next: MistralAnswer[] = [mistralSays('The test has not set an answer.')];
  const server = createServer((incoming, response) => void answer(incoming, response));
  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const part of incoming.setEncoding('utf8')) text += String(part);
    const closed = new Promise<void>((resolve) => {
      response.once('close', () => {
        if (!response.writableFinished) resolve();
      });
    });
    const { url: path = '', headers } = incoming;
    if (path === '/v1/embeddings') {
      const body = JSON.parse(text) as EmbeddingRequest['body'];
      const asked: EmbeddingRequest = { authorization: headers.authorization, body, closed };
      embeddingRequests.push(asked);
      const embed = nextEmbeddings.length > 1 ? nextEmbeddings.shift() : nextEmbeddings[0];
      embed?.(response, asked);
      return;
    }
    const request: MistralRequest = { path, headers, body: JSON.parse(text) as MistralRequest['body'], closed };
    requests.push(request);
    const reply = next.length > 1 ? next.shift() : next[0];
    await reply?.(response, request);
  }
  const { url, close } = await onLoopback(server);
  return {
    baseUrl: `${url}/v1`,
    requests,
    embeddings: {
      requests: embeddingRequests,
      answers: (...answers) => {
        nextEmbeddings = answers;
        embeddingRequests.length = 0;
      },
    },
    answers: (...answers) => {
      next = answers;
      requests.length = 0;
    },
    close,
  };
}
