import type { EstimateAnswer } from '@gateway/contracts/estimate'
import type { EstimateQuestion, StartQuestion } from '@gateway/contracts/flow-reads'
import type { Deps } from '../../deps.ts'
import { decideCaller, decideRevision } from '../start/decide-start.ts'
import { readInput } from '../start/read-input.ts'
import { refuseGraph } from '../start/refuse-graph.ts'
import { readStarts } from '../start/start-facts.ts'
import { readPrices } from './read-prices.ts'

/**
 * What an estimate is made from (money §7.6). Refused as the start of an execution is, but for its means: it reserves nothing and
 * begins nothing, so who has no funds may ask.
 */
export async function estimateSandbox(
  { reads, packageCache }: Pick<Deps, 'reads' | 'packageCache'>,
  asked: EstimateQuestion,
): Promise<EstimateAnswer> {
  const question: StartQuestion = { ...asked, id: 'estimate', surface: 'invoke', idempotency: null, trace: null }
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
