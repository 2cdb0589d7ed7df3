import type {
  Response,
  ResponseFunctionToolCall,
  ResponseOutputMessage,
  ResponseReasoningItem,
  ResponseUsage,
} from 'openai/resources/responses/responses'

// Responses as the documentation of the Responses API shows them, held to the types of OpenAI's SDK.

export const usage: ResponseUsage = {
  input_tokens: 13,
  input_tokens_details: { cached_tokens: 3, cache_write_tokens: 2 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 4 },
  total_tokens: 20,
}

export function response(fields: Partial<Response> = {}): Response {
  return {
    id: 'resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b',
    object: 'response',
    access_programs: null,
    created_at: 1_741_476_542,
    status: 'completed',
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    model: 'gpt-4.1-2025-04-14',
    output: [],
    output_text: '',
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    truncation: 'disabled',
    metadata: {},
    ...fields,
  }
}

export function outputText(text: string, status: ResponseOutputMessage['status'] = 'completed'): ResponseOutputMessage {
  return {
    type: 'message',
    id: 'msg_67ccd2bf17f0819081ff3bb2cf6508e60bb6a6b452d3795b',
    status,
    role: 'assistant',
    content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
  }
}

export function functionCall(id: string, json: string): ResponseFunctionToolCall {
  return { type: 'function_call', id: 'fc_1', call_id: id, name: 'look_up', arguments: json, status: 'completed' }
}

export function reasoning(n: number, ...summary: string[]): ResponseReasoningItem {
  return {
    type: 'reasoning',
    id: `rs_${n}`,
    summary: summary.map((text) => ({ type: 'summary_text', text })),
    encrypted_content: `secret ${n}`,
  }
}
