import { expect, test } from 'vitest';
import { handleRenderRequest, type RenderResponse } from '#shared/docs/render/render-request.ts';
import { renderedContent } from '#shared/docs/render/test-project.ts';
import { sidecarParts } from '#shared/export/bundle/packed-segment.ts';
import { sampleWarmUp } from './sample-chunk.ts';

const render = (request: unknown): Promise<RenderResponse> =>
  handleRenderRequest(request, () => Promise.reject(new Error('samples need no answers')));

test('sample pages are whole and without faults, and each chunk has others', async () => {
  const { request } = await sampleWarmUp();
  const [first, second] = await Promise.all([render(request(0)), render(request(6))]);
  if (first?.kind !== 'packed' || second?.kind !== 'packed') throw new Error('a sample was not packed');
  const { pages } = JSON.parse(Buffer.from(sidecarParts(first.sidecar).json).toString()) as {
    pages: { diagnostics: unknown[] }[];
  };
  expect(pages.length).toBeGreaterThan(3);
  expect(pages.flatMap(({ diagnostics }) => diagnostics)).toEqual([]);
  expect(first.segment).not.toEqual(second.segment);
});

test('a page has the same bytes after the warm-up', async () => {
  const source = '# A\n\n<Note>b</Note>\n\n```js\nconst a = 0;\n```\n\n| a | b |\n| - | - |\n| 1 | 2 |\n';
  const before = await renderedContent(source);
  const { requests, request } = await sampleWarmUp();
  for (let number = 0; number < requests; number += 1) await render(request(number));
  expect(await renderedContent(source)).toEqual(before);
});
