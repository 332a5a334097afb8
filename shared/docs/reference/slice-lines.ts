/** Text before and after the definitions, which are the last object in a document. */
const [beforeDefinitions, behindDefinitions] = ['"schemas":{', '}}}'];

/** Writes a document with definitions, each in a line of its own. */
export const withDefinitions = (document: string, definitions: readonly string[]): string =>
  definitions.length === 0
    ? document
    : [document.slice(0, -behindDefinitions.length), definitions.join('\n,'), behindDefinitions].join('\n');

/** Splits a slice into the document without its definitions, and the definitions as `"name":value`; undefined if they are not in lines. */
export function linesOfSlice(text: string): { document: string; definitions: string[] } | undefined {
  const [head = '', ...lines] = text.split('\n');
  if (lines.pop() !== behindDefinitions || !head.endsWith(beforeDefinitions)) return undefined;
  return {
    document: head + behindDefinitions,
    definitions: lines.map((line) => (line.startsWith(',') ? line.slice(1) : line)),
  };
}
