import { QueryObserver, type QueryClient } from '@tanstack/react-query'
import { expect, test } from 'vitest'
import { openQueryClient } from './query-client.ts'
import { keepAnswer, readAgain } from './read-again.ts'

const queryKey = ['project']

/** A read that is shown, and answers when the test says so. */
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

test('a first read that began before a change is not taken for what is kept after it', async () => {
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

test('a later read that began before a change is not, either', async () => {
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

test('a read that nothing shows, and another part waits for, continues', async () => {
  const client = openQueryClient()
  const read = Promise.withResolvers<string>()
  const fetched = client.fetchQuery({ queryKey, queryFn: () => read.promise })
  await readAgain(client)
  read.resolve('there')
  expect(await fetched).toBe('there')
})

test('the answer to a change is not written over by a read that began before it', async () => {
  const client = openQueryClient()
  client.setQueryData(queryKey, 'long before')
  const { reads, data } = shown(client)
  await expect.poll(() => reads.length).toBe(1)
  await keepAnswer(client, { queryKey }, 'after')
  reads[0]!.resolve('before')
  await expect.poll(() => client.isFetching()).toBe(0)
  expect(data()).toBe('after')
})
