import { z } from 'zod'

// Environment variables are text. These fields read the few forms that our configuration uses; each takes a
// `.meta({ description })` and, where there is one, a `.default(…)`.

/** A TCP port; 0 lets the kernel choose. */
export function port() {
  return wholeNumber({ min: 0, max: 65_535 })
}

/** A whole number, written in digits only. */
export function wholeNumber({ min, max }: { min: number; max: number }) {
  return z
    .string()
    .regex(/^-?\d{1,15}$/, `expected a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `expected a whole number from ${min} to ${max}`)
}

/** `1` or `true` for yes, `0` or `false` for no. */
export function flag() {
  return z.enum(['0', '1', 'false', 'true']).transform((value) => value === '1' || value === 'true')
}

/** An absolute http or https address, kept without a slash at its end. */
export function httpUrl() {
  return z
    .url({ protocol: /^https?$/, error: 'expected an address that starts with http:// or https://' })
    .transform((value) => value.replace(/\/+$/, ''))
}

/** A random secret shared between two services: at least 32 characters. */
export function sharedSecret() {
  return z.string().min(32, 'expected at least 32 characters')
}

/** JSON text of the given shape. What is wrong inside is told by its path. */
export function json<Shape extends z.ZodType>(shape: Shape) {
  return z
    .string()
    .transform((text, context): unknown => {
      try {
        return JSON.parse(text) as unknown
      } catch {
        context.addIssue({ code: 'custom', message: 'expected JSON' })
        return z.NEVER
      }
    })
    .pipe(shape)
}
