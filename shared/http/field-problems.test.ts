import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  createApiKeyBodySchema,
  addDomainBodySchema,
  changeOrganizationBodySchema,
} from '#shared/interfaces/http/directory.ts';
import { listAuditQuerySchema, usageQuerySchema } from '#shared/interfaces/http/audit.ts';
import { messageBodySchema, searchBodySchema } from '#shared/interfaces/http/assistant.ts';
import { listExportsQuerySchema, startExportBodySchema } from '#shared/interfaces/http/exports.ts';
import { ApiError } from './errors.ts';
import { guessAmong } from '#shared/runtime/problem-text.ts';
import { parseRequest, type RequestPart } from './field-problems.ts';

function problem(schema: z.ZodType, value: unknown, part: RequestPart = 'body'): ApiError {
  try {
    parseRequest(schema, value, part);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('Nothing is wrong.');
}

const message = (parts: unknown[]) => ({ fp: 'x', messages: [{ id: '1', role: 'user', parts }] });

test.each<[z.ZodType, unknown, string, RequestPart?]>([
  [startExportBodySchema, {}, 'The field "domain" is missing.'],
  [startExportBodySchema, { domain: 7 }, 'The field "domain" must be text, not a number.'],
  [startExportBodySchema, { domain: null }, 'The field "domain" must be text, not null.'],
  [startExportBodySchema, { domain: '' }, 'The field "domain" must not be empty.'],
  [startExportBodySchema, [], 'The body must be an object, not a list.'],
  [startExportBodySchema, { domain: 'd', paths: 'a' }, 'The field "paths" must be a list, not text.'],
  [startExportBodySchema, { domain: 'd', paths: [] }, 'The field "paths" must not be an empty list.'],
  [startExportBodySchema, { domain: 'd', paths: ['a', true] }, 'The field "paths.1" must be text, not true.'],
  [
    startExportBodySchema,
    { domain: 'd', deployment: 'air-gaped' },
    'The field "deployment" must be "cloud", "client-hosted" or "air-gapped", not "air-gaped"; did you mean "air-gapped".',
  ],
  [
    startExportBodySchema,
    { domain: 'd', verison: 'v1' },
    'The field "verison" is not known here; did you mean "version".',
  ],
  [startExportBodySchema, { domain: 'd', colour: 1 }, 'The field "colour" is not known here.'],
  [
    startExportBodySchema,
    { domain: 'd', features: { serach: 'server' } },
    'The field "features.serach" is not known here; did you mean "search".',
  ],
  [
    startExportBodySchema,
    { domain: 'd', on_page_error: 'fail' },
    'The field "on_page_error" is not known here; did you mean "onPageError".',
  ],
  [startExportBodySchema, { paths: [1], groups: 3 }, 'The field "domain" is missing. 2 more are wrong, see "fields".'],
  [createApiKeyBodySchema, {}, 'The field "kind" is missing: send "admin" or "assistant".'],
  [
    createApiKeyBodySchema,
    { kind: 'admin', name: 'x'.repeat(101) },
    'The field "name" must have at most 100 characters.',
  ],
  [createApiKeyBodySchema, { kind: 'admin', expiresInDays: 0 }, 'The field "expiresInDays" must be at least 1.'],
  [createApiKeyBodySchema, { kind: 'admin', expiresInDays: 1.5 }, 'The field "expiresInDays" must be a whole number.'],
  [
    createApiKeyBodySchema,
    { kind: 'admin', expiresInDays: '7' },
    'The field "expiresInDays" must be a number, not text.',
  ],
  [
    createApiKeyBodySchema,
    { kind: 'assistant', allowedOrigins: ['https://a.test/'] },
    'The field "allowedOrigins.0" must be an origin such as https://docs.acme.com.',
  ],
  [changeOrganizationBodySchema, {}, 'The body must have "name" or "plan".'],
  [
    addDomainBodySchema,
    { domain: 'x', groups: 'signed', userTokenKeys: [{ kty: 'oct' }] },
    'The field "userTokenKeys.0.kty" must be "OKP", "EC" or "RSA".',
  ],
  [listExportsQuerySchema, { limit: 'many' }, 'The parameter "limit" must be a number.', 'query'],
  [listExportsQuerySchema, { limit: '1000' }, 'The parameter "limit" must be at most 100.', 'query'],
  [
    listExportsQuerySchema,
    { since: 'yesterday' },
    'The parameter "since" must be a time such as 2026-03-01T10:00:00Z, or a date such as 2026-03-01.',
    'query',
  ],
  [
    usageQuerySchema,
    { month: '2026-01', months: '2026-01..2026-02' },
    'The parameter "months" cannot be used with "month".',
    'query',
  ],
  [
    z.object({ 'Idempotency-Key': z.string().max(3) }),
    { 'Idempotency-Key': 'long' },
    'The header "Idempotency-Key" must have at most 3 characters.',
    'headers',
  ],
  [messageBodySchema, { messages: [] }, 'The field "fp" is missing. 2 more are wrong, see "fields".'],
  [messageBodySchema, message([{ type: 'text' }]), 'The field "messages.0.parts.0.text" is missing.'],
  [
    messageBodySchema,
    message([{ type: 'text', text: 1 }]),
    'The field "messages.0.parts.0.text" must be text, not a number.',
  ],
  [createApiKeyBodySchema, { kind: 'admin', expiresInDays: 1e99 }, 'The field "expiresInDays" must be at most 3650.'],
  [searchBodySchema, { query: 'q', pageSize: 51 }, 'The field "pageSize" must be at most 50.'],
  [searchBodySchema, { query: 'q', filter: 'x' }, 'The field "filter" must be an object, not text.'],
])('%#: a sentence names the field, the problem and the expected value', (schema, value, sentence, part) => {
  const error = problem(schema, value, part);
  expect(error).toMatchObject({ code: 'invalid_request', message: sentence });
  expect(error.fields?.length).toBeGreaterThan(0);
});

test('additional fields that clients of discovery send are accepted', () => {
  expect(parseRequest(searchBodySchema, { query: 'q', pagesize: 3 }, 'body')).toMatchObject({ query: 'q' });
});

test('a request with a thousand wrong fields is answered with the first twenty', () => {
  const wrong = problem(
    startExportBodySchema,
    Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`f${at}`, at])),
  );
  expect(wrong.fields).toHaveLength(20);
});

