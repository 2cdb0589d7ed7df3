import type { Request } from 'express'

export const NDJSON = 'application/x-ndjson'

/**
 * What an invocation is to be answered with (spec 4.3, 6): its `progress`, its `record`, or, where no content type is named and
 * its output is one image, the `bytes` of that. Never 406: whoever names something else gets the record (decisions.md, 6).
 */
export type AnswerWanted = 'progress' | 'record' | 'bytes'

export function answerWanted(req: Pick<Request, 'headers' | 'accepts'>): AnswerWanted {
  const accept = req.headers.accept?.trim() ?? ''
  if (accept === '' || accept === '*/*') return 'bytes'
  return req.accepts(['application/json', NDJSON]) === NDJSON ? 'progress' : 'record'
}
