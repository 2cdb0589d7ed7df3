import type {
  AnswerMessage,
  AnswerUsage,
  Choice,
  Delta,
  FinishReason,
  Logprobs,
  ReasoningDetail,
  ToolCallDelta,
} from '../../chat-answer.ts'
import type { AnswerEnd, AnswerFacts, AnswerWriter } from '../wire.ts'
import { findArgumentsEnd, opaqueOf, type Said, saysSomething } from '../fields.ts'
import { type FlatTool, flatTools, type ResponsesBody } from './responses-body.ts'

// Writes the answer of a model as a response: items of reasoning, text and tool calls.
//   R1  Items are in the order in which the model began them, and each is done before the next one begins, except
//       parallel tool calls. Texts and thoughts that come before the arguments of all calls are complete wait for the
//       first one after that, or for the end. What comes for a call that is done is ignored.
//   R2  Reasoning that a provider needs back is one item per detail, with the detail in `encrypted_content`.
//   R3  The arguments of a custom tool are its one text. They can't be read before they are complete, so they arrive in
//       one delta.
//   R4  `end` changes nothing, because it may be called again with another charge.
//   R5  Some clients notice a failure by `response.failed`, others only by an event `error`.

/** @param body the request: a response repeats its settings */
export function responsesAnswer(facts: AnswerFacts, body: ResponsesBody): AnswerWriter {
  const tools = new Map(flatTools(body).map((tool) => [tool.flatName, tool]))
  const head = JSON.stringify({ id: facts.id, object: 'response', created_at: facts.created }).slice(0, -1)
  const settings = JSON.stringify(settingsOf(facts, body)).slice(1, -1)
  /** A response in JSON. Its settings, which can be long, are written once. */
  const response = (fields: object) => `${head},${JSON.stringify(fields).slice(1, -1)},${settings}}`
  const ids = openIds(facts.id)
  const items: object[] = []
  let sequence = 0
  let finish: FinishReason | null = null

  function event(type: string, json: string, number = sequence++): string {
    return `event: ${type}\ndata: {"type":"${type}","sequence_number":${number},${json}}\n\n`
  }
  const fields = (given: object) => JSON.stringify(given).slice(1, -1)
  const begun = (status: string) => response({ status, ...NOTHING_YET })

  /** The item that is being written, with what closes it. */
  interface OpenItem {
    kind: 'reasoning' | 'text' | 'refusal' | 'call'
    /** Of a tool call, its index among them. */
    call?: number
    close(status: 'completed' | 'incomplete'): string
  }
  let open: OpenItem[] = []

  function begin(): string {
    if (sequence > 0) return ''
    return (
      event('response.created', `"response":${begun('in_progress')}`) +
      event('response.in_progress', `"response":${begun('in_progress')}`)
    )
  }

  function closeAll(status: 'completed' | 'incomplete' = 'completed'): string {
    const closed = open.map((item) => item.close(status)).join('')
    open = []
    return closed
  }

  function addItem(item: object): { at: number; added: string } {
    const at = items.push(item) - 1
    return { at, added: event('response.output_item.added', fields({ output_index: at, item })) }
  }

  function done(at: number, item: object): string {
    items[at] = item
    return event('response.output_item.done', fields({ output_index: at, item }))
  }

  let thought: { say(words: string): string; seal(detail: ReasoningDetail): string } | null = null

  function openThought(): string {
    const id = ids.next('rs')
    const closed = closeAll()
    const { at, added } = addItem({ id, type: 'reasoning', summary: [], status: 'in_progress' })
    const place = { item_id: id, output_index: at, summary_index: 0 }
    let words = ''
    let encrypted: string | null = null
    const close = (status: string) => {
      thought = null
      const part = { type: 'summary_text', text: words }
      const ended =
        words === ''
          ? ''
          : event('response.reasoning_summary_text.done', fields({ ...place, text: words })) +
            event('response.reasoning_summary_part.done', fields({ ...place, part }))
      const summary = words === '' ? [] : [part]
      return ended + done(at, { id, type: 'reasoning', summary, encrypted_content: encrypted, status })
    }
    open = [{ kind: 'reasoning', close }]
    thought = {
      say(more) {
        const first = { ...place, part: { type: 'summary_text', text: '' } }
        const start = words === '' ? event('response.reasoning_summary_part.added', fields(first)) : ''
        words += more
        return start + event('response.reasoning_summary_text.delta', fields({ ...place, delta: more }))
      },
      seal(detail) {
        encrypted = opaqueOf(detail) // R2
        return closeAll()
      },
    }
    return closed + added
  }

  function thinks(words: string): string {
    if (words === '') return ''
    const opened = thought === null ? openThought() : ''
    return opened + thought!.say(words)
  }

  function seals(detail: ReasoningDetail): string {
    const opened = thought === null ? openThought() : ''
    return opened + thought!.seal(detail)
  }

  let said: { id: string; say(words: string, logprobs: object[]): string } | null = null

  function openText(kind: 'text' | 'refusal'): string {
    const id = ids.next('msg')
    const closed = closeAll()
    const message = { id, type: 'message', role: 'assistant' }
    const { at, added } = addItem({ ...message, status: 'in_progress', content: [] })
    const place = { item_id: id, output_index: at, content_index: 0 }
    const name = kind === 'text' ? 'response.output_text' : 'response.refusal'
    const partOf = (text: string, logprobs: object[]) =>
      kind === 'text' ? outputText(text, logprobs) : { type: 'refusal', refusal: text }
    const afterNumber = fields(place)
    let words = ''
    const allLogprobs: object[] = []
    open = [
      {
        kind,
        close(status) {
          said = null
          const part = partOf(words, allLogprobs)
          const ended = kind === 'text' ? { text: words, logprobs: allLogprobs } : { refusal: words }
          return (
            event(`${name}.done`, fields({ ...place, ...ended })) +
            event('response.content_part.done', fields({ ...place, part })) +
            done(at, { ...message, status, content: [part] })
          )
        },
      },
    ]
    said = {
      id: kind,
      say(more, logprobs) {
        words += more
        allLogprobs.push(...logprobs)
        const rest = kind === 'text' ? `,"logprobs":${logprobs.length === 0 ? '[]' : JSON.stringify(logprobs)}` : ''
        return event(`${name}.delta`, `${afterNumber},"delta":${JSON.stringify(more)}${rest}`)
      },
    }
    return closed + added + event('response.content_part.added', fields({ ...place, part: partOf('', []) }))
  }

  function says(kind: 'text' | 'refusal', words: string, logprobs: object[]): string {
    if (words === '') return ''
    const opened = said?.id === kind ? '' : openText(kind)
    return opened + said!.say(words, logprobs)
  }

  /** Calls that are not done. */
  const calls = new Map<number, { add(json: string): string; isWhole(): boolean }>()
  /** R1 */
  const begunCalls = new Set<number>()
  const held: [Said, Logprobs | undefined][] = []

  function openCall({ index, id: callId = '', function: called }: ToolCallDelta): string {
    const { isCustom, ...named } = namesOf(called?.name ?? '', tools)
    const id = ids.next(isCustom ? 'ctc' : 'fc')
    const closed = open.every(({ kind }) => kind === 'call') ? '' : closeAll() // R1
    const item = isCustom
      ? { id, type: 'custom_tool_call', call_id: callId, ...named, input: '' }
      : { id, type: 'function_call', call_id: callId, ...named, arguments: '', status: 'in_progress' }
    const { at, added } = addItem(item)
    const place = { item_id: id, output_index: at }
    let json = ''
    const end = findArgumentsEnd()
    open.push({
      kind: 'call',
      call: index,
      close(status) {
        calls.delete(index)
        if (!isCustom)
          return (
            event('response.function_call_arguments.done', fields({ ...place, name: named.name, arguments: json })) +
            done(at, { ...item, arguments: json, status })
          )
        const input = inputOf(json)
        return (
          event('response.custom_tool_call_input.delta', fields({ ...place, delta: input })) + // R3
          event('response.custom_tool_call_input.done', fields({ ...place, input })) +
          done(at, { ...item, input })
        )
      },
    })
    begunCalls.add(index)
    calls.set(index, {
      isWhole: end.isReached,
      add(more) {
        json += more
        end.add(more)
        if (isCustom || more === '') return ''
        return event('response.function_call_arguments.delta', fields({ ...place, delta: more }))
      },
    })
    return closed + added
  }

  function callsTool(delta: ToolCallDelta): string {
    if (begunCalls.has(delta.index) && !calls.has(delta.index)) return '' // R1
    const opened = calls.has(delta.index) ? '' : openCall(delta)
    return opened + calls.get(delta.index)!.add(delta.function?.arguments ?? '')
  }

  function tells(said: Said, logprobs: Logprobs | undefined): string {
    let events = thinks(said.reasoning_content ?? said.reasoning ?? '')
    for (const detail of said.reasoning_details ?? []) events += seals(detail)
    events += says('text', said.content ?? '', logprobs?.content ?? [])
    return events + says('refusal', said.refusal ?? '', [])
  }

  function takes({ tool_calls: parts = [], ...said }: Delta, logprobs: Logprobs | undefined): string {
    let events = ''
    if (saysSomething(said)) {
      if (isMidCall()) held.push([said, logprobs]) // R1
      else events = tellHeld() + tells(said, logprobs)
    }
    for (const part of parts) events += callsTool(part)
    return events
  }

  function isMidCall(): boolean {
    return [...calls.values()].some((call) => !call.isWhole())
  }

  const tellHeld = () =>
    held
      .splice(0)
      .map((one) => tells(...one))
      .join('')

  function closeRest(status: 'completed' | 'incomplete'): string {
    return closeAll(status) + tellHeld() + closeAll(status)
  }

  return {
    whole([choice], end) {
      const output = choice === undefined ? [] : itemsOf(choice, ids, tools)
      return response(ended(choice?.finish_reason ?? 'stop', output, end, facts.created))
    },
    chunk(choices) {
      let events = begin()
      for (const { delta, logprobs, finish_reason: reason } of choices) {
        events += takes(delta, logprobs)
        if (reason === null || finish !== null) continue
        finish = reason
        events += closeRest(statusOf(reason))
      }
      return events
    },
    end(end) {
      const response1 = response(ended(finish ?? 'stop', items, end, facts.created))
      return event(`response.${statusOf(finish ?? 'stop')}`, `"response":${response1}`, sequence) // R4
    },
    broken(refusal) {
      const started = begin() + closeRest('incomplete')
      const failed = { status: 'failed', ...NOTHING_YET, output: items, error: refusal.body }
      const end = event('response.failed', `"response":${response(failed)}`)
      return started + end + event('error', fields({ error: refusal.body })) // R5
    },
  }
}

