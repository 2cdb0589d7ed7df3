import type { CaptureRules } from '@gateway/ledger-protocol/captured-content'

/** What content is sealed for. */
export interface ContentName {
  project: string
  invocation: string
}

/** What is sealed. */
export interface Content {
  request: { messages: unknown[] } & Record<string, unknown>
  answer: unknown[] | null
  failure: string | null
  isCut: boolean
}

/** A call to capture. */
export interface CallContent extends ContentName {
  rules: CaptureRules
  /** The forwarded request, as JSON. */
  request: string
  /** The messages of the model, as JSON; null: none came. */
  answer: string | null
  failure: string | null
}
