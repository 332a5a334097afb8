/** How every model says that the passages do not answer; looked for to count gaps in the documentation. */
export const notInDocumentation = 'This is not in the documentation.';

/** Models wrap the sentence: it counts when it is within the first 300 characters. */
export function saysNotInDocumentation(answer: string): boolean {
  return answer.slice(0, 300).toLowerCase().includes('not in the documentation');
}
