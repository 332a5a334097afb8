import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { html, type SafeHtml } from '#shared/docs/render/html.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import type { LiveEvent } from '../live.ts';
import type { Visit } from '../page.ts';
import { PlatformRefusal } from '../platform.ts';

/**
 * A connection to the live updates of a page, at the address of one of the console's streams. It shows nothing itself. Its id differs from that of the
 * connection of another page: an element that stays when scripts put one page in the place of another would go on with its old address, and show what
 * happens to another export.
 */
export const liveConnection = (address: string): SafeHtml =>
  html`<div id="live-${sha256Of(address).slice(0, 16)}" hx-sse:connect="${address}" hx-sse:close="over" hx-swap="none" hidden></div>`;

/** A part of a live page that replaces the element with this id. `whole`: the element itself; otherwise its content. */
export const livePart = (id: string, content: SafeHtml, which: 'whole' | 'content' = 'whole'): SafeHtml =>
  html`<hx-partial hx-target="#${id}" hx-swap="${which === 'whole' ? 'outerMorph' : 'innerMorph'}">${content}</hx-partial>`;

/** The changed parts of a page after an event; undefined if there are none. `isOver`: no further event can change the page, so the browser disconnects. */
export type Shown = { parts: SafeHtml; isOver?: boolean } | undefined;

/**
 * Sends the parts of a page that change, until the browser leaves or the session ends. `partsAfter` may ask the platform: if that is not available, the
 * page reads again with the next heartbeat.
 */
export async function sendLive(
  visit: Pick<Visit, 'events'>,
  reply: FastifyReply,
  request: FastifyRequest,
  partsAfter: (event: Exclude<LiveEvent, { event: 'heartbeat' }>) => Promise<Shown>,
): Promise<FastifyReply> {
  // The answer to HEAD has no body, so its client never disconnects from the stream.
  const messages = request.method === 'HEAD' ? [] : messagesOf(visit.events(), partsAfter);
  return reply
    .headers({ 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' })
    .send(Readable.from(messages, { objectMode: false }));
}

async function* messagesOf(
  events: AsyncGenerator<LiveEvent>,
  partsAfter: Parameters<typeof sendLive>[3],
): AsyncGenerator<string> {
  // Headers are sent with the first bytes.
  yield ': begun\n\n';
  let hasMissed = false;
  for await (const event of events) {
    const isHeartbeat = event.event === 'heartbeat';
    if (isHeartbeat) yield ': still here\n\n';
    if (isHeartbeat && !hasMissed) continue;
    try {
      const shown = await partsAfter(isHeartbeat ? { event: 'read-again' } : event);
      hasMissed = false;
      if (shown !== undefined) yield asMessage(shown.parts);
      if (shown?.isOver === true) return yield 'event: over\ndata:\n\n';
    } catch (error) {
      if (!(error instanceof PlatformRefusal)) throw error;
      hasMissed = true;
    }
  }
}

const asMessage = ({ text }: SafeHtml): string => `data: ${text.trim().replaceAll(/\r\n|\r|\n/g, '\ndata: ')}\n\n`;