const anything = (depth: number): unknown[] => [
  ...[undefined, null, true, 0, -1, 1.5, Number.NaN, 1e300, '', 'x', 'x'.repeat(3_000), '\u0000', '2026-13-01', {}, []],
  ...(depth === 0 ? [] : anything(depth - 1).flatMap((value) => [[value], { type: value, value, name: value }])),
];
const schemas = {
  startExportBodySchema,
  createApiKeyBodySchema,
  addDomainBodySchema,
  changeOrganizationBodySchema,
  messageBodySchema,
  searchBodySchema,
  listAuditQuerySchema,
  usageQuerySchema,
};

test.each(Object.entries(schemas))('no field of %s is answered with messages of the validator', (_name, schema) => {
  const shape = (schema as unknown as { shape: object }).shape;
  const said = new Set<string>();
  for (const field of Object.keys(shape)) {
    for (const value of anything(2)) {
      const { error } = schema.safeParse({ [field]: value });
      if (error === undefined) continue;
      const { message, fields = [] } = problem(schema, { [field]: value });
      for (const text of [message, ...fields.map((each) => each.message)]) said.add(text);
    }
  }
  const words =
    /invalid|expected|received|NaN|undefined|unrecognized|too (small|big)|regex|pattern|\[object|is wrong:/i;
  expect([...said].filter((text) => words.test(text))).toEqual([]);
  expect(said.size).toBeGreaterThan(3);
});

test.each([
  ['verison', 'version'],
  ['Domain', 'domain'],
  ['on-page-error', 'onPageError'],
  ['path', 'paths'],
  ['colour', undefined],
  ['x'.repeat(100_000), undefined],
])('%s is suggested as %s', (name, meant) => {
  const guess = meant === undefined ? '' : `; did you mean "${meant}"`;
  expect(guessAmong(name, ['version', 'domain', 'onPageError', 'paths', 'groups'])).toBe(guess);
});

test('an invalid range of months has one problem', () => {
  const { message, fields } = problem(usageQuerySchema, { months: '2026-01' }, 'query');
  expect(message).toBe('The parameter "months" must be two months such as 2026-01..2026-03.');
  expect(fields).toHaveLength(1);
});
