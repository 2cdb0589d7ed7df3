import type { Express, RequestHandler, Response } from 'express'
import { z } from 'zod'
import { ledgerOperations, operationNames, type OperationRow } from '@gateway/ledger-protocol/ledger-operations'
import type { Deps } from '../deps.ts'
import { operationHandlers } from '../operation-handlers.ts'
import { operationSpan } from '../spans.ts'
import type { RequestVerifier } from '@gateway/ledger-client/service-token'
import { authorize, callerOf, takeBody } from './authorize.ts'

/** Mounts each operation under its path, for the services that may call it. */
export function mountOperations(app: Express, deps: Deps, verify: RequestVerifier): void {
  for (const name of operationNames) {
    const row: OperationRow = ledgerOperations[name]
    const spans = row.span ? [operationSpan(row.span)] : []
    app.post(row.path, authorize(verify, row), ...spans, carryOut(deps, row, operationHandlers[name] as Handler))
  }
}

type Handler = (deps: Deps, request: unknown) => Promise<object>

function carryOut(deps: Deps, { request, forbids }: OperationRow, handler: Handler): RequestHandler {
  return async (_req, res: Response) => {
    const parsed = request.safeParse(parse(takeBody(res)))
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
