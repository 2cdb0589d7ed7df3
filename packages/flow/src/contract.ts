import type { Values } from '@gateway/api/execution'
import { flowLimits } from '@gateway/api/limits'
import type { ContractSide } from '@gateway/api/graph'
import { type Field, fieldCheck, fieldsOf } from './contract/read-side.ts'

// A contract's side: a flat object of typed fields, a subset of JSON Schema (flows §1.3). An image or a sound is `{
// asset, mimeType,
// bytes }`. An input may give `{ "asset": "ast_…" }` alone; anyone who admits it looks the asset up and puts in what is stored,
// anything else was given.

export { readContractSide, valueTypeOf, type Field, type ReadSide } from './contract/read-side.ts'

export interface FieldFault {
  field: string
  /** To follow the field's name. */
  message: string
}
export type Checked = { ok: true; values: Values } | { ok: false; fields: FieldFault[] }

export interface CheckValues {
  /**
   * Checks an object of values. A field that is missing or null, and a select that is an empty string, is not supplied: refused
   * where it is required, else null in `values`, which has every field of the side. All faults at once; the field of a fault of
   * the whole is the empty string. Linear in the size of what it is given.
   */
  check(values: unknown): Checked
}

/** What is said of a field that is required and not supplied. */
export const IS_REQUIRED = 'is required'

const compiled = new WeakMap<ContractSide, CheckValues>()

/**
 * Compiles a side once, however often it is asked for.
 * @param side one that `readContractSide` has read, or a package's
 */
export function compileContract(side: ContractSide): CheckValues {
  const known = compiled.get(side)
  if (known) return known
  const fresh = compile(side)
  compiled.set(side, fresh)
  return fresh
}

function compile(side: ContractSide): CheckValues {
  const fields = fieldsOf(side)
  const known = new Set(fields.map(({ name }) => name))
  const checks = fields.map((field) => ({ ...field, faultOf: fieldCheck(field) }))

  function check(given: unknown): Checked {
    if (typeof given !== 'object' || given === null || Array.isArray(given))
      return { ok: false, fields: [{ field: '', message: 'must be an object' }] }
    const source = given as Values
    const faults: FieldFault[] = []
    const values: Values = {}
    for (const { name, required, options, faultOf } of checks) {
      const value = Object.hasOwn(source, name) ? (source[name] ?? null) : null
      const supplied = value !== null && !(options !== null && value === '')
      const message = supplied ? faultOf(value) : required ? IS_REQUIRED : null
      if (message !== null) faults.push({ field: name, message })
      values[name] = supplied ? value : null
    }
    for (const field of Object.keys(source))
      if (!known.has(field)) {
        faults.push({ field: field.slice(0, 100), message: 'is not a field of the contract' })
        // One that sends thousands of fields is not told of each.
        if (faults.length > 2 * flowLimits.contractFields) break
      }
    return faults.length === 0 ? { ok: true, values } : { ok: false, fields: faults }
  }
  return { check }
}

/**
 * The one text field of either side where a contract is exactly one text in and one text out (rules §3.9); text is a
 * string that is not a select. null where it is anything else.
 */
export function chatFieldsOf(input: ContractSide, output: ContractSide): { input: string; output: string } | null {
  const inputField = onlyText(fieldsOf(input))
  const outputField = onlyText(fieldsOf(output))
  return inputField !== null && outputField !== null ? { input: inputField, output: outputField } : null
}

function onlyText(fields: Field[]): string | null {
  const [only, ...others] = fields
  return only?.type === 'string' && only.options === null && others.length === 0 ? only.name : null
}
