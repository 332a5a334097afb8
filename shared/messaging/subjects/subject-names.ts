/** Subjects of single aggregates. Their ids have been checked by the schemas. */
export const exportLogSubject = (organization: string, jobId: string): string => `exports.${organization}.${jobId}.log`;
export const factSubject = (organization: string, jobId: string): string => `facts.${organization}.${jobId}`;
export const accessSubject = (organization: string, jobId: string): string => `access.${organization}.${jobId}`;
export const viewsSubject = (organization: string): string => `views.${organization}`;
/** Its parts are one token, so that readers of batches also get the sums. Ids do not contain the separator. */
export const siteDaySubject = (organization: string, domain: string, day: string): string =>
  `views.${organization}=${domain}=${day}`;
export const contentLogSubject = (organization: string, domain: string): string =>
  `content.${organization}.${domain}.log`;
export const siteLogSubject = (organization: string, domain: string): string => `sites.${organization}.${domain}.log`;
export const directoryLogSubject = (organization: string): string => `directory.${organization}.log`;
export const threadSubject = (organization: string, domain: string, threadId: string): string =>
  `threads.${organization}.${domain}.${threadId}`;
/** `chat`: keyed hash of a chat's id, or `*`. `answerId`: id of an answer, or `*`. */
export const answerSubject = (organization: string, domain: string, chat: string, answerId: string): string =>
  `answers.${organization}.${domain}.${chat}.${answerId}`;
export const seenAnswerSubject = (answerId: string): string => `seen.${answerId}`;
export const answeringSubject = (chat: string): string => `answering.chat.${chat}`;
export const renderTaskSubject = (rendererVersion: string): string => `tasks.render.${rendererVersion}`;
export const bundleTaskSubject = 'tasks.bundle';
export const deadLetterSubject = (service: string, stream: string): string => `dead.${service}.${stream}`;
export const presenceSubject = (service: string, instance: string): string => `presence.${service}.${instance}`;
export const withdrawalSubject = (service: string): string => `withdrawn.${service}`;

/** True if a subject matches a filter. `*` stands for one token, `>` at the end for one or more. Pure. */
export function subjectMatches(filter: string, subject: string): boolean {
  const wanted = filter.split('.');
  const tokens = subject.split('.');
  const isOpen = wanted.at(-1) === '>';
  if (isOpen ? tokens.length < wanted.length : tokens.length !== wanted.length) return false;
  return wanted.every((token, at) => token === '*' || token === tokens[at] || (isOpen && at === wanted.length - 1));
}
