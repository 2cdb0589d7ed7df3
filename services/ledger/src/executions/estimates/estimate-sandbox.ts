import type { EstimateFacts } from '@gateway/api/estimate'
import type { Refused } from '@gateway/ledger-protocol/ledger-refusal'
import type { EstimateQuestion, StartQuestion } from '@gateway/ledger-protocol/flow-reads'
import type { Deps } from '../../deps.ts'
import { decideCaller, decideRevision, readStarts } from '../start/decide-start.ts'
import { readInput, refuseGraph } from '../start/read-input.ts'
import { callFunction } from '@gateway/database/call-function'
import type { Database } from '@gateway/database/client'

/**
 * What an estimate is made from (money §7.6). Refused as the start of an execution is, but for its means: it reserves nothing and
 * begins nothing, so who has no funds may ask.
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
    throw new Error('an estimate has begun an execution')
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

/** What bounds the calls of these products now, and what the newest executions of the sandbox product were charged. */
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
