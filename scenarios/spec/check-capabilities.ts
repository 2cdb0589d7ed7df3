import { problemOf, type Problem, type Proof, type Suite } from './check-table.ts'
import type { Statement } from './split-specification.ts'

/** Something that the service can do: what asks for it, and what proves it beyond that. */
export interface Capability {
  can: string
  /** Statements of the specification, or whole sections of it. */
  statements?: readonly string[]
  provedBy?: readonly Proof[]
}

/** Whatever a capability lacks: something that stands for it, a statement or a test that is there. */
export function checkCapabilities(
  capabilities: readonly Capability[],
  statements: readonly Statement[],
  suite: Suite,
): Problem[] {
  return capabilities.flatMap(({ can, statements: asked = [], provedBy = [] }) => {
    const unknown = asked.filter((id) => !statements.some((one) => one.id === id || one.id.startsWith(`${id}/`)))
    const problems = [
      ...unknown.map((id) => `the specification has no ${id}`),
      ...provedBy.flatMap((proof) => problemOf(proof, suite) ?? []),
      ...(asked.length + provedBy.length === 0 ? ['nothing stands for it'] : []),
    ]
    return problems.map((what) => ({ id: can, what }))
  })
}
