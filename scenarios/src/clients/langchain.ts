import { HumanMessage, ToolMessage, type AIMessage, type AIMessageChunk } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { CITY_SCHEMA, WEATHER, type CallOptions, type Spoken, type StockClient } from './stock-client.ts'

/** LangChain for JavaScript. */
export const langChain: StockClient = {
  name: 'LangChain JS',
  at({ baseUrl, key, model }) {
    const open = (retries = 0) =>
      new ChatOpenAI({ model, apiKey: key, configuration: { baseURL: baseUrl }, maxRetries: retries })
    return {
      async complete(prompt, options) {
        const answer = await open(options?.retries).invoke([new HumanMessage(prompt)], callOptions(options))
        return { text: answer.text, usage: usageOf(answer) }
      },
      async stream(prompt, options) {
        let whole: AIMessageChunk | null = null
        let pieces = 0
        for await (const piece of await open(options?.retries).stream(
          [new HumanMessage(prompt)],
          callOptions(options),
        )) {
          whole = whole ? whole.concat(piece) : piece
          pieces++
        }
        return { text: whole!.text, pieces, usage: usageOf(whole!) }
      },
      async useTool(prompt, weather) {
        const lookUp = tool(({ city }: { city: string }) => JSON.stringify(weather(city)), {
          name: WEATHER.name,
          description: WEATHER.description,
          schema: WEATHER.parameters,
        })
        const chat = open().bindTools([lookUp])
        const question = new HumanMessage(prompt)
        const wish = await chat.invoke([question])
        const seen: ToolMessage[] = []
        for (const call of wish.tool_calls ?? []) seen.push((await lookUp.invoke(call as never)) as ToolMessage)
        const answer = await chat.invoke([question, wish, ...seen])
        const [first, second] = [usageOf(wish), usageOf(answer)]
        return {
          text: answer.text,
          usage: { prompt: first.prompt + second.prompt, completion: first.completion + second.completion },
        }
      },
      async object(prompt) {
        const chat = open().withStructuredOutput(CITY_SCHEMA, { name: 'city', method: 'jsonSchema', includeRaw: true })
        const { raw, parsed } = await chat.invoke([new HumanMessage(prompt)])
        return { value: parsed, text: raw.text, usage: usageOf(raw as AIMessage) }
      },
      async leaveStream(prompt) {
        const leaving = new AbortController()
        try {
          for await (const _ of await open().stream([new HumanMessage(prompt)], { signal: leaving.signal }))
            leaving.abort()
        } catch (error) {
          if (!leaving.signal.aborted) throw error
        }
      },
    }
  },
}

function callOptions({ idempotencyKey }: CallOptions = {}) {
  return idempotencyKey ? { options: { headers: { 'Idempotency-Key': idempotencyKey } } } : {}
}

function usageOf({ usage_metadata: usage }: AIMessage | AIMessageChunk): Spoken['usage'] {
  return { prompt: usage?.input_tokens ?? 0, completion: usage?.output_tokens ?? 0 }
}
