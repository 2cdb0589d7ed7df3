import { z } from 'zod'

const NAME = /^(?:[a-z0-9-]+(?:\.[a-z0-9-]+)*|\[[0-9a-f:.]+\])$/

/** Names of hosts as a browser writes them, separated by commas: lower case, no scheme and no port. */
export function hostNames() {
  return z
    .string()
    .default('')
    .transform((text) =>
      text
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== ''),
    )
    .refine((names) => names.every((name) => NAME.test(name)), {
      error: 'expected names of hosts separated by commas, without scheme and port, such as app.example.com',
    })
}
