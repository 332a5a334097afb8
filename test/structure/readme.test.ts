import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeSubjects } from '#shared/messaging/subjects/describe-subjects.ts';

test("the README's table of subjects is the one that the bus is set up from", () => {
  const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');
  const shown = /<!-- subjects -->\n([^]*?)\n<!-- \/subjects -->/.exec(readme)?.[1];
  expect(shown).toBe(describeSubjects());
});
