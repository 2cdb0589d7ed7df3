import { expect, test } from 'vitest'
import { contentParts } from './content-parts.ts'

const content = {
  invocation: 'inv_1',
  capturedAt: '',
  deletedAt: '',
  failure: null,
  isCut: false,
}

test('shows messages as texts, parameters and tool calls as JSON, and leaves empty ones out', () => {
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,(left out)' } }
  const parts = contentParts({
    ...content,
    request: {
      messages: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'text', text: 'What is this?' }, image] },
      ],
      temperature: 0,
    },
    answer: [{ role: 'assistant', content: '', reasoning: 'Hm.', tool_calls: [{ id: 'c1' }] }],
  })
  expect(parts).toEqual([
    { who: 'System', text: 'Be brief.', isCode: false },
    { who: 'User', text: `What is this?\n\n${JSON.stringify(image, null, 2)}`, isCode: false },
    { who: 'Parameters', text: '{\n  "temperature": 0\n}', isCode: true },
    { who: 'Answer: Model, reasoning', text: 'Hm.', isCode: false },
    { who: 'Answer: Model, tool calls', text: '[\n  {\n    "id": "c1"\n  }\n]', isCode: true },
  ])
  expect(contentParts({ ...content, request: { messages: [] }, answer: null })).toEqual([])
})
