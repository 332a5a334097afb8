import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { cacheFolder } from '#infra/setup/server-locations.mjs';
import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import { counted } from '#shared/runtime/figures.ts';
import { inTurns } from '../in-turns.ts';
import { writeWhole } from '../kept-records.ts';
import type { ExternalAddress } from './check-folder.ts';
import { type Answer, answerSchema, siteAsker, type SiteAskerOptions } from './site-asker.ts';

export type AskOptions = {
  /** Also asks this machine and private networks. */
  allowPrivate: boolean;
  /** Asks again where an earlier answer is fresh. */
  refresh?: boolean;
  /** The file with earlier answers. */
  cache?: string;
  now?: () => number;
  onProgress?: (asked: number, total: number) => void;
  asker?: Partial<SiteAskerOptions>;
};

const turns = { atOnce: 16, atOnceByHost: 2, pauseMs: 100 };

const hourMs = 60 * 60 * 1_000;
/** Ages up to which an answer counts. A page that exists rarely vanishes; one that was not found may be published soon. */
const freshForMs: Record<Answer['kind'], number> = {
  there: 7 * 24 * hourMs,
  moved: 7 * 24 * hourMs,
  gone: 6 * hourMs,
  unknown: hourMs,
};

const keptSchema = z.object({
  version: z.literal(1),
  answers: z.record(z.string(), z.object({ askedAt: z.number(), answer: answerSchema })),
});
type Kept = z.infer<typeof keptSchema>['answers'];

/** Hosts of examples, which no site has. */
const exampleHost = /(?:^|\.)(?:example(?:\.(?:com|org|net))?|test|invalid|localhost)$/i;

/**
 * Asks other sites for pages: `HEAD`, and `GET` if that does not help. Answers are kept in a file and count up to an age. A page counts as broken only
 * if its site says so twice; a site that refuses programs or fails leaves it unknown. `leftOut`: sentences about addresses that were not asked.
 */
export async function askSites(
  addresses: readonly ExternalAddress[],
  {
    allowPrivate,
    refresh = false,
    cache = join(cacheFolder(), 'links.json'),
    now = Date.now,
    onProgress,
    asker,
  }: AskOptions,
): Promise<{ findings: Diagnostic[]; leftOut: string[] }> {
  const places = new Map<string, ExternalAddress>();
  let examples = 0;
  for (const place of addresses) {
    const url = URL.parse(place.address);
    if (url === null || !/^https?:$/.test(url.protocol)) continue;
    url.hash = '';
    if (exampleHost.test(url.hostname) && !(allowPrivate && /localhost$/i.test(url.hostname))) examples += 1;
    else if (!places.has(url.href)) places.set(url.href, place);
  }
  const kept = await keptAnswers(cache);
  const answers = new Map<string, Answer>();
  const toAsk: string[] = [];
  for (const address of places.keys()) {
    const before = kept[address];
    const age = before === undefined ? Infinity : now() - before.askedAt;
    if (
      !refresh &&
      before !== undefined &&
      before.answer.isPrivate !== true &&
      age >= 0 &&
      age < freshForMs[before.answer.kind]
    )
      answers.set(address, before.answer);
    else toAsk.push(address);
  }
  const total = toAsk.length;
  const site = siteAsker({ allowPrivate, ...asker });
  let asked = 0;
  try {
    await inTurns(toAsk, turns, async (address) => {
      const answer = await site.ask(address);
      answers.set(address, answer);
      // An address that was not asked has no answer that a later command with other options could use.
      if (answer.isPrivate === true) delete kept[address];
      else kept[address] = { askedAt: now(), answer };
      asked += 1;
      onProgress?.(asked, total);
      return answer;
    });
  } finally {
    await site.close();
  }
  // Without a connection every host is unknown to the name server. Such answers are not kept.
  const isOffline =
    new Set(toAsk.map((address) => new URL(address).host)).size > 1 &&
    answers.size === total &&
    answers.values().every(({ noConnection }) => noConnection === true);
  if (isOffline) {
    return {
      findings: [],
      leftOut: ['No other site could be reached from this machine, so their pages are not known.'],
    };
  }
  if (total > 0) await keepAnswers(cache, kept, now());
  const hidden = answers
    .values()
    .filter(({ isPrivate }) => isPrivate === true)
    .toArray().length;
  return {
    findings: [...places].flatMap(([address, place]) => {
      const answer = answers.get(address);
      return answer === undefined || answer.isPrivate === true ? [] : findingOf(address, answer, place);
    }),
    leftOut: [
      ...(examples > 0
        ? [
            `${counted(examples, 'address', 'addresses')} of examples, such as example.com and localhost, were not asked.`,
          ]
        : []),
      ...(hidden > 0
        ? [
            `${counted(hidden, 'address', 'addresses')} of private networks were not asked (--private-addresses asks them).`,
          ]
        : []),
    ],
  };
}

function findingOf(address: string, answer: Answer, { file, line, column }: ExternalAddress): Diagnostic[] {
  const place = { file, ...(line !== undefined && { line }), ...(column !== undefined && { column }) };
  const shown = JSON.stringify(address.slice(0, 300));
  switch (answer.kind) {
    case 'there':
      return [];
    case 'moved': {
      const message = `The page ${shown} has moved permanently to ${JSON.stringify(answer.to?.slice(0, 300))}. Link there.`;
      return [{ severity: 'info', code: 'external-link-moved', message, ...place }];
    }
    case 'gone': {
      const message = `The page ${shown} does not exist: ${answer.why}. Correct the address, or link to another page.`;
      return [{ severity: 'warning', code: 'broken-external-link', message, ...place }];
    }
    case 'unknown': {
      const message = `It is not known whether the page ${shown} exists: ${answer.why}.`;
      return [{ severity: 'info', code: 'external-link-not-known', message, ...place }];
    }
  }
}

async function keptAnswers(cache: string): Promise<Kept> {
  try {
    return keptSchema.parse(JSON.parse(await readFile(cache, 'utf8'))).answers;
  } catch {
    // The file is a cache: without it, every address is asked.
    return {};
  }
}

async function keepAnswers(cache: string, kept: Kept, at: number): Promise<void> {
  const fresh = Object.entries(kept).filter(([, { askedAt, answer }]) => at - askedAt < freshForMs[answer.kind]);
  const answers = Object.fromEntries(fresh);
  await writeWhole(cache, JSON.stringify({ version: 1, answers })).catch(() => undefined);
}
