import type { Express, RequestHandler, Response } from 'express'
import { z } from 'zod'
import { ledgerOperations, operationNames, type OperationRow } from '@gateway/ledger-protocol/ledger-operations'
import { readBody } from '@gateway/service-kit/http/read-body'
import type { Deps } from '../deps.ts'
import { operationHandlers } from '../operation-handlers.ts'
import { operationSpan } from '../spans.ts'
import { authorize, callerOf, type VerifyToken } from './decide-items.ts'

/** Mounts each operation under its path, for the services that may call it. */
export function mountOperations(app: Express, deps: Deps, verify: VerifyToken): void {
  for (const name of operationNames) {
    const row: OperationRow = ledgerOperations[name]
    const spans = row.span ? [operationSpan(row.span)] : []
    app.post(row.path, authorize(verify, row), ...spans, carryOut(deps, row, operationHandlers[name] as Handler))
  }
}

type Handler = (deps: Deps, request: unknown) => Promise<object>

const USUAL_BODY_BYTES = 1024 * 1024

function carryOut(
  deps: Deps,
  { request, bodyBytes = USUAL_BODY_BYTES, forbids }: OperationRow,
  handler: Handler,
): RequestHandler {
  return async (req, res: Response) => {
    const body = await readBody(req, bodyBytes)
    const parsed = request.safeParse(parse(body))
    if (!parsed.success) return void res.status(400).json({ error: z.prettifyError(parsed.error) })
    const forbidden = forbids?.(parsed.data, callerOf(res)) ?? null
    if (forbidden === null) res.json(await handler(deps, parsed.data))
    else res.status(403).json({ error: forbidden })
  }
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}
