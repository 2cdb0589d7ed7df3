import type { ComponentProps } from 'react'
import { TextField } from '../components/text-field.tsx'

/** Text or number field of a product. The API validates numbers. */
export function ProductField({
  isOptional = false,
  isNumber = false,
  ...field
}: ComponentProps<typeof TextField> & { isOptional?: boolean; isNumber?: boolean }) {
  const number = { inputMode: 'decimal', pattern: '[0-9]+([.][0-9]+)?' } as const
  return <TextField {...field} required={!isOptional} {...(isNumber && number)} />
}
