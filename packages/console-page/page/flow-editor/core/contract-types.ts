import type { FieldSchema } from './contract-commands.ts'

/** Selectable field types. A select is a string with choices; image and audio are objects with a format. */
export const shownTypes: readonly string[] = ['string', 'select', 'number', 'boolean', 'object', 'image', 'audio']

export function shownType({ type, enum: options, format }: FieldSchema): string {
  if (type === 'string' && options !== undefined) return 'select'
  if (type === 'object' && (format === 'image' || format === 'audio')) return format
  return type
}

/** Field schema with another type. Title and description are kept. */
export function schemaOfType({ type: _, enum: __, format: ___, ...words }: FieldSchema, type: string): FieldSchema {
  if (type === 'select') return { ...words, type: 'string', enum: ['one', 'two'] }
  if (type === 'image' || type === 'audio') return { ...words, type: 'object', format: type }
  return { ...words, type }
}
