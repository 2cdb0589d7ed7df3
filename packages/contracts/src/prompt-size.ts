import { z } from 'zod'
import { tokens } from './usage.ts'

/**
 * What an admission computes the upper bound of a call from (money §2.1): of a direct call and of a node's call
 * alike.
 */
export const promptSize = z.strictObject({
  bytes: z.int().min(0).max(4_000_000),
  messages: z.int().min(0).max(1000),
  tools: z.int().min(0).max(1000),
  images: z.int().min(0).max(10_000),
  /** An exact count of the prompt's tokens, where one was made. */
  counted: tokens.nullable(),
  maxTokens: tokens.nullable(),
})
