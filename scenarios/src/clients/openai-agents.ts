import { Agent, OpenAIProvider, Runner, tool, user } from '@openai/agents'
import OpenAI from 'openai'
import { z } from 'zod'
import { FORECAST, type CallOptions, type StockClient } from './stock-client.ts'

const CITY = z.object({ city: z.string(), population: z.number(), capital: z.boolean() })

/** The OpenAI Agents SDK, whose default is the Responses wire. */
export const openAiAgents: StockClient = {
  name: 'OpenAI Agents SDK',
  at({ baseUrl, key, model }) {
    const runnerOf = ({ idempotencyKey, retries = 0 }: CallOptions = {}) => {
      const headers = idempotencyKey && { defaultHeaders: { 'Idempotency-Key': idempotencyKey } }
      const openAIClient = new OpenAI({ baseURL: baseUrl, apiKey: key, maxRetries: retries, ...headers })
      return new Runner({ modelProvider: new OpenAIProvider({ openAIClient }), tracingDisabled: true })
    }
    const agent = new Agent({ name: 'Assistant', model })
    return {
      async complete(prompt, options) {
        const { finalOutput, state } = await runnerOf(options).run(agent, prompt)
        return { text: finalOutput ?? '', usage: usageOf(state) }
      },
      async stream(prompt, options) {
        const result = await runnerOf(options).run(agent, prompt, { stream: true })
        let pieces = 0
        for await (const _ of result.toTextStream()) pieces++
        await result.completed
        return { text: result.finalOutput ?? '', pieces, usage: usageOf(result.state) }
      },
      async useTool(prompt, forecast) {
        const lookUp = tool({
          name: FORECAST.name,
          description: FORECAST.description,
          parameters: z.object({ city: z.string() }),
          execute: ({ city }) => JSON.stringify(forecast(city)),
        })
        const { finalOutput, state } = await runnerOf().run(agent.clone({ tools: [lookUp] }), prompt)
        return { text: finalOutput ?? '', usage: usageOf(state) }
      },
      async object(prompt) {
        const typed = new Agent({ name: 'Assistant', model, outputType: CITY })
        const { finalOutput, state } = await runnerOf().run(typed, prompt)
        return { value: finalOutput, text: JSON.stringify(finalOutput), usage: usageOf(state) }
      },
      async look(prompt, { png, pdf }) {
        const { finalOutput, state } = await runnerOf().run(agent, [
          user([
            { type: 'input_text', text: prompt },
            { type: 'input_image', image: `data:image/png;base64,${png}` },
            { type: 'input_file', file: `data:application/pdf;base64,${pdf}`, filename: 'a.pdf' },
          ]),
        ])
        return { text: finalOutput ?? '', usage: usageOf(state) }
      },
      async leaveStream(prompt) {
        const leaving = new AbortController()
        const result = await runnerOf().run(agent, prompt, { stream: true, signal: leaving.signal })
        for await (const _ of result.toTextStream()) leaving.abort()
      },
    }
  },
}

function usageOf({ usage }: { usage: { inputTokens: number; outputTokens: number } }) {
  return { prompt: usage.inputTokens, completion: usage.outputTokens }
}
