import { hash } from 'node:crypto'
import type { FlowPackage, Graph } from '@gateway/api/graph'
import { packageText } from './package-text.ts'

export { runnerVersion } from './package-text.ts'

/**
 * Builds the immutable package of a graph without problems. `digest` is the SHA-256 of its text, in hex. For Node.js
 * only: code that only compares packages compares their texts.
 */
export function buildPackage(graph: Graph): { package: FlowPackage; digest: string; text: string } {
  const built = packageText(graph)
  return { ...built, digest: hash('sha256', built.text) }
}
