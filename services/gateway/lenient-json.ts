import type { FastifyInstance } from 'fastify';

/** JSON bodies, where an empty one counts as none: clients send the content type along with requests that have no body. */
export function lenientJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined);
    else void parse(request, body, done);
  });
}
