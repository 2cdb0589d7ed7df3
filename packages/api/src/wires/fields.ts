// Reads of a body that no schema has checked yet.

export function listOf(value: unknown, field: string): unknown[] {
  const list = fieldOf(value, field)
  return Array.isArray(list) ? list : []
}

export function fieldOf(value: unknown, field: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, field)
    ? (value as Record<string, unknown>)[field]
    : undefined
}
