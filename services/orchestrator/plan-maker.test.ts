import { afterAll, expect, test } from 'vitest';
import { siteModel } from '../../test/support/site-model.ts';
import { makePlan } from './make-plan.ts';
import {
  largeModelBytes,
  mostModelBytesIn,
  type PlanMaker,
  planMaker,
  type PlanQuestion,
  UnreadableModel,
} from './plan-maker.ts';

const makers: PlanMaker[] = [];
afterAll(() => Promise.all(makers.map((maker) => maker.close())));
function maker(...args: Parameters<typeof planMaker>): PlanMaker {
  const made = planMaker(...args);
  makers.push(made);
  return made;
}

const model = siteModel([{ path: 'a' }, { path: 'b' }]);
const question = (changes: Partial<PlanQuestion> = {}): PlanQuestion => ({
  organization: 'acme',
  domain: 'docs',
  contentVersion: model.contentVersion,
  options: { groups: [], deployment: 'cloud', onPageError: 'fail', allowTenantScripts: false },
  rendererVersion: 'r-0123456789ab',
  model: Buffer.from(JSON.stringify(model)),
  anew: false,
  ...changes,
});

const asProgram = (source: string) => new URL(`data:text/javascript,${encodeURIComponent(source)}`);

test('a plan of the thread is the plan that is made without it, and again after another model', async () => {
  const plans = maker();
  const { planHash, text, plan } = await makePlan({ ...question(), model });
  const chunks = plan.chunks.map((chunk) => ({
    key: chunk.key,
    pageCount: chunk.kind === 'pages' ? chunk.paths.length : 0,
  }));
  expect(await plans.make(question())).toEqual({ planHash, text, pageTotal: 2, chunks });
  const other = siteModel([{ path: 'a', text: 'changed' }, { path: 'b' }]);
  await plans.make(question({ contentVersion: other.contentVersion, model: Buffer.from(JSON.stringify(other)) }));
  expect((await plans.make(question())).planHash).toBe(planHash);
  expect((await plans.make(question({ anew: true }))).planHash).toBe(planHash);
});

test('a site model of another form is unreadable', async () => {
  await expect(maker().make(question({ model: Buffer.from('{}') }))).rejects.toThrow(UnreadableModel);
  await expect(maker().make(question({ model: Buffer.from('{') }))).rejects.toThrow(UnreadableModel);
});

test('a plan that ends its thread fails alone', async () => {
  // The thread ends at one question, and leaves another one open unless that is its first.
  const program = `
    import { parentPort } from 'node:worker_threads';
    parentPort.on('message', ({ number, question: { organization } }) => {
      if (organization === 'fatal') process.exit(1);
      if (organization === 'beside' && number > 1) return;
      parentPort.postMessage({ number, answer: { planHash: organization, text: '', pageTotal: 0, chunks: [] } });
    });`;
  const plans = maker({ program: asProgram(program) });
  expect((await plans.make(question({ organization: 'first' }))).planHash).toBe('first');
  const [beside, fatal] = await Promise.allSettled([
    plans.make(question({ organization: 'beside' })),
    plans.make(question({ organization: 'fatal' })),
  ]);
  expect(beside).toMatchObject({ status: 'fulfilled', value: { planHash: 'beside' } });
  expect(fatal).toMatchObject({ status: 'rejected', reason: { message: 'the thread that makes the plan ended' } });
  expect((await plans.make(question({ organization: 'next' }))).planHash).toBe('next');
});

test('small plans do not wait for the thread of large ones', async () => {
  // The thread answers small questions, and never ends its work on others.
  const program = `
    import { parentPort } from 'node:worker_threads';
    parentPort.on('message', ({ number, question: { organization, model } }) => {
      while (model.length > 1_000_000);
      parentPort.postMessage({ number, answer: { planHash: organization, text: '', pageTotal: 0, chunks: [] } });
    });`;
  const plans = maker({ program: asProgram(program) });
  const large = plans.make(question({ model: Buffer.alloc(largeModelBytes + 1) })).catch((error: unknown) => error);
  expect((await plans.make(question({ organization: 'small' }))).planHash).toBe('small');
  // A process that ends makes no plan again.
  await plans.close();
  expect(await large).toMatchObject({ message: 'the thread that makes the plan ended' });
});

test('a plan that takes too long fails alone', async () => {
  const program = `
    import { parentPort } from 'node:worker_threads';
    parentPort.on('message', ({ number, question: { organization } }) => {
      while (organization === 'endless');
      parentPort.postMessage({ number, answer: { planHash: organization, text: '', pageTotal: 0, chunks: [] } });
    });`;
  const plans = maker({ program: asProgram(program), within: { smallMs: 1_000, largeMs: 1_000 } });
  const [endless, behind] = await Promise.allSettled([
    plans.make(question({ organization: 'endless' })),
    plans.make(question({ organization: 'behind' })),
  ]);
  const reason = 'the thread that makes the plan ended: the plan took longer than 1 seconds';
  expect(endless).toMatchObject({ status: 'rejected', reason: { message: reason } });
  expect(behind).toMatchObject({ status: 'fulfilled', value: { planHash: 'behind' } });
});

test('the largest site model follows from the memory of the process, where that is limited', () => {
  const mb = 1024 * 1024;
  expect(mostModelBytesIn(512 * mb, 264 * mb)).toBe(40 * mb);
  expect(mostModelBytesIn(128 * mb, 100 * mb)).toBe(largeModelBytes);
  for (const unlimited of [0, 2 ** 63]) expect(mostModelBytesIn(unlimited, 4_000 * mb)).toBe(Infinity);
});
