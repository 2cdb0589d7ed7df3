import type { ContentRecorder } from '@gateway/capture/content-recorder'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import type { CaptureRules } from '@gateway/ledger-protocol/captured-content'
import type { ChatRequest } from '@gateway/api/chat-request'
import { LRUCache } from 'lru-cache'

/** What a chat node asked and got, if its project captures that (rules §7.11). Never delays the node. */
export type CaptureNode = (call: NodeContent) => void

export interface NodeContent {
  project: string
  invocation: string
  request: Pick<ChatRequest, 'forwardedJson'>
  /** Returns the messages of the model, as JSON; null: none came. Called only if the project captures. */
  answer: () => string | null
  /** Code of the error; null: none. */
  failure: string | null
}

const MAX_PROJECTS = 10_000
const RULES_MS = 10_000

export function openCaptureNode(
  ledger: Pick<LedgerClient, 'captureRules'>,
  recorder: Pick<ContentRecorder, 'record'>,
): CaptureNode {
  const known = new LRUCache<string, Promise<CaptureRules | null>>({ max: MAX_PROJECTS, ttl: RULES_MS })

  function rulesOf(project: string): Promise<CaptureRules | null> {
    const rules = known.get(project) ?? ledger.captureRules({ project }).then((answer) => answer.rules)
    known.set(project, rules, { noUpdateTTL: true })
    return rules
  }

  return ({ request, ...call }) => {
    rulesOf(call.project).then(
      (rules) => rules && recorder.record({ ...call, rules, request: request.forwardedJson, answer: call.answer() }),
      () => known.delete(call.project),
    )
  }
}
