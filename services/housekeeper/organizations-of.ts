import type { Bus } from '#shared/bus/bus.ts';
import { contentLogSubject, directoryLogSubject } from '#shared/subjects/subject-names.ts';

/** Every organization that may have objects, sorted: by the logs that are kept for good. */
export async function organizationsOf({ content, directory }: Pick<Bus, 'content' | 'directory'>): Promise<string[]> {
  const subjects = [
    ...(await directory.subjects(directoryLogSubject('*'))),
    ...(await content.subjects(contentLogSubject('*', '*'))),
  ];
  return [...new Set(subjects.map((subject) => subject.split('.')[1] ?? ''))].filter(Boolean).toSorted();
}
