import type { Values } from '@gateway/api/execution'
import type { StartQuestion } from '@gateway/ledger-protocol/flow-reads'
import { refused, type Refused } from '@gateway/ledger-protocol/ledger-refusal'
import type { ContractSide } from '@gateway/api/graph'
import { flowLimits, sandboxModelLimits } from '@gateway/api/limits'
import type { Database } from '@gateway/database/client'
import { type FieldFault, valueTypeOf } from '@gateway/flow/contract'
import { portFit } from '@gateway/flow/json-text'
import { listedAssets } from '../../assets/listed-assets.ts'
import type { Flow } from '../cache/flow.ts'
import type { StartFacts } from './decide-start.ts'

/**
 * Returns the values of the input node by field, as they are to be stored, or what is wrong with them
 * (flows §1.3, §4.7).
 */
export async function readInput(
  { prisma }: Pick<Database, 'prisma'>,
  { surface, input }: Pick<StartQuestion, 'surface' | 'input'>,
  facts: StartFacts,
  flow: Flow,
): Promise<{ values: Values } | Refused> {
  if (surface === 'chat' && !portFit(input).ok) return contextLimit(Buffer.byteLength(input as string))
  const given = surface === 'chat' ? { [facts.revision!.chatInput!]: input } : input
  const checked = flow.checkInput.check(given)
  if (!checked.ok) return refused('input_type', { fields: checked.fields })
  const { values } = checked
  const large = Object.entries(values).filter(([, value]) => !portFit(value).ok)
  if (large.length > 0)
    return inputType(large.map(([field]) => ({ field, message: `is larger than ${flowLimits.portBytes} bytes` })))
  return putAssets({ prisma }, flow.package.input, values, facts)
}

/**
 * Replaces each image and audio value with the asset stored under its id, regardless of what else the caller says of
 * it. An asset of another project, or that the key may not read, is treated as missing.
 */
async function putAssets(
  { prisma }: Pick<Database, 'prisma'>,
  { properties }: ContractSide,
  values: Values,
  { project, key }: Pick<StartFacts, 'project' | 'key'>,
): Promise<{ values: Values } | Refused> {
  const named = Object.entries(properties).flatMap(([field, is]) => {
    const [type, value] = [valueTypeOf(is), values[field]]
    return (type === 'image' || type === 'audio') && value
      ? [{ field, type, id: (value as { asset: string }).asset }]
      : []
  })
  if (named.length === 0) return { values }
  const where = { id: { in: named.map(({ id }) => id) }, project: project!, deletedAt: null }
  const found = await prisma.asset.findMany({ where })
  const assets = key === null ? found : await listedAssets({ prisma }, key, found)
  const faults: FieldFault[] = []
  const put: Values = { ...values }
  for (const { field, type, id } of named) {
    const asset = assets.find((each) => each.id === id)
    if (!asset) faults.push({ field, message: 'names no asset of this project' })
    else if (!asset.mimeType.startsWith(`${type}/`))
      faults.push({ field, message: `names an asset that is no ${type}` })
    else put[field] = { asset: asset.id, mimeType: asset.mimeType, bytes: asset.bytes }
  }
  return faults.length > 0 ? inputType(faults) : { values: put }
}

function inputType(fields: FieldFault[]): Refused {
  return refused('input_type', { fields })
}

/** For a chat client, a text that is too long does not fit the model, in the tokens that it publishes (rules §4.4). */
function contextLimit(bytes: number): Refused {
  const { contextLength, maxOutputTokens, bytesPerToken } = sandboxModelLimits
  const promptTokens = Math.ceil(bytes / bytesPerToken)
  const facts = { contextLength, maxOutputTokens, promptTokens, outputCap: maxOutputTokens }
  return refused('context_limit', { ...facts, anyOutput: true })
}

/** Returned only to a user who names a draft in the console. */
export async function refuseGraph(
  { prisma }: Pick<Database, 'prisma'>,
  sandbox: string,
  number: number,
): Promise<Refused> {
  const revision = await prisma.revision.findUniqueOrThrow({
    where: { sandbox_number: { sandbox, number } },
    select: { problems: true },
  })
  return refused('graph_invalid', {
    problems: JSON.parse(Buffer.from(revision.problems).toString()) as { message: string }[],
  })
}
