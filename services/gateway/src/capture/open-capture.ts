import { openAnswerCollector } from '@gateway/capture/collect-answer'
import type { ChatRequest } from '@gateway/api/chat-request'
import type { AdmittedCall } from '../admission/admission.ts'
import type { Deps } from '../deps.ts'

/** Captures the request and the answer of one call (rules §7.11). */
export interface Capture {
  append: ReturnType<typeof openAnswerCollector>['append']
  /**
   * Records the content, once the call has ended.
   * @param failure code of the error that the caller got; null: none
   */
  end(failure: string | null): void
}

/** Returns null if the project of the key does not capture. */
export function openCapture(
  { keyGate, contentRecorder }: Pick<Deps, 'keyGate' | 'contentRecorder'>,
  keyHash: string,
  { project, invocation }: Pick<AdmittedCall, 'project' | 'invocation'>,
  { forwardedJson: request }: Pick<ChatRequest, 'forwardedJson'>,
): Capture | null {
  const rules = keyGate.captureOf(keyHash)
  if (rules === null) return null
  const answer = openAnswerCollector()
  return {
    append: answer.append,
    end: (failure) =>
      contentRecorder.record({ rules, project, invocation, request, answer: answer.messages(), failure }),
  }
}
