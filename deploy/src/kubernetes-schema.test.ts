import { expect, test } from 'vitest'
import { problemsOf } from './kubernetes-schema.ts'

const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'gateway', labels: { any: 'label' } } }

test('a right object has no problem', async () => {
  expect(await problemsOf({ ...service, spec: { selector: { any: 'label' }, ports: [{ port: 8080 }] } })).toEqual([])
})

test('reports a wrong type, a missing field and a misspelled field', async () => {
  expect(await problemsOf({ ...service, spec: { ports: [{ port: 'eighty' }] } })).toEqual([
    expect.stringMatching(/^Service gateway: .*port/),
  ])
  expect(await problemsOf({ ...service, spec: { ports: [{ name: 'http' }] } })).toEqual([
    expect.stringMatching(/^Service gateway: .*port/),
  ])
  expect(await problemsOf({ ...service, spec: { ports: [{ port: 80, targetPrt: 1 }] } })).toEqual([
    'Service gateway: /spec/ports/0/targetPrt is not a field that Kubernetes knows',
  ])
})

test('reports an object of an unknown kind', async () => {
  expect(await problemsOf({ ...service, kind: 'Servise' })).toEqual([
    'Servise gateway: there is no schema of v1 Servise',
  ])
})
