/** Another service did not answer: refused, gone in the middle, or too late. */
export class ServiceUnavailable extends Error {
  override name = 'ServiceUnavailable';

  constructor(service: string, cause: unknown) {
    super(`The ${service} did not answer: ${cause instanceof Error ? cause.message || cause.name : String(cause)}.`, {
      cause,
    });
  }
}
