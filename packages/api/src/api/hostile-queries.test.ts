import { expect, test } from 'vitest'
import { apiRoutes } from './openapi-document.ts'

const rows = apiRoutes.filter(({ query }) => query !== undefined)
const texts = ['', '\0', '-1', '1e999', '2026-11-01T00:00:00Z', '__proto__', 'a', 'b']

// A rule between two fields may run although neither is valid.
test.each(rows)('the query of $method $path refuses invalid text in two fields at once', ({ query }) => {
  const names = Object.keys((query as unknown as { shape: object }).shape)
  for (const one of names)
    for (const other of names)
      for (const [n, text] of texts.entries()) {
        const asked = { [one]: text, [other]: texts[(n + 1) % texts.length] }
        expect(() => query!.safeParse(asked)).not.toThrow()
      }
})