const NOTHING_YET = { completed_at: null, error: null, incomplete_details: null, output: [], usage: null }

function ended(finish: FinishReason, output: object[], { usage, chargedMicro, service }: AnswerEnd, created: number) {
  const status = statusOf(finish)
  return {
    status,
    completed_at: status === 'completed' ? created : null,
    error: null,
    incomplete_details:
      status === 'completed' ? null : { reason: finish === 'length' ? 'max_output_tokens' : 'content_filter' },
    output,
    usage: usageOf(usage, chargedMicro),
    ...(service && { service }),
  }
}

function statusOf(finish: FinishReason): 'completed' | 'incomplete' {
  return finish === 'length' || finish === 'content_filter' ? 'incomplete' : 'completed'
}

function usageOf({ promptTokens, completionTokens, details }: AnswerUsage, chargedMicro: number | null) {
  const { cached_tokens: cached = 0, cache_write_tokens: written = 0 } = details?.prompt ?? {}
  return {
    input_tokens: promptTokens,
    input_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
    output_tokens: completionTokens,
    output_tokens_details: { reasoning_tokens: details?.completion?.['reasoning_tokens'] ?? 0 },
    total_tokens: promptTokens + completionTokens,
    ...(chargedMicro !== null && { cost: chargedMicro / 1_000_000, cost_micro: chargedMicro }),
  }
}

