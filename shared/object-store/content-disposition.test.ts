import { expect, test } from 'vitest';
import { attachmentDisposition } from './content-disposition.ts';

test.each([
  ['acme-2025.tar.gz', 'attachment; filename="acme-2025.tar.gz"'],
  ['größe (1).tar.gz', `attachment; filename="gr__e (1).tar.gz"; filename*=UTF-8''gr%C3%B6%C3%9Fe%20%281%29.tar.gz`],
  ['a"b\r\nX: y.gz', `attachment; filename="a_b__X: y.gz"; filename*=UTF-8''a%22b%0D%0AX%3A%20y.gz`],
])('%j', (fileName, header) => expect(attachmentDisposition(fileName)).toBe(header));
