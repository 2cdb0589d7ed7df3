/** Whether two plain values say the same, in whatever order their keys are written. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [left, right] = [definedOf(a), definedOf(b)]
  return (
    left.length === right.length &&
    left.every(([key, value]) => Object.hasOwn(b, key) && sameJson(value, (b as Record<string, unknown>)[key]))
  )
}

const definedOf = (value: object) => Object.entries(value).filter(([, held]) => held !== undefined)
