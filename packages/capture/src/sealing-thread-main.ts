import { answerQuestions, yieldToOtherThreads } from '@gateway/service-kit/async/worker-thread'
import { type CallContent, type Content, sealContent } from './content-keys.ts'
import { type HideText, openHideText, redactContent } from './hide-text.ts'

// The thread that redacts and seals captured content, so that patterns of a project delay no one's calls.

yieldToOtherThreads(5)

/** Of the latest rules; projects are few that capture at once. */
const compiled = new Map<string, HideText>()
const MAX_COMPILED = 1_000

answerQuestions((call: CallContent): Promise<string> => {
  const hide = hideTextOf(call)
  const request = redactContent(JSON.parse(call.request), hide)
  const answer = redactContent(call.answer === null ? null : JSON.parse(call.answer), hide)
  const content: Content = {
    request: request.shown as Content['request'],
    answer: answer.shown as Content['answer'],
    failure: call.failure,
    isCut: request.isCut || answer.isCut,
  }
  return sealContent(call.rules.publicKey, call, content)
})

function hideTextOf({ rules: { hide, patterns } }: CallContent): HideText {
  const name = JSON.stringify([hide, patterns])
  const hideText = compiled.get(name) ?? openHideText(hide, patterns)
  if (compiled.size >= MAX_COMPILED) compiled.clear()
  compiled.set(name, hideText)
  return hideText
}
