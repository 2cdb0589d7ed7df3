import { expect, test } from 'vitest'
import { addressOfCode, commandLineView } from './command-line-view.ts'

const [challenge, state] = ['c'.repeat(43), 's'.repeat(43)]

test('commandLineView reads the request of the command line from the URL', () => {
  const asked = { challenge, name: 'gateway on laptop', port: 50_123, state }
  expect(commandLineView(asked)).toEqual(asked)
  expect(commandLineView({ challenge, name: 'gateway on laptop' })).toEqual({ challenge, name: 'gateway on laptop' })
  expect(commandLineView({ done: true })).toEqual({ done: true })
})

test.for([
  [{ challenge: `${challenge}x` }, {}],
  [{ challenge: 5 }, {}],
  [{ done: 'yes' }, {}],
  [{ challenge, port: 80 }, { challenge }],
  [{ challenge, port: '80@evil.example', state }, { challenge }],
  [{ challenge, port: 1.5, state }, { challenge }],
  [{ challenge, port: 65_536, state }, { challenge }],
  [{ challenge, port: 80, state: '"><script>' }, { challenge }],
] as const)('commandLineView drops the invalid parameters of %j', ([search, read]) => {
  expect(commandLineView(search)).toEqual(read)
})

test('addressOfCode sends a code to the loopback address only, and returns null without a port', () => {
  const address = addressOfCode({ challenge, port: 50_123, state }, 'a-code')
  expect(address).toBe(`http://127.0.0.1:50123/?code=a-code&state=${state}`)
  expect(addressOfCode({ challenge }, 'a-code')).toBeNull()
})
