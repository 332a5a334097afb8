/** Every error that the public interface answers with. `retry`: the same request may work later without a change. */
export const errorTable = {
  invalid_json: { status: 400, retry: false, sentence: 'The body is not valid JSON.' },
  invalid_request: {
    status: 400,
    retry: false,
    sentence: 'A field or parameter of the request is wrong; see "fields".',
  },
  invalid_project: {
    status: 400,
    retry: false,
    sentence: 'The archive is not a docs project, or breaks a limit or rule.',
  },
  missing_key: { status: 401, retry: false, sentence: 'Send an API key in the header "Authorization: Bearer <key>".' },
  invalid_key: {
    status: 401,
    retry: false,
    sentence: 'The API key is not valid. Check that it is complete, or create a new one.',
  },
  expired_key: { status: 401, retry: false, sentence: 'The API key has expired. Create a new one or rotate it.' },
  wrong_key_kind: { status: 403, retry: false, sentence: 'This kind of API key cannot be used for this request.' },
  missing_scope: { status: 403, retry: false, sentence: 'The API key lacks the scope that this request needs.' },
  address_not_allowed: { status: 403, retry: false, sentence: 'The API key may not be used from this address.' },
  origin_not_allowed: { status: 403, retry: false, sentence: 'The API key may not be used from this origin.' },
  plan_required: { status: 403, retry: false, sentence: 'Static export needs the enterprise plan.' },
  not_found: { status: 404, retry: false, sentence: 'There is no such thing in this organization.' },
  not_completed: {
    status: 409,
    retry: true,
    sentence: 'The job is not completed. Poll its status until it says "completed", then ask again.',
  },
  job_ended: { status: 409, retry: false, sentence: 'The job has ended and cannot be cancelled.' },
  idempotency_conflict: {
    status: 409,
    retry: false,
    sentence: 'This Idempotency-Key was used for another request. Use a new key, or send the same body.',
  },
  in_use: {
    status: 409,
    retry: false,
    sentence: 'This content is the latest or has a label. Promote another version or move the label first.',
  },
  too_large: { status: 413, retry: false, sentence: 'The body is too large.' },
  unsupported_media_type: { status: 415, retry: false, sentence: 'The Content-Type is not one that this path takes.' },
  rate_limited: { status: 429, retry: true, sentence: 'Too many requests. Wait as long as Retry-After says.' },
  internal: {
    status: 500,
    retry: true,
    sentence: 'Something failed on our side. The request id helps to find out what.',
  },
  unavailable: {
    status: 503,
    retry: true,
    sentence: 'A needed system is down. Nothing was half done; try again later.',
  },
} as const;

export type ErrorCode = keyof typeof errorTable;
