import { Refusal } from '@gateway/contracts/refusal'
import type { ExplainError } from './answer-errors.ts'

interface Options {
  /** The service's name, as its folder has it. */
  service: string
  /** What is said of a failure that is no refusal; what it was is logged and told nobody. */
  failure: string
  log: { error(fields: object, message: string): void }
}

/**
 * What an internal service tells another one: `{ error }` with a sentence for whoever reads a log. A refusal has its own status;
 * whatever else was thrown is 503, because the caller may ask again.
 */
export function internalAnswers({ service, failure, log }: Options): ExplainError {
  return (error, { path }) => {
    if (error instanceof Refusal) return { status: error.status, body: { error: sentenceOf(error) } }
    log.error({ err: error, path }, 'a request failed')
    return { status: 503, body: { error: failure } }
  }

  function sentenceOf({ code, body: { message, resolution } }: Refusal): string {
    if (code === 'not_found') return `There is nothing here; app.ts of the ${service} lists what there is.`
    return `${message} ${resolution}`
  }
}
