import { z } from 'zod'
import type { ContractSide } from '@gateway/api/graph'
import { shownType } from '../core/contract-commands.ts'

const values = z.record(z.string(), z.unknown())
const inputs = z.object({
  last: values,
  maxCost: z.string(),
  sets: z.array(z.object({ name: z.string(), values })),
})
/** Inputs of a flow as last typed, its max cost, and named sets of inputs. A file is only its asset ID. */
export type RunInputs = z.infer<typeof inputs>

/** Room for the inputs of one flow. A set that does not fit is refused. */
const MOST_CHARACTERS = 256 * 1_024
const MOST_SETS = 50

/** Inputs of one flow and one user, in this browser only. */
export function runInputs(
  storage: Pick<Storage, 'getItem' | 'setItem'>,
  { user, sandbox }: Record<'user' | 'sandbox', string>,
) {
  const key = `flow-inputs ${user} ${sandbox}`
  return {
    key,
    read(): RunInputs {
      try {
        return inputs.parse(JSON.parse(storage.getItem(key) ?? ''))
      } catch {
        return { last: {}, maxCost: '', sets: [] }
      }
    },
    /** Returns whether they could be stored. */
    keep(kept: RunInputs): boolean {
      const text = JSON.stringify(kept)
      if (text.length > MOST_CHARACTERS || kept.sets.length > MOST_SETS) return false
      try {
        storage.setItem(key, text)
        return true
      } catch {
        return false // storage is full or blocked
      }
    },
  }
}

/** The values of fields that the flow still has, without those that the form would send but can't show. */
export function fittingValues(
  values: Readonly<Record<string, unknown>>,
  { properties }: Pick<ContractSide, 'properties'>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).filter(
      ([name, value]) => Object.hasOwn(properties, name) && isShown(value, shownType(properties[name]!)),
    ),
  )
}

function isShown(value: unknown, type: string): boolean {
  if (type === 'select') return typeof value === 'string'
  if (type === 'string' || type === 'number' || type === 'boolean') return typeof value === type
  if (type === 'image' || type === 'audio') return assetOf(value) !== undefined
  return true // shown as JSON
}

function assetOf(value: unknown): string | undefined {
  const asset = typeof value === 'object' && value !== null && 'asset' in value ? value.asset : undefined
  return typeof asset === 'string' ? asset : undefined
}

/** Values of an execution as the form takes them: of an asset, only its ID. */
export function valuesToType(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const asset = assetOf(value)
      return [name, asset === undefined ? value : { asset }]
    }),
  )
}
