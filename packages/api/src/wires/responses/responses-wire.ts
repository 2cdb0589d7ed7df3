import { type ChatWire, commentKeepAlive } from '../wire.ts'
import { renamed } from '../fields.ts'
import { attachmentUrlsOf, nameOfField, readResponses } from './read-responses.ts'
import { responsesAnswer } from './responses-answer.ts'

/** POST /v1/responses: the Responses wire of OpenAI, without anything that it stores (docs/responses.md). */
export const responsesWire: ChatWire = {
  name: 'responses',
  dataForm: 'url',
  dataOf: attachmentUrlsOf,
  keepAlive: commentKeepAlive,
  read(value, cut) {
    const { request, body } = readResponses(value, cut)
    return { request, openAnswer: (facts) => responsesAnswer(facts, body) }
  },
  errorBody: (refusal) => ({ error: renamed(refusal, nameOfField).body }),
}
