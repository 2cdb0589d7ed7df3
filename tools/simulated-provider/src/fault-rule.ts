import { z } from 'zod'

/**
 * When a fault applies: before the first byte, or after this many chunks of a stream. A response that is not a stream
 * has two chunks: its headers (`afterChunk: 0`) and the first half of its body (`afterChunk: 1` or more).
 */
const moment = z.union([z.literal('before-first-byte'), z.strictObject({ afterChunk: z.int().min(0) })])

const waitMs = z.int().min(0).max(600_000)

/** One rule of `POST /control/faults`. The first rule that matches a call and isn't used up applies. */
export const faultRule = z.strictObject({
  // Which calls (all given conditions must match)
  model: z.string().min(1).optional(),
  /** A substring of the prompt (all texts of the messages, the prompt of an image, the input of speech). */
  prompt: z.string().min(1).optional(),
  /** Only the first n matching calls. */
  times: z.int().min(1).optional(),

  // Timing
  /** The call waits for `POST /control/release`. */
  hold: z.literal(true).optional(),
  latencyMs: waitMs.optional(),
  perChunkMs: waitMs.optional(),
  /** A stream arrives in pieces of this many bytes. */
  sliceBytes: z.int().min(1).optional(),
  /** Nothing further is sent and the connection stays open. */
  stall: moment.optional(),

  // A fixed response, usually an error
  status: z.int().min(200).max(599).optional(),
  /** A string is sent unchanged, anything else as JSON. Default: an error object of the usual shape. */
  body: z.unknown().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  /** Seconds or an HTTP date, as the `Retry-After` header. */
  retryAfter: z.union([z.int().min(0), z.string().min(1)]).optional(),

  // A broken response
  /**
   * After this chunk: the socket is destroyed. `without-end-marker`: the body ends normally, but without finish reason,
   * usage and `[DONE]` (if it is not a stream: after its first half). `without-done`: only `[DONE]` is missing.
   */
  cut: z.union([moment, z.enum(['without-end-marker', 'without-done'])]).optional(),
  /** Something that isn't JSON. */
  garbage: moment.optional(),
  /** An error object inside a stream that started with 200. */
  errorEvent: moment.optional(),
  /** The text of the response grows by this many bytes. */
  oversizedBytes: z
    .int()
    .min(1)
    .max(256 * 1024 * 1024)
    .optional(),
  contentType: z.string().min(1).optional(),

  // Wrong usage
  missingUsage: z.literal(true).optional(),
  usageFactor: z.number().min(0).max(1_000_000).optional(),

  // Not a fault: the text of the response, for tests that need a specific one
  text: z.string().max(1_000_000).optional(),
  // Not a fault: an image of this size
  imageBytes: z
    .int()
    .min(1_000)
    .max(40 * 1024 * 1024)
    .optional(),
  // Not a fault: tool calls with exactly these arguments
  toolArguments: z.string().max(1_000_000).optional(),
  // Not a fault: the model refuses
  declines: z.literal(true).optional(),
})

export type FaultRule = z.infer<typeof faultRule>

export const faultRules = z.array(faultRule).max(1_000)

export interface FaultBook {
  set(rules: FaultRule[]): void
  /** Returns the rule for this call, or null; counts against the rule's `times`. */
  take(model: string, prompt: string): FaultRule | null
}

export function openFaultBook(): FaultBook {
  let rules: { rule: FaultRule; left: number }[] = []
  return {
    set(next) {
      rules = next.map((rule) => ({ rule, left: rule.times ?? Number.POSITIVE_INFINITY }))
    },
    take(model, prompt) {
      for (const entry of rules) {
        if (entry.left <= 0) continue
        if (entry.rule.model !== undefined && entry.rule.model !== model) continue
        if (entry.rule.prompt !== undefined && !prompt.includes(entry.rule.prompt)) continue
        entry.left--
        return entry.rule
      }
      return null
    },
  }
}
