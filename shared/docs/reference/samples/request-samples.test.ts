import { expect, test } from 'vitest';
import { codeHtml, fenceMeta } from '#shared/docs/render/code/code-block.ts';
import { requestSamples } from './request-samples.ts';
import type { SampleRequest } from './sample-request.ts';

const addresses = [
  'https://a.example/p',
  'https://a.example/pets/{petId}',
  'https://a.example:8080/v1.2/pets/{pet-id}/toys_{n}/',
  'https://a-much-longer-name-of-a-server.example/x',
  'https://api.example.com/2010-04-01/Accounts/{AccountSid}/Messages.json',
];
const base: SampleRequest = { method: 'GET', url: '', query: [], headers: [], cookies: [], body: undefined };
const requests: Partial<SampleRequest>[] = [
  {},
  { method: 'POST', query: [['q', '{zq}']], headers: [['Authorization', 'Bearer <token>']] },
  { method: 'PUT', cookies: [['a', 'b']], body: { mimeType: 'application/json', text: '{\n  "zq": "a/zqq"\n}' } },
];

test('shared code of pages equals code that is not shared', () => {
  for (const url of addresses) {
    for (const request of requests) {
      const samples = requestSamples({ ...base, ...request, url });
      expect(samples).toHaveLength(8);
      // Code for an address with a fragment, which is not sent, is not shared.
      const own = requestSamples({ ...base, ...request, url: `${url}#f` });
      expect(own.every(({ shared }) => shared === undefined)).toBe(true);
      expect(samples.map(({ shared: _, ...sample }) => sample)).toEqual(own);
      for (const { code, language, shared } of samples) {
        expect(shared).toBeDefined();
        const meta = fenceMeta('', 1);
        expect(codeHtml(code, language, meta, shared).html().text).toBe(codeHtml(code, language, meta).html().text);
      }
    }
  }
});

test.each(['https://a.example/', 'https://a.example/a/../b', 'https://a.example/a//b', 'https://a.example/%7Bid%7D'])(
  'the code of %s is not shared',
  (url) => expect(requestSamples({ ...base, url }).some(({ shared }) => shared !== undefined)).toBe(false),
);
