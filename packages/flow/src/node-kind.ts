import type { Values } from '@gateway/api/execution'
import type { ParameterValues } from '@gateway/api/console/products'
import type { ContractSide, GraphNode, ValueType } from '@gateway/api/graph'
import type { Field } from './contract.ts'
import type { ProblemCode } from './problem.ts'

// What a kind of node says of itself. docs/adding-a-node-kind.md goes through it.

/** `unknown`: of a value whose type shows only when the flow runs. */
export type PortType = ValueType | 'unknown'

export interface InPort {
  /** `any`: of a port that takes a value of any type. */
  type: ValueType | 'any'
  /** It has to be wired, and a node without a value on it is skipped. */
  required: boolean
}

/** Something wrong with a node; shown with the node's id before it. */
export interface NodeProblem {
  code: ProblemCode
  port?: string
  /** A whole sentence. */
  message: string
  resolution: string
}

/** A node as its kind reads it. A node with problems still has those ports that can be found. */
export interface Look {
  inputs: ReadonlyMap<string, InPort>
  outputs: readonly string[]
  /** Outputs whose value must not be lost: an edge has to lead from each. */
  mustLead?: readonly string[]
  problems: NodeProblem[]
  /** The types of its output ports where values of these types come in; and what is wrong with those. */
  typed(types: ReadonlyMap<string, PortType>): { outputs: ReadonlyMap<string, PortType>; problems: NodeProblem[] }
}

/** What a graph's check has to know of a product that it names. */
export interface ProductFacts {
  kind: 'chat' | 'image' | 'audio'
  /** Assigned to the project, and callable by it. */
  assigned: boolean
  supportedParameters: readonly string[]
  /** Tokens; `params.max_tokens` may not ask for more. Left out: not checked. */
  maxOutputTokens?: number
  /** Whether images may be sent to it. Left out: not checked. */
  takesImages?: boolean
  /** What it takes of images, where it takes any. Left out: not checked. */
  imageInput?: { maxBytes: number; maxCount: number; /** Of one image, as it is reserved. */ maxTokens: number }
  /** Tokens of prompt and output together. Left out: not checked. */
  contextLength?: number
  /** Bytes of what an image or voice product makes. Left out: not checked. */
  maxOutputBytes?: number
  /** Of an image or voice product: what params of a node may set, and to what. Left out: nothing. */
  parameterValues?: ParameterValues
}

export interface NodeKind {
  kind: string
  /** The kind of product that it calls; null: it is free. */
  calls: ProductFacts['kind'] | null
  /** The fields of a node that are its own, in addition to id and kind. */
  fields: readonly string[]
  /** Names of input ports that take several values at once. */
  collects?: readonly string[]
  look(node: GraphNode, contract: { input: readonly Field[]; output: readonly Field[] }): Look
  /** Of a paid kind: what this product can't do for this node. @param wired the ports that edges lead to */
  problemsWith?(node: GraphNode, product: ProductFacts, wired: ReadonlySet<string>): NodeProblem[]
  /**
   * Of a free kind that a worker runs: its values by output port. A port that is not among them is skipped.
   * @param contract of an `output` node: the side that its values have to fit
   * @throws Refusal for what ends the execution; CelFailure where an expression has no value
   */
  run?(node: GraphNode, inputs: Values, contract: ContractSide | null): Values
}
