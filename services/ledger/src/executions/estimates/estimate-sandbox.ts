import type { EstimateFacts } from '@gateway/api/estimate'
import type { Refused } from '@gateway/ledger-protocol/ledger-refusal'
import type { EstimateQuestion, StartQuestion } from '@gateway/ledger-protocol/flow-reads'
import type { Deps } from '../../deps.ts'
import { decideCaller, decideRevision, readStarts, readInput, refuseGraph } from '../start/decide-start.ts'
import { callFunction } from '@gateway/database/call-function'
import type { Database } from '@gateway/database/client'

/**
 * Returns the facts for an estimate (money §7.6). Refused like the start of an execution, except for lack of funds: an
 * estimate reserves and starts nothing.
 */
export async function estimateSandbox(
  { reads, packageCache }: Pick<Deps, 'reads' | 'packageCache'>,
  asked: EstimateQuestion,
): Promise<EstimateFacts | Refused> {
  const asStart = { id: 'estimate', surface: 'invoke', idempotency: null, maxMicro: null, trace: null } as const
  const question: StartQuestion = { ...asked, ...asStart }
  const [facts] = await readStarts(reads, [question], 1)
  const decided = decideCaller(question, facts!) ?? decideRevision(question, facts!)
  if (decided !== null) {
    if ('refused' in decided) return decided
    throw new Error('an estimate started an execution')
  }
  const { sandbox } = question
  const { number: revision, digest } = facts!.revision!
  if (digest === null) return refuseGraph(reads, sandbox, revision)
  const flow = await packageCache.get({ sandbox, revision, digest })
  const input = await readInput(reads, question, facts!, flow)
  if ('refused' in input) return input
  const prices = await readPrices(reads, { products: flow.package.manifest, sandbox, digest })
  return { project: facts!.project!, sandbox, revision, package: flow.package, values: input.values, ...prices }
}

interface Asked {
  products: readonly string[]
  sandbox: string
  digest: string
}

/** Reads the current bounds of calls of these products, and the charges of the sandbox product's newest executions. */
export async function readPrices(
  { sql }: Pick<Database, 'sql'>,
  { products, sandbox, digest }: Asked,
): Promise<Pick<EstimateFacts, 'products' | 'last'>> {
  const row = await callFunction(sql, 'money.read_estimate', {
    of_products: products,
    of_sandbox: sandbox,
    of_digest: digest,
  })
  return {
    products: JSON.parse(row.products) as EstimateFacts['products'],
    last: JSON.parse(row.last) as EstimateFacts['last'],
  }
}
