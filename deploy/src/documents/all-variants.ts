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
    if (!/\b(?:null|undefined|NaN|object Object)\b/.test(text)) said.add(withSums(text))
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
