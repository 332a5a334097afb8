/**
 * Costs of the assistant compared with the bare pipeline of the AI SDK, measured in the same run with the same model: time to the first byte and to
 * the first text, tokens per second of processor time with 1, 60 and 500 streams, and memory of an open stream. The model is a separate server with
 * Mistral's protocol. `node test/bench/assistant/run.ts [runs] [what] [streams]`: the median of that number of runs (by default 3) of `speed`,
 * `memory` or `speed,memory`; `1,60` measures the speed only with these numbers of streams.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Agent, request } from 'undici';

/** Message of a process when it listens. */
export type Ready = { url: string; headers: Record<string, string> };
/** Processor time in milliseconds, and memory in bytes. */
export type Used = { cpuMs: number; rss: number; heap: number };

type Server = Ready & { process: ChildProcess };
type Measured = { firstByteMs: number; firstTextMs: number; tokensPerCpuSecond: number };

const agent = new Agent({ connections: 1_000 });
const runs = Number(process.argv[2] ?? 3);
const measured = process.argv[3] ?? 'speed,memory';
const levels = (process.argv[4] ?? '1,60,500').split(',').map(Number);

async function start(kind: string, ...args: string[]): Promise<Server> {
  const child = fork(join(import.meta.dirname, 'serve.ts'), [kind, ...args], { execArgv: ['--expose-gc'] });
  const [ready] = (await once(child, 'message')) as [Ready];
  return { ...ready, process: child };
}

async function used({ process: child }: Server): Promise<Used> {
  child.send('measure');
  const [answer] = (await once(child, 'message')) as [Used];
  return answer;
}

const open = ({ url, headers }: Server, question: string, signal?: AbortSignal) =>
  request(url, {
    dispatcher: agent,
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({
      fp: 'bench',
      messages: [{ id: '1', role: 'user', parts: [{ type: 'text', text: question }] }],
    }),
    ...(signal === undefined ? {} : { signal }),
  });

/** Reads one answer to its end. */
async function readAnswer(server: Server): Promise<{ firstByteMs: number; firstTextMs: number; tokens: number }> {
  const started = performance.now();
  const { body, statusCode } = await open(server, 'How do I rotate an API key?');
  if (statusCode !== 200) throw new Error(`${statusCode}: ${await body.text()}`);
  let text = '';
  let [firstByteMs, firstTextMs] = [0, 0];
  for await (const part of body.setEncoding('utf8')) {
    firstByteMs ||= performance.now() - started;
    text += String(part);
    if (firstTextMs === 0 && text.includes('"text-delta"')) firstTextMs = performance.now() - started;
  }
  return { firstByteMs, firstTextMs, tokens: text.split('word ').length - 1 };
}

async function measure(server: Server, streams: number): Promise<Measured> {
  const before = await used(server);
  const rounds = Math.max(1, Math.round(60 / streams));
  const answers: Awaited<ReturnType<typeof readAnswer>>[] = [];
  for (let round = 0; round < rounds; round += 1)
    answers.push(...(await Promise.all(Array.from({ length: streams }, () => readAnswer(server)))));
  const after = await used(server);
  const tokens = answers.reduce((sum, answer) => sum + answer.tokens, 0);
  return {
    firstByteMs: median(answers.map(({ firstByteMs }) => firstByteMs)),
    firstTextMs: median(answers.map(({ firstTextMs }) => firstTextMs)),
    tokensPerCpuSecond: tokens / ((after.cpuMs - before.cpuMs) / 1_000),
  };
}

/** Memory of each open stream in kilobytes, with this number of streams. */
async function measureMemory(server: Server, streams: number): Promise<number> {
  const before = await used(server);
  const stop = new AbortController();
  const hasText = async (): Promise<void> => {
    const { body } = await open(server, 'Write forever.', stop.signal);
    let seen = '';
    await new Promise<void>((resolve) => {
      body
        .on('error', () => {})
        .on('data', (part: Buffer) => {
          seen += part.toString();
          if (seen.includes('"text-delta"')) resolve();
        });
    });
  };
  await Promise.all(Array.from({ length: streams }, hasText));
  const after = await used(server);
  stop.abort();
  return (after.heap - before.heap) / streams / 1_000;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

const model = await start('model');
const [bare, assistant] = await Promise.all([start('bare', model.url), start('assistant', model.url)]);
const line = (name: string, ours: number, theirs: number, unit: string): void => {
  console.log(
    `${name.padEnd(42)} ${ours.toFixed(1).padStart(9)} ${unit.padEnd(6)} bare ${theirs.toFixed(1).padStart(9)} ${unit.padEnd(6)} ratio ${(ours / theirs).toFixed(2)}`,
  );
};
// Both servers have compiled their code by now.
for (const server of [bare, assistant]) await measure(server, 60);
for (const streams of measured.includes('speed') ? levels : []) {
  const pairs: { ours: Measured; theirs: Measured }[] = [];
  for (let run = 0; run < runs; run += 1)
    pairs.push({ theirs: await measure(bare, streams), ours: await measure(assistant, streams) });
  const of = (name: keyof Measured, unit: string, key: string): void =>
    line(
      `${streams} streams: ${key}`,
      median(pairs.map(({ ours }) => ours[name])),
      median(pairs.map(({ theirs }) => theirs[name])),
      unit,
    );
  of('firstByteMs', 'ms', 'first byte');
  of('firstTextMs', 'ms', 'first text');
  of('tokensPerCpuSecond', '1/s', 'tokens a second of processor');
}
if (measured.includes('memory'))
  line('memory of an open stream, of 500', await measureMemory(assistant, 500), await measureMemory(bare, 500), 'kB');
for (const server of [model, bare, assistant]) server.process.disconnect();
await agent.destroy();
