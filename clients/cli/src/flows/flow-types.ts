import type { ContractSide } from '@gateway/api/graph'
import { readContractSide, type Field } from '@gateway/flow/contract'

/** The contract of a flow as TypeScript types. @param name of its file */
export function flowTypes(name: string, { input, output }: { input: ContractSide; output: ContractSide }): string {
  const title = name.replaceAll(/(?:^|-)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()).replace(/^\d/, '_$&')
  return `${interfaceOf(`${title}Input`, input, true)}\n${interfaceOf(`${title}Output`, output, false)}`
}

function interfaceOf(name: string, side: ContractSide, isInput: boolean): string {
  const lines = fieldsOf(side).map(
    (field) => `  ${key(field.name)}${field.required ? '' : '?'}: ${typeOf(field, isInput)}\n`,
  )
  return `export interface ${name} {\n${lines.join('')}}\n`
}

const key = (name: string) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name))

function typeOf({ type, options }: Field, isInput: boolean): string {
  if (options) return options.map((option) => JSON.stringify(option)).join(' | ')
  if (type === 'object') return 'Record<string, unknown>'
  if (type !== 'image' && type !== 'audio') return type
  return isInput ? '{ asset: string }' : '{ asset: string; mimeType: string; bytes: number }'
}

/** Fields of a valid side; problems are reported earlier. */
function fieldsOf(side: ContractSide): Field[] {
  const read = readContractSide(side)
  return read.problems ? [] : read.fields
}
