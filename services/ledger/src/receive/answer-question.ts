import type { RequestHandler, Response } from 'express'
import { z } from 'zod'
import { readBody } from './read-body.ts'

const MOST_BYTES = 1024 * 1024

interface Limits<Question> {
  mostBytes?: number
  /** What forbids this question to whoever asks it; null: it may be asked. */
  forbids?: (question: Question, res: Response) => string | null
}

/** An internal endpoint that takes one JSON object and answers one. */
export function answerQuestion<Schema extends z.ZodType>(
  schema: Schema,
  answer: (question: z.output<Schema>) => Promise<object>,
  { mostBytes = MOST_BYTES, forbids = () => null }: Limits<z.output<Schema>> = {},
): RequestHandler {
  return async (req, res) => {
    const body = await readBody(req, mostBytes)
    const question = schema.safeParse(parse(body))
    if (!question.success) return void res.status(400).json({ error: z.prettifyError(question.error) })
    const forbidden = forbids(question.data, res)
    if (forbidden === null) res.json(await answer(question.data))
    else res.status(403).json({ error: forbidden })
  }
}

function parse(body: Buffer | null): unknown {
  try {
    return body === null ? undefined : JSON.parse(body.toString())
  } catch {
    return undefined
  }
}
