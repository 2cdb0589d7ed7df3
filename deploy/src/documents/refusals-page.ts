import { refusals, typeOf } from '@gateway/api/refusals'

interface Row {
  status: number
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
  const sections = rows.map(([code, row]) => `## ${code}\n\n${row.status} \`${typeOf(row)}\`\n\n${variantsOf(row)}\n`)
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

/**
 * All that a function can say, regardless of the facts, with `{name}` where it says a fact. Each fact that it asks for is given
 * once, and once left out (null); variants that would say "null" or can't be said are dropped. In the order in which they come up.
 * A sum of facts is said as `{one} + {other}`; a computed value can't be told from a fact, and belongs into one.
 */
export function allVariants(say: (facts: unknown) => string): string[] {
  const said = new Set<string>()
  const asked = new Set<string>()
  trySaying(say, new Set(), asked, said)
  // A fact may be asked for only where another one is left out.
  for (let known = -1; known < asked.size;) {
    known = asked.size
    const names = [...asked]
    for (let mask = 1; mask < 2 ** names.length; mask++)
      trySaying(say, new Set(names.filter((_, at) => mask & (1 << at))), asked, said)
  }
  return [...said]
}

function trySaying(
  say: (facts: unknown) => string,
  absent: ReadonlySet<string>,
  asked: Set<string>,
  said: Set<string>,
): void {
  const facts = new Proxy(
    {},
    {
      get(_, name) {
        if (typeof name === 'symbol') return undefined
        asked.add(name)
        return absent.has(name) ? null : fact(name)
      },
    },
  )
  try {
    const text = say(facts)
    if (!/null|undefined|NaN|object Object/.test(text)) said.add(withSums(text))
  } catch {
    // This way needs a fact that was left out.
  }
}

const ADDED = '\ue000'

/** Facts that were added stand alongside each other, each between two marks. */
function withSums(text: string): string {
  return text.replaceAll(ADDED + ADDED, ' + ').replaceAll(ADDED, '')
}

/** Stands for a text, a number above 0 or a list. */
function fact(name: string): unknown {
  return new Proxy(() => {}, {
    get(_, inner) {
      if (inner === Symbol.toPrimitive) return (hint: string) => asPrimitive(name, hint)
      if (inner === 'toString' || inner === 'valueOf' || inner === 'join') return () => `{${name}}`
      if (inner === 'map' || inner === 'filter') return () => fact(name)
      return typeof inner === 'symbol' ? undefined : fact(`${name}.${inner}`)
    },
  })
}

/** `+` asks for a value by default, a template for a text, a comparison for a number. */
function asPrimitive(name: string, hint: string): string | number {
  if (hint === 'number') return 1
  return hint === 'default' ? `${ADDED}{${name}}${ADDED}` : `{${name}}`
}
