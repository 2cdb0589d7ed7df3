import { QueryObserver, type QueryClient } from '@tanstack/react-query'
import { expect, test } from 'vitest'
import { openQueryClient } from './query-client.ts'
import { keepAnswer, readAgain } from './queries.ts'

const queryKey = ['project']

/** An observed query whose responses the test controls. */
function shown(client: QueryClient) {
  const reads: PromiseWithResolvers<string>[] = []
  const queryFn = () => {
    const read = Promise.withResolvers<string>()
    reads.push(read)
    return read.promise
  }
  const observer = new QueryObserver(client, { queryKey, queryFn })
  observer.subscribe(() => {})
  return { reads, data: () => observer.getCurrentResult().data }
}

test('a first read that started before a change does not overwrite the data read after it', async () => {
  const client = openQueryClient()
  const { reads, data } = shown(client)
  const again = readAgain(client, { queryKey })
  await expect.poll(() => reads.length).toBe(2)
  reads[1]!.resolve('after')
  await again
  reads[0]!.resolve('before')
  await expect.poll(() => client.isFetching()).toBe(0)
  expect(data()).toBe('after')
})

test('a refetch that started before a change does not overwrite the data read after it', async () => {
  const client = openQueryClient()
  client.setQueryData(queryKey, 'long before')
  const { reads, data } = shown(client)
  await expect.poll(() => reads.length).toBe(1)
  const again = readAgain(client)
  await expect.poll(() => reads.length).toBe(2)
  reads[1]!.resolve('after')
  await again
  reads[0]!.resolve('before')
  await expect.poll(() => client.isFetching()).toBe(0)
  expect(data()).toBe('after')
})

test('readAgain does not cancel a read that no component observes', async () => {
  const client = openQueryClient()
  const read = Promise.withResolvers<string>()
  const fetched = client.fetchQuery({ queryKey, queryFn: () => read.promise })
  await readAgain(client)
  read.resolve('there')
  expect(await fetched).toBe('there')
})

test('a read that started before a change does not overwrite the response to the change', async () => {
  const client = openQueryClient()
  client.setQueryData(queryKey, 'long before')
  const { reads, data } = shown(client)
  await expect.poll(() => reads.length).toBe(1)
  await keepAnswer(client, { queryKey }, 'after')
  reads[0]!.resolve('before')
  await expect.poll(() => client.isFetching()).toBe(0)
  expect(data()).toBe('after')
})
