import { refusals } from '@gateway/api/refusals'
import { allVariants } from './all-variants.ts'

interface Row {
  status: number
  type: string
  // What stands for a fact may come back unchanged, so it is asked for its text.
  message: (facts: unknown) => { toString(): string }
  resolution: (facts: unknown) => { toString(): string }
}

const heading = `# Refusals

Every response other than 2xx has this shape, on every endpoint. \`code\` never changes its meaning; \`message\` and \`resolution\` are
for users; \`details\` holds facts for programs, if there are any. Text in braces stands for facts of the individual case.

\`\`\`json
{ "error": { "code": "key_limit", "type": "permission_error", "param": null, "message": "…", "resolution": "…", "details": {} } }
\`\`\`

A response with \`Retry-After\` can be retried; one with \`x-should-retry: false\` can't. A refused call is not charged.
This page is generated from packages/api/src/refusals.ts.
`

/** docs/refusals.md: each code with its status, what it says, and what clears it. */
export function refusalsPage(): string {
  const rows = Object.entries(refusals as Record<string, Row>).toSorted(
    ([, one], [, other]) => one.status - other.status,
  )
  const sections = rows.map(([code, row]) => `## ${code}\n\n${row.status} \`${row.type}\`\n\n${variantsOf(row)}\n`)
  return [heading, ...sections].join('\n')
}

/** What it says, each with all that may clear it. */
function variantsOf({ message, resolution }: Row): string {
  const variants = allVariants((facts) =>
    JSON.stringify([message(facts).toString(), resolution(facts).toString()]),
  ).map((variant) => JSON.parse(variant) as [said: string, resolution: string])
  const bySaying = Map.groupBy(variants, ([said]) => said)
  const parts = [...bySaying].map(([said, resolutions]) => {
    const cleared = resolutions.map(([, resolution]) => resolution)
    const list =
      cleared.length === 1 ? ` ${cleared[0]}` : `\n\n${cleared.map((resolution) => `- ${resolution}`).join('\n')}`
    return `${said}\n\nHow to fix it:${list}`
  })
  return parts.join('\n\nOr:\n\n').replaceAll('<', '\\<')
}