/** Settings of the request, as a response repeats them. */
function settingsOf({ model }: AnswerFacts, body: ResponsesBody) {
  return {
    model,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    metadata: body.metadata ?? {},
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    previous_response_id: null,
    reasoning: { effort: body.reasoning?.effort ?? null, summary: null },
    store: false,
    temperature: body.temperature ?? null,
    text: {
      format: body.text?.format ?? { type: 'text' },
      ...(body.text?.verbosity && { verbosity: body.text.verbosity }),
    },
    tool_choice: body.tool_choice ?? 'auto',
    tools: body.tools ?? [],
    top_p: body.top_p ?? null,
    truncation: 'disabled',
    user: null,
  }
}

function outputText(text: string, logprobs: object[]) {
  return { type: 'output_text', annotations: [], logprobs, text }
}

/** R3 */
function inputOf(json: string): string {
  try {
    const { input } = JSON.parse(json) as { input?: unknown }
    if (typeof input === 'string') return input
  } catch {
    // the model wrote no object: its text is passed on as it is
  }
  return json
}

type Tools = ReadonlyMap<string, FlatTool>

/** The names of a tool on this wire. */
function namesOf(flatName: string, tools: Tools): { isCustom: boolean; name: string; namespace?: string } {
  const { tool, namespace } = tools.get(flatName) ?? {}
  return { isCustom: tool?.type === 'custom', name: tool?.name ?? flatName, ...(namespace && { namespace }) }
}

