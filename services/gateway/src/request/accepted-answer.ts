import type { Request } from 'express'

export const NDJSON = 'application/x-ndjson'

/**
 * What an invocation is to be answered with (flows §4.4, §4.5): its `progress`, its `record`, or, where no content type
 * is named and its output is one image, the `bytes` of that image.
 */
export type AcceptedAnswer = 'progress' | 'record' | 'bytes'

/** Reads the Accept header. Never 406: a caller who names something else gets the record (flows §4.1). */
export function acceptedAnswer(req: Pick<Request, 'headers' | 'accepts'>): AcceptedAnswer {
  const accept = req.headers.accept?.trim() ?? ''
  if (accept === '' || accept === '*/*') return 'bytes'
  return req.accepts(['application/json', NDJSON]) === NDJSON ? 'progress' : 'record'
}
