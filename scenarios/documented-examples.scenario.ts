import { describe, expect } from 'vitest'
import { wrongWith } from './src/examples/documented-answer.ts'
import { formsOf, operations } from '@gateway/testbed/example-request'
import { openExampleProject } from './src/examples/example-project.ts'
import { preparations } from './src/examples/preparations.ts'
import { stackTest } from './src/stack-test.ts'

// Runs the documented example of every operation in docs/openapi.json.
//   E1  The request is the documented example with real IDs in place of the example IDs.
//   E2  The response has a documented success status and matches the schema of that status.
//   E3  The documented response matches the same schema and has the same keys as the real response.

const test = stackTest.extend('given', { scope: 'file' }, ({ stack }) => openExampleProject(stack))

/** Operations not run here, each with the reason. */
const elsewhere: Record<string, string> = {
  'GET /api/v2/session/oidc': 'needs a sign-in provider: services/console/src/sign-in/provider/provider.live.test.ts',
  'GET /api/v2/session/oidc/callback': 'the same',
  'POST /api/v2/invitations/sign-in': 'the same',
  'POST /api/v2/session/reset': 'needs a mail server: services/console/src/mail/mail.live.test.ts',
}

test('every prepared or skipped operation is documented', () => {
  const names = operations.map(({ name }) => name)
  expect([...Object.keys(elsewhere), ...Object.keys(preparations)].filter((name) => !names.includes(name))).toEqual([])
})

describe.for(operations.filter(({ name }) => !(name in elsewhere)))('$name', (operation) => {
  const forms = formsOf(operation)
  for (const form of forms.length > 0 ? forms : [undefined]) {
    test(`returns its documented example${form ? ` as ${form}` : ''}`, async ({ given }) => {
      const own = (await preparations[operation.name]?.(given)) ?? {}
      const answer = await given.send(operation.name, { ...own, ...(form && { form }) }) // E1
      const content = operation.successes[answer.status]
      expect([answer.status, content ? '' : answer.text]).toEqual([answer.status, '']) // E2
      if (form === undefined) return expect(answer.text).toBe('')
      const [type = ''] = answer.headers.get('content-type')?.split(';') ?? []
      expect(Object.keys(content!)).toContain(type)
      const made = new Set(Object.values(given.names))
      if (!/^(image|application\/pdf)/.test(form))
        expect(wrongWith(type, content![type]!, answer.text, made)).toEqual([]) // E2, E3
    })
  }
})
