/** What stands around the definitions of a document, which are its last object. */
const [beforeDefinitions, behindDefinitions] = ['"schemas":{', '}}}'];

/** A document with definitions, each in a line of its own. */
export const withDefinitions = (document: string, definitions: readonly string[]): string =>
  definitions.length === 0
    ? document
    : [document.slice(0, -behindDefinitions.length), definitions.join('\n,'), behindDefinitions].join('\n');

/** The document of a slice without its definitions, and each of them as `"name":value`; undefined: they do not stand in lines. */
export function linesOfSlice(text: string): { document: string; definitions: string[] } | undefined {
  const [head = '', ...lines] = text.split('\n');
  if (lines.pop() !== behindDefinitions || !head.endsWith(beforeDefinitions)) return undefined;
  return {
    document: head + behindDefinitions,
    definitions: lines.map((line) => (line.startsWith(',') ? line.slice(1) : line)),
  };
}
