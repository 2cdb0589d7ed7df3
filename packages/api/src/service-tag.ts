import { z } from 'zod'

/** What a call is for, as its caller names it: of a key, or of one call in `X-Service-Tag` (rules §2.12). */
export const serviceTag = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,63}$/, {
  error: 'must be 1 to 64 letters, digits and characters of ._:/@-, and begin with a letter or a digit',
})
