import { invalidField } from './check.ts'

const MAX_LEVELS = 64

/**
 * JSON that can be written as it was read, and on which no program runs out of stack: a number such as 1e999 is read as
 * infinity and would be written as null.
 * @throws Refusal `invalid_request` with the field as `param`
 */
export function requireJsonWithinLimits(value: unknown, param: string): void {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_LEVELS) throw invalidField(param, `is nested more than ${MAX_LEVELS} levels deep.`)
    const below: unknown[] = []
    for (const each of level) {
      if (typeof each === 'number' && !Number.isFinite(each))
        throw invalidField(param, 'holds a number that is too large.')
      if (typeof each === 'object' && each !== null) for (const inner of Object.values(each)) below.push(inner)
    }
    level = below
  }
}
