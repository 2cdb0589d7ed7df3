import { completionShape, refusalAnswer } from '@gateway/api/answer-shapes'
import { assetShape, executionShape, progressShape } from '@gateway/api/execution'
import { describe } from 'vitest'
import { chain, draw, echo, flowTest as test, linesOf, PNG, PROGRESS } from '../flow-stack.fixture.ts'
import { newPrompt } from '../stack.fixture.ts'

describe('responses about executions match their published schemas', () => {
  test('a succeeded execution and its progress', async ({ tenant, flows }) => {
    const sandbox = await flows.save(chain(tenant.model))
    executionShape.parse(await (await flows.invoke(sandbox, { text: newPrompt() })).json())
    const progress = await flows.invoke(sandbox, { text: newPrompt() }, { headers: PROGRESS })
    for (const line of linesOf(await progress.text())) progressShape.parse(line)
  })

  test('a failed execution', async ({ stack, tenant, flows }) => {
    const sandbox = await flows.save(chain(tenant.model, 1))
    const text = newPrompt()
    await stack.provider.control.setFaults([{ prompt: text, status: 500 }])
    executionShape.parse(await (await flows.invoke(sandbox, { text })).json())
  })

  test('an uploaded asset and an asset in the output of an execution', async ({ tenant, flows }) => {
    assetShape.parse(await (await flows.upload(PNG, 'image/png')).json())
    const image = await tenant.sell({ kind: 'image', requestPico: 40_000_000_000n })
    const answer = await flows.invoke(await flows.save(draw(image)), { text: newPrompt() })
    assetShape.parse(executionShape.parse(await answer.json()).output?.['picture'])
  })

  test('a sandbox product called as a model', async ({ tenant, flows }) => {
    completionShape.parse(await (await tenant.chat({ model: await flows.save(echo) })).json())
  })

  test('a refusal', async ({ flows }) => {
    refusalAnswer.parse(await (await flows.invoke('sbx-none', { text: 'Hello' })).json())
  })
})
