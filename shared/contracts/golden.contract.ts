import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

/** `<member>.v<version>` → the schema that reads it. */
export type GoldenMembers = Readonly<Record<string, z.ZodType>>;

/** The members of a union, named by their discriminator: `type` of events, `kind` of tasks. */
export function membersOf(
  union: { options: readonly z.core.$ZodType[] },
  discriminator: 'type' | 'kind' = 'type',
): GoldenMembers {
  const literal = (member: z.ZodObject, field: string) => {
    const schema = member.shape[field];
    if (!(schema instanceof z.ZodLiteral)) throw new Error(`The field "${field}" of a member is not a literal.`);
    return String(schema.value);
  };
  const members = union.options as readonly z.ZodObject[];
  return Object.fromEntries(
    members.map((member) => [`${literal(member, discriminator)}.v${literal(member, 'version')}`, member]),
  );
}

/** The name of a file is `<member>.v<version>[.<variant>].json`. */
const memberOf = (file: string): string => /^([^.]+\.v\d+)(\.[a-z-]+)?\.json$/.exec(file)?.[1] ?? `(${file})`;

/**
 * Golden files are messages as stored by programs of their time. Each is written once, by hand, and never changed. When a schema no longer
 * reads one, the schema is wrong or an upcast is missing. A new type or version of a message needs a new file.
 */
export function goldenContract(name: string, folder: string, members: GoldenMembers): void {
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  describe(`golden files of ${name}`, () => {
    test('every type and version has a file, and every file has a schema', () => {
      const advice = `each type and version needs a file <type>.v<version>.json in ${folder}, written by hand; each file a schema`;
      expect([...new Set(files.map(memberOf))].toSorted(), advice).toEqual(Object.keys(members).toSorted());
    });

    test.each(files)('%s is read as it was written', (file) => {
      const stored: unknown = JSON.parse(readFileSync(join(folder, file), 'utf8'));
      expect(members[memberOf(file)]?.parse(stored)).toEqual(stored);
    });
  });
}
