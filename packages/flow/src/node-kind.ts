import type { Values } from '@gateway/api/execution'
import type { ParameterValues } from '@gateway/api/console/products'
import type { ContractSide, GraphNode, ValueType } from '@gateway/api/graph'
import type { Field } from './contract.ts'
import type { ProblemCode } from './problem.ts'

// Definition of a node kind; docs/adding-a-node-kind.md explains it.

/** `unknown`: the type is known only at run time. */
export type PortType = ValueType | 'unknown'

export interface InPort {
  /** `any`: accepts values of any type. */
  type: ValueType | 'any'
  /** Must be wired, and the node is skipped if it gets no value. */
  required: boolean
}

/** Problem of a node; shown after the node's ID. */
export interface NodeProblem {
  code: ProblemCode
  port?: string
  /** Complete sentence. */
  message: string
  resolution: string
}

/** Node as parsed by its kind. A node with problems still has the ports that could be determined. */
export interface Look {
  inputs: ReadonlyMap<string, InPort>
  outputs: readonly string[]
  /** Outputs whose value must not be lost: each must have an outgoing edge. */
  mustLead?: readonly string[]
  problems: NodeProblem[]
  /** Returns the types of its output ports for these input types, and problems with them. */
  typed(types: ReadonlyMap<string, PortType>): { outputs: ReadonlyMap<string, PortType>; problems: NodeProblem[] }
}

/** Kinds of products that a node can call. */
export type CalledKind = Exclude<ProductFacts['kind'], 'embedding'>

/** Product facts that validation needs. */
export interface ProductFacts {
  kind: 'chat' | 'embedding' | 'image' | 'audio'
  /** Assigned to the project and callable. */
  assigned: boolean
  supportedParameters: readonly string[]
  /** Maximum of `params.max_tokens`, in tokens. Absent: not checked. */
  maxOutputTokens?: number
  /** Whether it accepts images. Absent: not checked. */
  takesImages?: boolean
  /** Image limits, if it accepts images. Absent: not checked. */
  imageInput?: { maxBytes: number; maxCount: number; /** Tokens reserved per image. */ maxTokens: number }
  /** Tokens of prompt and output together. Absent: not checked. */
  contextLength?: number
  /** Maximum bytes of the output of an image or audio product. Absent: not checked. */
  maxOutputBytes?: number
  /** Params that a node may set for an image or audio product, with their values. Absent: none. */
  parameterValues?: ParameterValues
}

export interface NodeKind {
  kind: string
  /** Kind of product that it calls; null: the node is free. */
  calls: CalledKind | null
  /** Fields specific to this kind, in addition to id and kind. */
  fields: readonly string[]
  /** Names of input ports that collect several values. */
  collects?: readonly string[]
  look(node: GraphNode, contract: { input: readonly Field[]; output: readonly Field[] }): Look
  /** For paid kinds: returns what this product doesn't support for this node. @param wired ports with incoming edges */
  problemsWith?(node: GraphNode, product: ProductFacts, wired: ReadonlySet<string>): NodeProblem[]
  /**
   * For free kinds that a worker runs: returns values by output port. Ports not in the result are skipped.
   * @param contract for an `output` node: the side that its values must match
   * @param steps that its expressions may take together
   * @throws Refusal that fails the execution; CelFailure if an expression has no value
   */
  run?(node: GraphNode, inputs: Values, contract: ContractSide | null, steps: number): Values
}
