import type { Values } from '@gateway/api/execution'
import { flowLimits } from '@gateway/api/limits'
import type { ContractSide } from '@gateway/api/graph'
import { type Field, fieldCheck, fieldsOf } from './contract/read-side.ts'

// Side of a contract: a flat object of typed fields, a subset of JSON Schema (flows §1.3). An image or audio value is
// `{ asset, mimeType, bytes }`. An input may contain only `{ "asset": "ast_…" }`; the admission looks the asset up and
// replaces anything else that was sent with the stored values.

export { readContractSide, valueTypeOf, type Field, type ReadSide } from './contract/read-side.ts'

export interface FieldFault {
  field: string
  /** Follows the name of the field. */
  message: string
}
export type Checked = { ok: true; values: Values } | { ok: false; fields: FieldFault[] }

export interface CheckValues {
  /**
   * Checks an object of values. A field that is missing or null, or a select that is an empty string, counts as absent:
   * a fault if required, otherwise null in `values`, which has every field of the side. Reports all faults at once; a
   * fault of the whole object has an empty field name. Runs in time linear in the size of the values.
   */
  check(values: unknown): Checked
}

/** Message for a missing required field. */
export const IS_REQUIRED = 'is required'

const compiled = new WeakMap<ContractSide, CheckValues>()

/**
 * Compiles a side; the result is cached.
 * @param side returned by `readContractSide`, or from a package
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
        // Limits the number of faults for a caller that sends thousands of fields.
        if (faults.length > 2 * flowLimits.contractFields) break
      }
    return faults.length === 0 ? { ok: true, values } : { ok: false, fields: faults }
  }
  return { check }
}

/**
 * Returns the text fields of a contract with exactly one text in and one text out (rules §3.9), where text is a string
 * that is not a select. Returns null for any other contract.
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