function openIds(invocation: string) {
  const suffix = invocation.replace(/^[a-z]+_/, '')
  let count = 0
  return { next: (prefix: string) => `${prefix}_${suffix}_${count++}` }
}

function itemsOf({ message, logprobs, finish_reason: reason }: Choice, ids: ReturnType<typeof openIds>, tools: Tools) {
  const status = statusOf(reason)
  const text = message.content ?? ''
  const content = [
    ...(text === '' ? [] : [outputText(text, logprobs?.content ?? [])]),
    ...(message.refusal ? [{ type: 'refusal', refusal: message.refusal }] : []),
  ]
  const calls = message.tool_calls ?? []
  return [
    ...thoughtsOf(message).map((thought) => ({
      id: ids.next('rs'),
      type: 'reasoning',
      ...thought,
      status: 'completed',
    })),
    ...(content.length > 0 ? [{ id: ids.next('msg'), type: 'message', role: 'assistant', status, content }] : []),
    ...calls.map(({ id: callId, function: { name, arguments: json } }) => {
      const { isCustom, ...named } = namesOf(name, tools)
      return isCustom
        ? { id: ids.next('ctc'), type: 'custom_tool_call', call_id: callId, ...named, input: inputOf(json) }
        : { id: ids.next('fc'), type: 'function_call', call_id: callId, ...named, arguments: json, status }
    }),
  ]
}

/** R2. Reasoning without a detail is one item; the summary of details without texts is on the first. */
function thoughtsOf(message: AnswerMessage) {
  const words = message.reasoning_content ?? message.reasoning ?? ''
  const details = message.reasoning_details ?? []
  const summaryOf = (text: string) => (text === '' ? [] : [{ type: 'summary_text', text }])
  if (details.length === 0) return words === '' ? [] : [{ summary: summaryOf(words), encrypted_content: null }]
  const texts = details.map((detail) => (detail.type === 'reasoning.text' ? detail.text : ''))
  const untold = texts.every((text) => text === '')
  return details.map((detail, n) => ({
    summary: summaryOf(untold && n === 0 ? words : texts[n]!),
    encrypted_content: opaqueOf(detail),
  }))
}
