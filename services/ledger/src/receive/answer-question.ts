import type { RequestHandler } from 'express'
import { z } from 'zod'
import { readBody } from './read-body.ts'

const MOST_BYTES = 1024 * 1024

/** An internal endpoint that takes one JSON object and answers one. */
export function answerQuestion<Schema extends z.ZodType>(
  schema: Schema,
  answer: (question: z.output<Schema>) => Promise<object>,
): RequestHandler {
  return async (req, res) => {
    const body = await readBody(req, MOST_BYTES)
    const question = schema.safeParse(parse(body))
    if (question.success) res.json(await answer(question.data))
    else res.status(400).json({ error: z.prettifyError(question.error) })
  }
}

function parse(body: Buffer | null): unknown {
  try {
    return body === null ? undefined : JSON.parse(body.toString())
  } catch {
    return undefined
  }
}
