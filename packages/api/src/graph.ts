import { z } from 'zod'

// A flow as its author saves it (flows §2.1): a contract with two sides, nodes, and edges between their ports. These
// schemas check only that it is a graph; @gateway/flow reports everything that is wrong with it at once.

/** A type of a value, of a port and of a contract's field. An image or audio value is `{ asset, mimeType, bytes }`. */
export type ValueType = 'string' | 'number' | 'boolean' | 'object' | 'image' | 'audio'

/** A field of a contract; the subset of JSON Schema of flows §1.3, checked in @gateway/flow. */
export const contractField = z.looseObject({
  type: z.string(),
  enum: z.array(z.unknown()).optional(),
  format: z.string().optional(),
  title: z.string().optional(),
  description: z.string().optional(),
})

/** One side of a contract. */
export const contractSide = z.looseObject({
  type: z.literal('object'),
  properties: z.record(z.string(), contractField),
  required: z.array(z.string()).optional(),
})
export type ContractSide = z.infer<typeof contractSide>

/** A node; its other fields depend on its kind. */
export const graphNode = z.looseObject({ id: z.string(), kind: z.string() })
export type GraphNode = z.infer<typeof graphNode>

/** From a port to a port, each `node.port`; a branch's are `node.true.port` and `node.false.port`. */
export const graphEdge = z.strictObject({ from: z.string(), to: z.string() })
export type GraphEdge = z.infer<typeof graphEdge>

export const noteColors = ['yellow', 'green', 'blue', 'red'] as const

/** A sticky note on the canvas. It's for people only: it isn't validated, run or packaged. */
export const graphNote = z.strictObject({
  id: z.string().max(64),
  text: z.string().max(4000),
  color: z.enum(noteColors),
  /** In canvas pixels. */
  position: z.strictObject({ x: z.number(), y: z.number() }),
  size: z.strictObject({ width: z.number().min(0), height: z.number().min(0) }),
})
export type GraphNote = z.infer<typeof graphNote>

/**
 * A side as its author saves it: a field may be any object, and its problems are reported with those of the graph. Only
 * sides without problems are read as their type says.
 */
const savedSide = contractSide.extend({
  properties: z.record(z.string(), z.looseObject({})) as unknown as (typeof contractSide)['shape']['properties'],
})

export const graph = z.strictObject({
  input: savedSide,
  output: savedSide,
  nodes: z.array(graphNode).max(1000),
  edges: z.array(graphEdge).max(4000),
  notes: z
    .array(graphNote)
    .max(100)
    .refine((notes) => new Set(notes.map(({ id }) => id)).size === notes.length, 'Give each note its own id.')
    .optional(),
})
export type Graph = z.infer<typeof graph>

/** One problem of a graph; all of them are reported at once (flows §2.7). */
export const graphProblem = z.strictObject({
  code: z.string(),
  node: z.string().nullable().describe('null: the graph as a whole'),
  port: z.string().nullable(),
  message: z.string(),
  resolution: z.string(),
})
export type GraphProblem = z.infer<typeof graphProblem>

/**
 * The activated flow: immutable, and the same for the same graph (flows §3.3). Its digest is the SHA-256 of its
 * canonical JSON, hex.
 */
export const flowPackage = z.strictObject({
  runnerVersion: z.string(),
  graph,
  /** The contract's sides as clean JSON Schema. */
  input: contractSide,
  output: contractSide,
  /** Sorted, each once. */
  manifest: z.array(z.string()).describe('the products that its nodes call'),
})
export type FlowPackage = z.infer<typeof flowPackage>
