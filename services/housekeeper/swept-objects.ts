import type { SweptKind } from './marks.ts';

/** How many objects of each kind were removed, and of what size; kinds of which none were are left out. */
export type SweptObjects = Partial<Record<SweptKind, { objects: number; bytes: number }>>;

export function countSwept(swept: SweptObjects, kind: SweptKind, bytes: number): void {
  const before = swept[kind] ?? { objects: 0, bytes: 0 };
  swept[kind] = { objects: before.objects + 1, bytes: before.bytes + bytes };
}
