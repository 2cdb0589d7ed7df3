import type { ChatRequest } from '@gateway/contracts/chat-request'
import type { Values } from '@gateway/contracts/execution'
import type { GraphNode } from '@gateway/contracts/graph'
import { Refusal } from '@gateway/contracts/refusal'
import { schemaFault } from '@gateway/flow/schema-fault'
import type { AnswerMessage, ToolCall } from '@gateway/providers/chat-port'

// What a chat node makes of a model's answer (flows §2.3). The answer is charged whether the flow can use it or not.
//   C1  `text` is what the model said; empty where it only called tools.
//   C2  `tool_calls` has a value where the model called tools, as `{ "calls": [{ "id", "name", "arguments" }] }` with the arguments
//       as an object. Without a call it has none, and what needs one is skipped.
//   C3  A call of a tool that the node does not have, or with arguments that do not fit its schema, is no answer that a flow can
//       build upon: the node fails and says so.
//   C4  `json` is the text as an object. A model that called a tool in place of it has no JSON to say.

/** @throws Refusal `node_failed` */
export function answerOf(node: GraphNode, request: ChatRequest, message: AnswerMessage): Values {
  const text = message.content ?? message.refusal ?? '' // C1
  const calls = (message.tool_calls ?? []).map((call) => callOf(node, request, call))
  const saysJson = asksForJson(request) && (calls.length === 0 || text !== '') // C4
  return {
    text,
    ...(saysJson && { json: jsonOf(node, text) }),
    ...(calls.length > 0 && { tool_calls: { calls } }), // C2
  }
}

interface Tool {
  function: { name: string; parameters?: Record<string, unknown> }
}

/** C3 */
function callOf({ id: node }: GraphNode, { forwarded }: ChatRequest, { id, function: called }: ToolCall) {
  const { name } = called
  const tools = (forwarded['tools'] ?? []) as Tool[]
  const tool = tools.find((each) => each.function.name === name)
  if (tool === undefined)
    throw unusable(node, `called a tool ${JSON.stringify(name.slice(0, 64))}, which the node does not have`)
  const given = objectOf(called.arguments.trim() === '' ? '{}' : called.arguments)
  if (given === null) throw unusable(node, `called ${name} with arguments that are no JSON object`)
  const fault = schemaFault(tool.function.parameters ?? {}, given)
  if (fault !== null) throw unusable(node, `called ${name} with arguments that do not fit its parameters: ${fault}`)
  return { id, name, arguments: given }
}

function unusable(node: string, what: string): Refusal {
  return new Refusal(
    'node_failed',
    `The model of the node ${node} ${what}. Its answer is charged.`,
    'Raise max_tokens if answers are cut short, describe the tool and its parameters more closely, or use a model that keeps to them.',
    { param: 'tools' },
  )
}

function asksForJson({ forwarded }: ChatRequest): boolean {
  const { type } = (forwarded['response_format'] ?? {}) as { type?: string }
  return type === 'json_object' || type === 'json_schema'
}

function jsonOf({ id }: GraphNode, text: string): object {
  const value = objectOf(text)
  if (value !== null) return value
  throw new Refusal(
    'node_failed',
    `The model of the node ${id} did not answer with a JSON object, as response_format asks it to. Its answer is charged.`,
    'Raise max_tokens if answers are cut short, describe the object in the prompt, or use a model that keeps to response_format.',
    { param: 'response_format' },
  )
}

/** Null for what is no object, and where it holds a number beyond double precision: a record could only say null in its place. */
function objectOf(json: string): object | null {
  try {
    const value: unknown = JSON.parse(json, finite)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}

function finite(_: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new RangeError('a number beyond double precision')
  return value
}
