import type { Express, RequestHandler, Response } from 'express'
import { z } from 'zod'
import {
  ledgerOperations,
  operationNames,
  type OperationName,
  type OperationRow,
  type RequestOf,
  type ResponseOf,
} from '@gateway/contracts/ledger-operations'
import type { LedgerTrace } from '../trace.ts'
import { authorize, callerOf, type VerifyToken } from './authorize.ts'
import { readBody } from './read-body.ts'

/** What carries out each operation: one that has none does not compile. */
export type OperationHandlers = { [Name in OperationName]: (request: RequestOf<Name>) => Promise<ResponseOf<Name>> }

interface Deps {
  verify: VerifyToken
  trace?: Pick<LedgerTrace, 'operation'> | undefined
}

/** Mounts each operation under its path, for the services that may call it. */
export function mountOperations(app: Express, handlers: OperationHandlers, { verify, trace }: Deps): void {
  for (const name of operationNames) {
    const row: OperationRow = ledgerOperations[name]
    const spans = trace && row.span ? [trace.operation(row.span)] : []
    app.post(row.path, authorize(verify, row), ...spans, carryOut(row, handlers[name] as Handler))
  }
}

type Handler = (request: unknown) => Promise<object>

const USUAL_BODY_BYTES = 1024 * 1024

function carryOut({ request, bodyBytes = USUAL_BODY_BYTES, forbids }: OperationRow, handler: Handler): RequestHandler {
  return async (req, res: Response) => {
    const body = await readBody(req, bodyBytes)
    const parsed = request.safeParse(parse(body))
    if (!parsed.success) return void res.status(400).json({ error: z.prettifyError(parsed.error) })
    const forbidden = forbids?.(parsed.data, callerOf(res)) ?? null
    if (forbidden === null) res.json(await handler(parsed.data))
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
