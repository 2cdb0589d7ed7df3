import { describe, expect } from 'vitest'
import { wrongWith } from './src/examples/documented-answer.ts'
import { formsOf, operations } from './src/examples/documented-operation.ts'
import { openExampleProject } from './src/examples/example-project.ts'
import { preparations } from './src/examples/preparations.ts'
import { stackTest } from './src/stack-test.ts'

// Every operation of docs/openapi.json is executed as its example says, and answers as its example does.
//   E1  The request is the documented example, with one's own ids in place of those that it shows.
//   E2  The answer has a documented status of success and fits the schema of that status.
//   E3  The documented answer fits the same schema, and has the keys of the real one.

const test = stackTest.extend('given', { scope: 'file' }, ({ stack }) => openExampleProject(stack))

/** Not executed here, each for a reason. */
const elsewhere: Record<string, string> = {
  'GET /api/v2/session/oidc': 'needs a sign-in provider: services/console/src/sign-in/provider/provider.live.test.ts',
  'GET /api/v2/session/oidc/callback': 'the same',
}

test('what is prepared, or not executed, is documented', () => {
  const names = operations.map(({ name }) => name)
  expect([...Object.keys(elsewhere), ...Object.keys(preparations)].filter((name) => !names.includes(name))).toEqual([])
})

describe.for(operations.filter(({ name }) => !(name in elsewhere)))('$name', (operation) => {
  const forms = formsOf(operation)
  for (const form of forms.length > 0 ? forms : [undefined]) {
    test(`answers its example${form ? ` as ${form}` : ''}`, async ({ given }) => {
      const own = (await preparations[operation.name]?.(given)) ?? {}
      const answer = await given.send(operation.name, { ...own, ...(form && { form }) }) // E1
      const content = operation.successes[answer.status]
      expect([answer.status, content ? '' : answer.text]).toEqual([answer.status, '']) // E2
      if (form === undefined) return expect(answer.text).toBe('')
      const [type = ''] = answer.headers.get('content-type')?.split(';') ?? []
      expect(Object.keys(content!)).toContain(type)
      const made = new Set(Object.values(given.names))
      if (!form.startsWith('image/')) expect(wrongWith(type, content![type]!, answer.text, made)).toEqual([]) // E2, E3
    })
  }
})
