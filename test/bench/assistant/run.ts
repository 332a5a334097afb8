/**
 * Costs of the assistant compared with the bare pipeline of the AI SDK, measured in the same run with the same model: time to the first byte and to
 * the first text, tokens per second of processor time with 1, 60 and 500 streams, and memory of an open stream. The model is a separate server with
 * Mistral's protocol. `node test/bench/assistant/run.ts [runs] [what] [streams]`: the median of that number of runs (by default 3) of `speed`,
 * `memory`, `paced` (a model that says fifty tokens a second) or some of them with commas; `1,60` measures the speed only with these numbers of streams. The assistant is also measured with answers that can be
 * resumed, over a real nats-server, and, with another clone's folder in `BINDERY_BENCH_BEFORE`, as it is there.
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

const root = join(import.meta.dirname, '../../..');
const agent = new Agent({ connections: 1_000 });
const runs = Number(process.argv[2] ?? 3);
const measured = process.argv[3] ?? 'speed,memory';
const levels = (process.argv[4] ?? '1,60,500').split(',').map(Number);

async function start(kind: string, args: string[] = [], folder: string = root): Promise<Server> {
  const serve = join(folder, 'test/bench/assistant/serve.ts');
  const child = fork(serve, [kind, ...args], { execArgv: ['--expose-gc'], cwd: folder });
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
async function readAnswer(
  server: Server,
  question: string,
): Promise<{ firstByteMs: number; firstTextMs: number; tokens: number }> {
  const started = performance.now();
  const { body, statusCode, headers } = await open(server, question);
  if (statusCode !== 200) throw new Error(`${statusCode}: ${await body.text()}`);
  if ('x-bindery-chat' in server.headers && headers['x-bindery-answer'] === undefined) kept.failed += 1;
  let text = '';
  let [firstByteMs, firstTextMs] = [0, 0];
  for await (const part of body.setEncoding('utf8')) {
    firstByteMs ||= performance.now() - started;
    text += String(part);
    if (firstTextMs === 0 && text.includes('"text-delta"')) firstTextMs = performance.now() - started;
  }
  return { firstByteMs, firstTextMs, tokens: text.split('word ').length - 1 };
}

/** Answers that the bus did not store in time, so that they cannot be resumed. */
const kept = { failed: 0 };

async function measure(server: Server, streams: number, question = 'How do I rotate an API key?'): Promise<Measured> {
  const before = await used(server);
  const rounds = Math.max(1, Math.round(60 / streams));
  const answers: Awaited<ReturnType<typeof readAnswer>>[] = [];
  for (let round = 0; round < rounds; round += 1)
    answers.push(...(await Promise.all(Array.from({ length: streams }, () => readAnswer(server, question)))));
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
const before = process.env.BINDERY_BENCH_BEFORE;
const servers = {
  bare: await start('bare', [model.url]),
  ...(before && { before: await start('assistant', [model.url], before) }),
  assistant: await start('assistant', [model.url]),
  resumable: await start('resumable', [model.url]),
};
type Name = keyof typeof servers;
const names = Object.keys(servers) as Name[];
const server = (name: Name): Server => servers[name] as Server;
/** One line for each server, with its ratio to the bare pipeline. */
function lines(title: string, values: Record<string, number>, unit: string): void {
  for (const name of names) {
    const [ours = 0, theirs = 0] = [values[name], values.bare];
    const ratio = name === 'bare' ? '' : ` ${(ours / theirs).toFixed(2)} of bare`;
    console.log(`${title.padEnd(42)} ${name.padEnd(10)} ${ours.toFixed(1).padStart(9)} ${unit}${ratio}`);
  }
}
// All servers have compiled their code by now.
for (const name of names) await measure(server(name), 60);
for (const streams of measured.includes('speed') ? levels : []) {
  const rounds: Record<string, Measured>[] = [];
  for (let run = 0; run < runs; run += 1) {
    const round: Record<string, Measured> = {};
    for (const name of names) round[name] = await measure(server(name), streams);
    rounds.push(round);
  }
  const of = (key: keyof Measured, unit: string, title: string): void =>
    lines(
      `${streams} streams: ${title}`,
      Object.fromEntries(names.map((name) => [name, median(rounds.map((round) => round[name]?.[key] ?? 0))])),
      unit,
    );
  of('firstByteMs', 'ms', 'first byte');
  of('firstTextMs', 'ms', 'first text');
  of('tokensPerCpuSecond', '1/s', 'tokens a second of processor');
}
if (measured.includes('paced')) {
  const rounds: Record<string, number>[] = [];
  for (let run = 0; run < runs; run += 1) {
    const round: Record<string, number> = {};
    for (const name of names) round[name] = (await measure(server(name), 60, 'Say it slowly.')).tokensPerCpuSecond;
    rounds.push(round);
  }
  const medians = names.map((name) => [name, median(rounds.map((round) => round[name] ?? 0))] as const);
  lines('60 slow streams: tokens a second of processor', Object.fromEntries(medians), '1/s');
}
if (measured.includes('memory')) {
  const values: Record<string, number> = {};
  for (const name of names) values[name] = await measureMemory(server(name), 500);
  lines('memory of an open stream, of 500', values, 'kB');
}
if (kept.failed > 0) console.log(`${kept.failed} answers could not be resumed`);
for (const each of [model, ...names.map(server)]) each.process.disconnect();
await agent.destroy();
