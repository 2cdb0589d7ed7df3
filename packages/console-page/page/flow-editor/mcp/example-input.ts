import type { ContractSide } from '@gateway/api/graph'
import { shownType } from '../core/contract-types.ts'

/** Example input for a contract, as JSON with placeholder values for the required fields. */
export function exampleInput({ properties, required = [] }: ContractSide): string {
  const fields = Object.entries(properties).filter(([name]) => required.includes(name))
  return JSON.stringify(Object.fromEntries(fields.map(([name, schema]) => [name, exampleOf(schema)])))
}

function exampleOf(schema: ContractSide['properties'][string]): unknown {
  const examples: Record<string, unknown> = {
    select: schema.enum?.[0],
    number: 1,
    boolean: true,
    object: {},
    image: { asset: 'ast_your_image' },
    audio: { asset: 'ast_your_sound' },
  }
  return examples[shownType(schema)] ?? 'Rain'
}
