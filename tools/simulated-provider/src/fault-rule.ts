import { z } from 'zod'

/**
 * When a fault strikes: before the first byte, or after this many chunks of a stream were sent. An answer that is
 * not a stream has two chunks: its headers (`afterChunk: 0`) and the first half of its body (`afterChunk: 1` or more).
 */
const moment = z.union([z.literal('before-first-byte'), z.strictObject({ afterChunk: z.int().min(0) })])

const waitMs = z.int().min(0).max(600_000)

/** One rule of `POST /control/faults`. The first rule that fits a call and isn't used up decides about it. */
export const faultRule = z.strictObject({
  // Which calls (all of the given must fit)
  model: z.string().min(1).optional(),
  /** A part of the prompt (all texts of the messages, the image's prompt, the speech's input). */
  prompt: z.string().min(1).optional(),
  /** Only the first n calls that fit. */
  times: z.int().min(1).optional(),

  // Time
  /** The call waits until `POST /control/release`. */
  hold: z.literal(true).optional(),
  latencyMs: waitMs.optional(),
  perChunkMs: waitMs.optional(),
  /** A stream arrives in pieces of this many bytes. */
  sliceBytes: z.int().min(1).optional(),
  /** Nothing more is sent and the connection stays open. */
  stall: moment.optional(),

  // A fixed answer in place of the composed one, mostly a refusal
  status: z.int().min(200).max(599).optional(),
  /** Text is sent unchanged, anything else as JSON. Default: an error object of the usual shape. */
  body: z.unknown().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  /** Seconds or an HTTP date, as the `Retry-After` header. */
  retryAfter: z.union([z.int().min(0), z.string().min(1)]).optional(),

  // A broken answer
  /**
   * A moment: the socket is destroyed. `without-end-marker`: the body ends as if complete, without finish reason,
   * usage and `[DONE]` (not a stream: after its first half). `without-done`: only `[DONE]` is missing.
   */
  cut: z.union([moment, z.enum(['without-end-marker', 'without-done'])]).optional(),
  /** Something that isn't JSON. */
  garbage: moment.optional(),
  /** An error object inside a stream that began with 200. */
  errorEvent: moment.optional(),
  /** The answer's text grows by this many bytes. */
  oversizedBytes: z
    .int()
    .min(1)
    .max(256 * 1024 * 1024)
    .optional(),
  contentType: z.string().min(1).optional(),

  // A wrong count
  missingUsage: z.literal(true).optional(),
  usageFactor: z.number().positive().max(1_000_000).optional(),

  // Not a fault: the text to answer with, for tests that need a certain one
  text: z.string().max(1_000_000).optional(),
  // Nor this: an image of this many bytes
  imageBytes: z
    .int()
    .min(1_000)
    .max(40 * 1024 * 1024)
    .optional(),
  // Nor this: tool calls with these arguments, as they are
  toolArguments: z.string().max(1_000_000).optional(),
  // Nor this: the model declines to answer
  declines: z.literal(true).optional(),
})

export type FaultRule = z.infer<typeof faultRule>

export const faultRules = z.array(faultRule).max(1_000)
