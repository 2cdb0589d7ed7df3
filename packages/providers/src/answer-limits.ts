// Bounds of what is taken from a provider, whatever it sends. The largest honest answer is 8,192 tokens; written as a
// stream with log-probabilities of 20 alternatives each that is about 10 MB, without them below 3 MB.

/** An answer that isn't streamed, in bytes. */
export const maxCompletionBytes = 12 * 1024 * 1024

/** A whole stream, in bytes. */
export const maxStreamBytes = 16 * 1024 * 1024

/** One event of a stream, in characters. */
export const maxEventCharacters = 1024 * 1024

/** The body of an error answer, in bytes; of a longer one only the status is used. */
export const maxErrorBytes = 64 * 1024

/** Chunks that wait for a slow reader before the provider's connection is paused. */
export const maxWaitingChunks = 64

/** Tool calls in one answer. */
export const maxToolCalls = 128
