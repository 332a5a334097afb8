export const referenceFile = 'api.json';

/** A project whose only pages are those of its API description. */
export function referenceProject(): Record<string, string> {
  const navigation = { openapi: referenceFile };
  const settings = { name: 'Made', theme: 'mint', colors: { primary: '#0f766e' }, navigation };
  return { 'docs.json': JSON.stringify(settings), [referenceFile]: largeSpecification() };
}

const sentence = 'Words about what this field means to those who call the operation, and when it is there. ';
const [schemaCount, operationCount] = [400, 800];

/** An API description of 800 operations and 5 MB, always the same: 400 schemas of 18 fields that refer to each other. */
function largeSpecification(): string {
  const reference = (at: number) => ({ $ref: `#/components/schemas/S${at % schemaCount}` });
  const answer = (description: string, at: number) => ({
    description,
    content: { 'application/json': { schema: reference(at) } },
  });
  const field = (schema: number, at: number): object => {
    if (at % 6 === 0) return reference(schema * 7 + at);
    if (at % 5 === 0) return { type: 'array', items: reference(schema + at) };
    const type = ['string', 'integer', 'boolean'][at % 3];
    return { type, description: sentence.slice(0, 40 + at * 3), ...(at % 4 === 0 && { enum: ['a', 'b', 'c'] }) };
  };
  const schemas = named(schemaCount, (at) => [
    `S${at}`,
    {
      type: 'object',
      description: sentence,
      required: ['field1', 'field2', 'field3'],
      properties: named(18, (position) => [`field${position}`, field(at, position)]),
    },
  ]);
  const paths = named(operationCount, (at) => [
    `/things${at}/{id}`,
    {
      [['get', 'post', 'put', 'delete'][at % 4] ?? 'get']: {
        tags: [`t${at % 40}`],
        summary: `Operation number ${at}`,
        description: sentence.repeat(25),
        parameters: [
          { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
          ...Array.from({ length: 6 }, (_, number) => ({
            name: `q${number}`,
            in: 'query',
            description: sentence,
            schema: { type: 'integer', default: number },
          })),
        ],
        ...((at % 4 === 1 || at % 4 === 2) && {
          requestBody: { required: true, content: { 'application/json': { schema: reference(at) } } },
        }),
        responses: { 200: answer('Fine', at + 1), 400: answer('Wrong', 0), 404: answer('None', 0) },
      },
    },
  ]);
  const info = { title: 'Made', version: '1' };
  const servers = [{ url: 'https://api.example.com' }];
  return JSON.stringify({ openapi: '3.1.0', info, servers, components: { schemas }, paths }, undefined, 1);
}

const named = (count: number, make: (at: number) => [string, object]): Record<string, object> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => make(at)));
